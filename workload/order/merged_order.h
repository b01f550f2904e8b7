// The graphs of all ranks as one, with a collective as a node that its members share and a message
// as an edge: an order in which all ranks can go through their communication, or the circle that
// keeps them from it.
//
// Mostly every rank can go through its program op by op, which is tried first and looks at no edge.
// Where that gets stuck the ops are taken in topological order, the lowest in its program first.
// O(communication ops + members) or O((ops + edges) · log ops). Memory while it runs: a bit an op,
// and in the second case 4 bytes an op.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/order/meetings.h"
#include "workload/order/op_matching.h"

namespace astra {

// A rank in a circle: `needed`, which others wait for, comes after `waiting`, which waits for the
// next rank of the circle.
struct CircleStep {
    std::uint32_t rank = 0;
    std::uint32_t needed = kNoOp;
    std::uint32_t waiting = kNoOp;
};

// A collective of a circle: who can come to it, and who cannot.
struct BlockedMeeting {
    Meeting meeting;
    RankOp example;  // a member's op in it
    std::vector<std::uint32_t> came;
    std::vector<std::uint32_t> missing;
};

struct MergedOrder {
    // By rank: its communication ops; nullptr where it is that of the program.
    std::vector<std::unique_ptr<std::vector<std::uint32_t>>> communication;
    std::vector<CircleStep> circle;  // empty if there is an order
    std::vector<BlockedMeeting> blocked;
};

MergedOrder find_order(const OpMatching& matching, bool rendezvous);

}  // namespace astra
