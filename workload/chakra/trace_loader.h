// Reads the traces of a job from files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"
#include "workload/graph/stream_order.h"

namespace astra {

struct TraceSource {
    std::string prefix;               // PREFIX.<rank>.et|.json, each also with .gz or .zst
    std::string group_file;           // "" = none
    std::uint32_t ranks = 0;          // files 0 … ranks-1 must be there
    std::uint64_t element_bytes = 1;  // comm_size counts elements of so many bytes
    std::optional<StreamUse> streams = StreamUse{};  // that traces name; none: they are ignored
};

// The limits of a trace: 2^32-2 nodes and as many dependencies, ids up to 2^63, sizes up to 2^63
// bytes, durations up to 2^63 ps (106 days), a protobuf record of at most 64 MiB, JSON nested at
// most 64 levels deep. A file must be a regular one; one whose name says JSON is never protobuf.
//
// Throws TraceError and ConfigError before anything is simulated. Files are opened one after the
// other and read as streams. Graphs of equal ranks are shared, also where they differ only in
// absolute peers and in the names of their groups.
Workload load_traces(const TraceSource& options, Warnings& warnings);

}  // namespace astra
