// A collective as thread blocks run it on GPUs: the content of an MSCCL file, and what Chakra's
// custom collectives of the 2026 dialect hold. Readers and writers of both meet here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

enum class StepType : std::uint8_t {
    Nop,
    Send,
    Receive,
    Copy,                   // dst = src
    Reduce,                 // dst = dst + src
    ReceiveReduceCopy,      // dst = src + what comes
    ReceiveCopySend,        // dst = what comes, sent on
    ReceiveReduceSend,      // src + what comes, sent on and not kept
    ReceiveReduceCopySend,  // dst = src + what comes, sent on
};
inline constexpr std::size_t kStepTypes = 9;

// "s", "rrcs" … as MSCCL spells them.
std::string_view spelling_of(StepType type);
std::optional<StepType> step_type_of(std::string_view spelling);
bool sends(StepType type);
bool receives(StepType type);
bool reduces(StepType type);
bool reads_source(StepType type);
bool writes_destination(StepType type);

// Offsets and counts are in chunks. What a step does not use is 0 and 'i'.
struct ThreadBlockStep {
    StepType type = StepType::Nop;
    char source = 'i';  // buffer: i input, o output, s scratch
    char destination = 'i';
    std::uint32_t source_offset = 0;
    std::uint32_t destination_offset = 0;
    std::uint32_t count = 0;
    // The id of a thread block of the same GPU and a step of it.
    std::optional<ThreadBlocks::Wait> wait;
    std::uint64_t line = 0;  // of the file, or a node's id; 0 = unknown; not part of the content

    bool operator==(const ThreadBlockStep& other) const;
};

struct ThreadBlock {
    std::uint32_t id = 0;
    std::optional<std::uint32_t> send;  // peers; none where no step needs one
    std::optional<std::uint32_t> receive;
    std::uint32_t channel = 0;           // 0 where there is no peer
    std::vector<ThreadBlockStep> steps;  // one at least
    bool operator==(const ThreadBlock&) const = default;
};

struct ThreadBlockGpu {
    std::uint32_t input_chunks = 0;
    std::uint32_t output_chunks = 0;
    std::uint32_t scratch_chunks = 0;
    std::vector<ThreadBlock> blocks;
    bool operator==(const ThreadBlockGpu&) const = default;
};

struct ThreadBlockAlgorithm {
    std::string file;  // for messages; not part of the content
    std::string name;
    std::string protocol;                // "Simple", "LL" …: nothing depends on it
    std::optional<CollectiveKind> kind;  // none: "custom"
    std::uint32_t chunks = 1;            // of the collective's whole buffer
    bool in_place = true;
    std::uint32_t root = 0;  // of a kind with a root
    std::vector<ThreadBlockGpu> gpus;

    bool operator==(const ThreadBlockAlgorithm& other) const;
};

// The name that MSCCL gives a kind, "custom" for none; and back. Chakra files use the same.
std::string_view collective_name(std::optional<CollectiveKind> kind);
// With or without '_' between its words. False for an unknown name.
bool parse_collective_name(std::string_view name, std::optional<CollectiveKind>& kind);
std::vector<std::string> collective_file_names();

// Throws TraceError "file:line: gpu 3, thread block 2, step 1: what" where a peer, a buffer, an
// offset or a dependency is not there, and InputError of ThreadBlockBuilder::finish for sends and
// receives that have no counterpart. What comes out is not proved.
Program program_of(const ThreadBlockAlgorithm& algorithm);

}  // namespace astra
