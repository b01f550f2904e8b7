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
// result is that of filling everything anew (max_min_fill.cpp has the proof). All sums are whole
// numbers below 2^53 in doubles, exact and so independent of order, if weights are 1; likewise if
// they are multiples of 2^-k and capacities below 2^(53-k). Other weights are rounded to multiples
// of 2^-32, so that they add up exactly, and their products with rates to doubles: such rates are
// within the rounding of those filled anew, and equal from run to run.
//
// Service is exact: see Work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "astra/core/types.h"
#include "network/backend/flow/group_heap.h"

namespace astra {

class MaxMin {
  public:
    enum class ConstraintId : std::uint32_t {};
    enum class FlowId : std::uint32_t {};

    // What a flow has to be served, in 10^-12 bit: whole rates for whole picoseconds make whole
    // numbers. 128 bits suffice: 2^64 ps at 2^53 bit/s serve 2^117, kMostBits are 2^106.
    using Work = unsigned __int128;
    static constexpr std::uint64_t kWorkABit = 1'000'000'000'000;
    static constexpr Work work_of(Bytes size) {
        return static_cast<Work>(size.count) * 8 * kWorkABit;
    }
    static constexpr Work kMostWork = (static_cast<Work>(1) << 66) * kWorkABit;

    static constexpr std::uint64_t kMaxRate = std::uint64_t{1} << 53;
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
    // From the next solve on. Visits all flows on the constraint.
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
    double load(ConstraintId id) const { return constraints_[index_of(id)].load; }
    // The rate of the flows whose bottleneck it is; zero if there are none.
    Bandwidth level(ConstraintId id) const;

    // How many times a solve has looked at a flow, all solves together.
    std::uint64_t visited_flows() const { return visited_; }

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // A flow on a constraint.
    struct Crossing {
        double weight = 0;
        std::uint32_t constraint = 0;
        std::uint32_t position = 0;  // in the constraint's `others`, unless the constraint owns it
    };
    struct Flow {
        Work target = 0;  // the owner's `served` at which it completes; its work if it has no owner
        std::uint64_t sequence = 0;
        std::uint64_t tag = 0;
        std::uint32_t owner = kNone;       // its bottleneck
        std::uint32_t position = 0;        // in the owner's `own`, or in pending_
        std::uint32_t first_crossing = 0;  // in crossings_
        std::uint32_t crossings = 0;       // zero if the id is free
    };
    struct Other {
        std::uint32_t flow = 0;
        std::uint32_t owner = kNone;
    };
    // The flows whose bottleneck it is (`own`) are a heap by (target, sequence). What a fill needs
    // of them is `links`, in the same order: the other constraint of a flow that crosses two with
    // weight 1, or kNone.
    struct Constraint {
        double capacity = 0;  // a cap's level
        double load = 0;
        double weight = 0;      // of all flows on it
        double own_weight = 0;  // of its own
        double other_max = 0;   // no flow of `others` is faster
        bool is_cap = false;
        std::uint64_t served_at_ps = 0;
        Work served = 0;        // to each of its own, up to served_at_ps
        Work first_target = 0;  // of the first of its own
        std::vector<std::uint32_t> own;
        std::vector<std::uint32_t> links;
        std::vector<Other> others;
    };
    enum class Phase : std::uint8_t { Reached, Released, Full };
    // A constraint during a solve. Fields of another solve are void.
    struct alignas(32) Fill {
        double residual = 0;  // capacity less what the fixed flows take
        double weight = 0;    // of the free flows; exact, so zero if there are none
        double last = 0;      // the greatest rate of a flow of `others` fixed by this solve
        std::uint32_t solve = 0;
    };
    struct Key {
        double level = 0;
        std::uint32_t constraint = 0;
    };
    struct Estimate {
        double level = 0;  // at which it may become full
        bool sure = true;  // that no fixed flow has to be freed first
    };

    static std::uint32_t index_of(ConstraintId id) { return static_cast<std::uint32_t>(id); }
    static std::uint32_t index_of(FlowId id) { return static_cast<std::uint32_t>(id); }

    ConstraintId add(Bandwidth capacity, bool is_cap);
    std::span<Crossing> crossings_of(const Flow& flow) {
        return {crossings_.data() + flow.first_crossing, flow.crossings};
    }
    std::uint32_t take_crossings(std::uint32_t count);
    const Flow& live(FlowId id) const;

    Work served(const Constraint& c, double level, std::uint64_t now_ps) const;
    std::uint64_t completion_ps(std::uint32_t constraint) const;

    // The lists of a constraint.
    void join_others(std::uint32_t flow, Crossing& crossing);
    void leave_others(const Crossing& crossing);
    void join_own(std::uint32_t flow, std::uint32_t constraint, double weight);
    void leave_own(std::uint32_t flow, double weight);
    bool completes_before(std::uint32_t a, std::uint32_t b) const;
    void place_own(Constraint& c, std::uint32_t position, std::uint32_t flow, std::uint32_t link);
    void sift_own(Constraint& c, std::uint32_t position, std::uint32_t flow, std::uint32_t link);
    std::uint32_t link_of(const Flow& flow, std::uint32_t owner) const;

    // max_min_fill.cpp
    Fill& reach(std::uint32_t constraint);
    bool is_free(Other other) const;
    void begin_solve();
    void release(std::uint32_t constraint);
    void release_owners(std::uint32_t constraint);
    void release_reached();
    bool release_faster(std::uint32_t constraint, double least);
    Estimate estimate(std::uint32_t constraint) const;
    void build_keys();
    void sift_key(std::size_t position, Key key);
    void replace_first_key(double level);
    void drop_first_key();
    void discard_batch();
    double hint(std::uint32_t constraint) const;
    bool comes_late(std::uint32_t constraint) const;
    void start_again();
    bool gather();
    void fill();
    void fix(std::uint32_t constraint, double level);
    void take_over(std::uint32_t constraint, double level);
    void finish_solve();

    std::vector<Constraint> constraints_;
    std::vector<double> levels_;  // by constraint: the rate of its own
    std::vector<Flow> flows_;
    std::vector<Crossing> crossings_;
    std::vector<std::uint32_t> free_flows_;
    std::vector<std::vector<std::uint32_t>> free_crossings_;  // by count
    std::vector<std::uint32_t> pending_;                      // flows that no solve has seen
    std::vector<std::uint32_t> changed_;                      // constraints that lost a flow
    std::vector<std::uint32_t> resized_;
    std::vector<Completion> completed_;
    std::vector<std::uint32_t> completed_flows_;
    GroupHeap completions_;
    std::uint64_t next_sequence_ = 0;
    std::size_t live_flows_ = 0;
    std::uint64_t visited_ = 0;

    std::vector<Fill> fills_;    // by constraint
    std::vector<Phase> phases_;  // by constraint
    std::vector<std::uint8_t> in_batch_;
    std::vector<std::uint32_t> reached_;  // constraints of this solve
    std::size_t released_ = 0;            // how many of them have been looked at
    std::vector<Key> keys_;               // a heap
    std::vector<std::uint32_t> batch_;    // constraints that become full together
    std::vector<GroupHeap::Entry> rekeyed_;
    bool hinted_ = false;  // keys of this solve may be too high
    std::uint32_t solve_ = 0;
    std::uint64_t now_ps_ = 0;
    double filled_ = 0;  // the last level at which flows were fixed
};

}  // namespace astra
