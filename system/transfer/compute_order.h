// In which order a rank computes what is ready: what a transfer policy may decide beside transfers.
// A policy that has an order defines a function of this kind in its source and returns it from
// TransferPolicy::compute_order().
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace astra {

// Ops of one rank, numbered from 0 in the order of the trace, and what depends on them. Iterations
// are counted from 0; edges lead also from one to the next.
struct ComputeGraph {
    static constexpr std::uint32_t kNone = 0xffffffffU;

    struct Transfer {
        std::uint32_t op = 0;
        // From when its gradient is ready to when its parameter is read, less what it costs; may be
        // negative; kNoSlack: nothing is known of it.
        std::int64_t slack_ps = 0;
    };
    static constexpr std::int64_t kNoSlack = std::numeric_limits<std::int64_t>::max();

    // The ops that depend on `op`.
    std::span<const std::uint32_t> children(std::uint32_t op) const {
        return child.subspan(child_begin[op], child_begin[op + 1] - child_begin[op]);
    }
    std::uint32_t size() const { return static_cast<std::uint32_t>(iteration.size()); }

    std::span<const std::uint32_t> child_begin;  // by op, and the end
    std::span<const std::uint32_t> child;
    std::span<const std::uint32_t> sorted;     // every op after those that it depends on
    std::span<const std::uint32_t> iteration;  // by op
    std::span<const std::uint8_t> follows;     // by op: 1 for a transfer, or after one in its
                                               // iteration, as updates are
    std::vector<Transfer> transfers;
    // For each op that follows: the first op of the next iteration that reads what it leads to;
    // kNone for other ops, and where no reader is known.
    std::vector<std::uint32_t> first_reader;
};

// Gives each op its rank, a permutation: of two ready ops of an iteration the one of the lower rank
// runs first; ops that follow from transfers count to the next iteration. Whoever runs ready ops in
// that order keeps all dependencies. The trace's order stays where iterations are expected to
// become longer.
using ComputeOrder = std::vector<std::uint32_t> (*)(const ComputeGraph& graph);

}  // namespace astra
