// Collective programs in files that users bring: what a study's `{file: …}` names. MSCCL XML, or
// the prefix of Chakra files, one a position.
//
// A program that says which data it moves is proved as it is read (verifier.h); of one that does
// not, as of Chakra's dialect of 2024, it is shown that messages pair and that it cannot deadlock.
#pragma once

#include <memory>
#include <string>

#include "system/program/program_source.h"
#include "workload/custom_collective/thread_block_algorithm.h"

namespace astra {

class ProgramFiles final : public ProgramReader {
  public:
    // Reads `file`, and `bytes`: for how many bytes the messages of Chakra's dialect of 2024 were
    // made.
    std::unique_ptr<const ProgramSource> open(const ConfigView& entry) const override;
};

// An MSCCL file. Throws TraceError.
ThreadBlockAlgorithm read_thread_block_algorithm(const std::string& file);

}  // namespace astra
