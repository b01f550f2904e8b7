// Progressive filling (see max_min.h) of the part of an allocation that changes can reach.
//
// Words. A flow is *free* while the fill has not set its rate. A constraint *binds* the flows whose
// bottleneck it is. To *release* a constraint frees the flows that it binds. A constraint is
// *reached* if it lost or gained a flow, changed its capacity, or has a flow that was freed.
//
//   1. Every reached constraint that binds flows is released, which reaches others, until nothing
//      changes. The new flows are free. A cap keeps its level and so its flows.
//   2. The free flows are filled; all others stay fixed at the rates that they have. When a
//      constraint c is about to become full at level L while a fixed flow on it is faster than L,
//      or so close below that it counts (see estimate), the bottleneck of that flow is released as
//      in 1, and the fill goes on from where it is.
//
// Why this is the filling of everything. For rates r let full_c(r) be the least level L with
//     C_c - sum of w·r over r < L  <  (L + 1) · sum of w over r >= L,
// and for a cap its level. Filling ends at rates with (a) r_f <= full_c(r) for all c of f, and
// (b) equality for one of them. No other rates have both: let m be the least rate. By (b) its flow
// has a c with C_c < (m + 1)·W_c, where W_c is all the weight on c. If L is the first level of the
// filling at which a constraint d becomes full, C_d < (L + 1)·W_d, and L <= m as c is full at m.
// So full_d(r) <= L, by (a) all flows on d have rates <= L <= m, therefore L = m and they all have
// rate m. As by (b) every flow of rate m has such a constraint, the flows of rate m are those that
// the filling fixes first. Without them and their share of the capacities the same holds again.
//
// The fill of the free flows has (a) and (b) on its own constraints. With the fixed flows:
//   - a fixed flow keeps an bottleneck that was not reached, on which no rate has changed, or a
//   cap: (b).
//     On a reached constraint that has become full at L it is not faster than L: (a).
//   - fixed flows slower than L by more than step 2 tells leave full_c where the fill of the free
//     flows has it: (a) and (b) for the free flows.
// What is released during the fill comes in time. It ran above every level fixed so far. A
// constraint that is full by then has none of its flows, as it would have released them itself; and
// what its flows touch runs at their rate or faster.
//
// A key is a lower bound of the level at which its constraint becomes full: fixing flows at or
// below it only raises it, so that it is enough to look again when it comes first. A release may
// lower levels (not below the released rate): then all keys are built anew.
//
// After flows have only left, most levels are close to what they were, and far above the first
// bound: a key starts a little below the old level instead. When its constraint comes first and
// might have been full before (comes_late), which is rare, the fill starts again with true bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "network/backend/flow/allocation.h"
#include "network/backend/flow/level_heap.h"

namespace astra {

class Filling {
  public:
    static constexpr std::uint64_t kMaxRate = std::uint64_t{1} << 53;  // of a flow, bit/s

    // The allocation outlives it.
    explicit Filling(Allocation& allocation) : allocation_(allocation) {}

    // As often as Allocation::add_constraint.
    void add_constraint();

    // A solve: begin, then all changes in this order of kinds, then run.
    // `only_left`: no flow comes and no capacity changes.
    void begin(std::uint64_t now_ps, bool only_left);
    void lost_flow(std::uint32_t constraint) { reach(constraint); }
    void resized(std::uint32_t constraint);
    void add_flow(std::uint32_t flow);
    // The constraints whose level, load or flows may have changed. Valid until the next solve.
    std::span<const std::uint32_t> run();

    // How many times a solve has looked at a flow, all solves together.
    std::uint64_t visited_flows() const { return visited_; }

  private:
    enum class Phase : std::uint8_t { Reached, Released, Full };
    // A constraint during a solve. Fields of another solve are void.
    struct alignas(32) Fill {
        double residual = 0;  // capacity less what the fixed flows take
        double weight = 0;    // of the free flows; exact, so zero if there are none
        double last = 0;      // the greatest rate of a flow of `others` fixed by this solve
        std::uint32_t solve = 0;
    };
    struct Estimate {
        double level = 0;  // at which it may become full
        bool sure = true;  // that no fixed flow has to be freed first
    };

    Fill& reach(std::uint32_t constraint);
    bool is_free(Allocation::Other other) const;
    void release(std::uint32_t constraint);
    void release_bottlenecks(std::uint32_t constraint);
    void release_reached();
    bool release_faster(std::uint32_t constraint, double least);
    Estimate estimate(std::uint32_t constraint) const;
    void build_keys();
    void discard_batch();
    double hint(std::uint32_t constraint) const;
    bool comes_late(std::uint32_t constraint) const;
    void start_again();
    bool gather();
    void fill();
    void fix(std::uint32_t constraint, double level);
    void take_over(std::uint32_t constraint, double level);

    Allocation& allocation_;
    std::vector<Fill> fills_;    // by constraint
    std::vector<Phase> phases_;  // by constraint
    std::vector<std::uint8_t> in_batch_;
    std::vector<std::uint32_t> reached_;  // constraints of this solve
    std::size_t released_ = 0;            // how many of them have been looked at
    LevelHeap keys_;
    std::vector<std::uint32_t> batch_;  // constraints that become full together
    bool hinted_ = false;               // keys of this solve may be too high
    std::uint32_t solve_ = 0;
    std::uint64_t now_ps_ = 0;
    std::uint64_t visited_ = 0;
    double filled_ = 0;  // the last level at which flows were fixed
};

}  // namespace astra
