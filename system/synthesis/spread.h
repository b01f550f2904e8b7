// An all_gather by greedy matching on the time-expanded network: whenever a link becomes free, a
// block is found that the member at its start has and the one at its end lacks (Won et al., "TACOS:
// Topology-aware collective algorithm synthesizer for distributed machine learning", MICRO 2024,
// section IV). What a path occupies is what the backend congestion_aware makes of a message: each
// link in turn for the time of a block, after the latency of the one before.
#pragma once

#include <cstdint>
#include <vector>

#include "system/synthesis/group_graph.h"

namespace astra {

struct SpreadSettings {
    std::uint32_t blocks_a_member = 1;
    Bytes block;             // its size
    Duration handling;       // from the arrival of a block until it can be sent on
    std::uint64_t seed = 1;  // of the choice among blocks
};

// A block that goes from a member to another: k·member to k·member + k-1 are those that a member
// has at the start, with k blocks a member.
struct Transfer {
    std::uint64_t start_ps = 0;  // planned; below what 64 bits hold, whatever the sizes
    std::uint64_t end_ps = 0;    // arrived
    std::uint64_t ready_ps = 0;  // handled: can be sent on
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t block = 0;
    bool reduce = false;  // the receiver adds it to what it has
    bool operator==(const Transfer&) const = default;
};

// In the order of their start. Every member gets every block once; no link carries two at a time,
// and none has to wait for a link of its path. Requires that the graph is connected.
//
// A link prefers blocks that few members have or are getting, out of a random sample. Fast links
// choose first. Time: transfers · (blocks / 64 + edges that share a first link), as a rule far
// less; memory: 2 · members · blocks bits, and the transfers.
std::vector<Transfer> spread(const GroupGraph& graph, const SpreadSettings& settings);

}  // namespace astra
