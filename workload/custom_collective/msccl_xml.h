// Reads and writes MSCCL's XML files.
#pragma once

#include <string>

#include "workload/chakra/byte_source.h"
#include "workload/custom_collective/thread_block_algorithm.h"

namespace astra {

// Whether the data starts as XML does.
bool looks_like_xml(ByteSource& source);

// Memory grows with the steps of the file only: document types (and with them entities), tags
// beyond a MiB, and counts beyond what a program can be are refused. Throws TraceError
// "file:line: what".
ThreadBlockAlgorithm read_msccl(ByteSource& source);

std::string msccl_text(const ThreadBlockAlgorithm& algorithm);

}  // namespace astra
