// Custom collectives as Chakra traces, one file a position of the group: PREFIX.0.et, PREFIX.1.et …
// with SEND, RECV and COMP nodes.
//
// Two dialects. In the one of 2026 a message has msg_chunk_cnt of total_chunk_cnt chunks of the
// buffer and a chunk_offset; a node belongs to a thread block (tb_id). What our own writer adds to
// the nodes (step_type, src_buf, src_off, dst_buf, dst_off) makes the thread blocks whole again; a
// file without, as collectiveapi's converter writes it, is read as chunks of the whole buffer, in
// place, and the steps that it leaves out as `nop`. In the one of 2024 a message has a number
// of bytes (comm_size), and nothing says which.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "system/program/program.h"
#include "workload/custom_collective/thread_block_algorithm.h"

namespace astra {

// Messages whose content is not known.
struct RecordedNode {
    enum class Type : std::uint8_t { Send, Receive, Compute };
    std::uint64_t id = 0;
    Type type = Type::Compute;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    std::uint64_t size = 0;  // bytes, or chunks if RecordedTraffic::chunks is not 0
    std::uint64_t duration_ps = 0;
    std::vector<std::uint64_t> parents;  // ids
};
struct RecordedTraffic {
    std::string file;
    std::uint64_t chunks = 0;  // of the buffer, if known
    std::vector<std::vector<RecordedNode>> members;
};

struct ChakraCollective {
    std::optional<ThreadBlockAlgorithm> blocks;  // one of the two is there
    std::optional<RecordedTraffic> traffic;
};

// As many files as there are without a gap. Throws TraceError.
ChakraCollective read_chakra_collective(const std::string& prefix);

// The bytes of the buffer for which messages were recorded: what every member receives is the least
// that the kind needs. None if they do not receive equally much.
std::optional<std::uint64_t> recorded_bytes(const RecordedTraffic& traffic, CollectiveKind kind);

// For a buffer of `bytes`, or with its own chunks. Throws TraceError on a cycle, on unknown peers,
// and where sizes have no common unit, and InputError for sends and receives that do not pair.
Program program_of(const RecordedTraffic& traffic, std::uint64_t bytes);

// Writes PREFIX.<gpu>.et in the dialect of 2026; returns the number of files. Throws TraceError.
std::uint32_t write_chakra_collective(const ThreadBlockAlgorithm& algorithm,
                                      const std::string& prefix);

}  // namespace astra
