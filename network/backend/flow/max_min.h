// Max-min fair rates of flows that share constraints, and when the flows complete. Knows nothing of
// networks.
//
// The allocation is that of progressive filling (Bertsekas and Gallager, Data Networks, section
// 6.5.2) in whole bits a second. A level rises from 1 in steps of one bit/s; the rate of a flow
// that is still free is the level. At level L every constraint c that cannot give its free flows
// one step more,
//     C_c - sum over fixed flows of w·r  <  (L + 1) · sum over free flows of w,
// is full: its free flows are fixed at L, all such constraints at once. So flows of one level have
// one rate, a constraint is never over its capacity, and what it leaves is less than one bit/s for
// each flow of its level. No rate is below 1 bit/s, even where this exceeds a capacity, nor above
// 2^53 bit/s.
//
// A solve starts from the last allocation and visits only flows that the changes can reach; its
// result is that of filling everything anew (filling.h has the proof). All sums are whole
// numbers below 2^53 in doubles, exact and so independent of order, if weights are 1; likewise if
// they are multiples of 2^-k and capacities below 2^(53-k). Other weights are rounded to multiples
// of 2^-32, so that they add up exactly, and their products with rates to doubles: such rates are
// within the rounding of those filled anew, and equal from run to run.
//
// Service is exact: see Work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "astra/core/types.h"
#include "network/backend/flow/allocation.h"
#include "network/backend/flow/filling.h"
#include "network/backend/flow/group_heap.h"

namespace astra {

class MaxMin {
  public:
    MaxMin() = default;
    ~MaxMin() = default;
    MaxMin(const MaxMin&) = delete;  // its parts refer to each other
    MaxMin& operator=(const MaxMin&) = delete;

    enum class ConstraintId : std::uint32_t {};
    enum class FlowId : std::uint32_t {};

    // What a flow has to be served, in 10^-12 bit: whole rates for whole picoseconds make whole
    // numbers. 128 bits suffice: 2^64 ps at 2^53 bit/s serve 2^117, kMostBits are 2^106.
    using Work = Allocation::Work;
    static constexpr std::uint64_t kWorkABit = 1'000'000'000'000;
    static constexpr Work work_of(Bytes size) {
        return static_cast<Work>(size.count) * 8 * kWorkABit;
    }
    static constexpr Work kMostWork = (static_cast<Work>(1) << 66) * kWorkABit;

    static constexpr std::uint64_t kMaxRate = Filling::kMaxRate;
    static constexpr double kLeastWeight = 1.0 / (1 << 20);
    static constexpr double kMostWeight = 1U << 31;

    // The part of a flow that crosses a constraint; above 1 where the flow stands for several.
    struct Use {
        ConstraintId constraint{};
        double weight = 1.0;  // kLeastWeight ..= kMostWeight
    };
    struct Completion {
        FlowId flow{};  // free already: the next add_flow may return it
        std::uint64_t tag = 0;
    };

    // The flows share the capacity, 1 ..= kMaxRate bit/s.
    ConstraintId add_constraint(Bandwidth capacity);
    // No flow is faster than `level`; nothing is shared. A cap costs least if each flow has its
    // own, as a neighbour that needs to slow a flow of a cap down visits all flows that run at it.
    ConstraintId add_cap(Bandwidth level);
    // Holds from the next solve on. Visits all flows on the constraint.
    void set_capacity(ConstraintId id, Bandwidth capacity);

    // The flow starts with the next solve. Requires a use, and no constraint twice. Cost O(uses).
    FlowId add_flow(std::span<const Use> uses, Work work, std::uint64_t tag);
    // What the flow had left is lost; its rate is free from the next solve on.
    void remove_flow(FlowId flow);

    // Brings the rates up to date with all changes since the last solve. To be called after the
    // changes of an instant; `now` never decreases.
    void solve(SimTime now);

    // When the first flow completes, at the present rates; kMaxPs if none does. Requires that all
    // changes are solved.
    SimTime next_completion() const { return {completions_.next_ps()}; }
    // Takes out all flows that are complete at `now`, in the order in which they were added. Valid
    // until the next call.
    std::span<const Completion> pop_completed(SimTime now);

    // Zero for a flow that no solve has seen yet.
    Bandwidth rate(FlowId flow) const;
    // The full constraint that sets the flow's rate. Requires a solve since the flow was added.
    ConstraintId bottleneck(FlowId flow) const;
    Work remaining(FlowId flow, SimTime now) const;

    std::size_t flows() const { return live_flows_; }
    std::size_t flows_on(ConstraintId id) const;
    // Sum of w·r over its flows as of the last solve, in bit/s.
    double load(ConstraintId id) const { return allocation_.constraint(index_of(id)).load; }
    // The rate of the flows whose bottleneck it is; zero if there are none.
    Bandwidth level(ConstraintId id) const;

    // How many times a solve has looked at a flow, all solves together.
    std::uint64_t visited_flows() const { return filling_.visited_flows(); }

  private:
    static std::uint32_t index_of(ConstraintId id) { return static_cast<std::uint32_t>(id); }
    static std::uint32_t index_of(FlowId id) { return static_cast<std::uint32_t>(id); }

    ConstraintId add(Bandwidth capacity, bool is_cap);
    const Allocation::Flow& live(FlowId id) const;

    Allocation allocation_;
    Filling filling_{allocation_};
    std::vector<std::uint32_t> pending_;  // flows that no solve has seen
    std::vector<std::uint32_t> changed_;  // constraints that lost a flow
    std::vector<std::uint32_t> resized_;
    std::vector<Completion> completed_;
    std::vector<std::uint32_t> completed_flows_;
    GroupHeap completions_;  // of the flows that each constraint binds
    std::vector<GroupHeap::Entry> rekeyed_;
    std::uint64_t next_sequence_ = 0;
    std::size_t live_flows_ = 0;
    std::uint64_t now_ps_ = 0;
};

}  // namespace astra
