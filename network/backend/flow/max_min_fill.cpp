// Progressive filling of the part that the changes can reach.
//
// Words. A flow is *free* while the fill has not set its rate. A constraint *owns* the flows whose
// bottleneck it is. To *release* a constraint frees the flows that it owns. A constraint is
// *reached* if it lost or gained a flow, changed its capacity, or has a flow that was freed.
//
//   1. Every reached constraint that owns flows is released, which reaches others, until nothing
//      changes. The new flows are free. A cap keeps its level and so its flows.
//   2. The free flows are filled; all others stay fixed at the rates that they have. When a
//      constraint c is about to become full at level L while a fixed flow on it is faster than L,
//      or so close below that it counts (see estimate), the owner of that flow is released as in
//      1, and the fill goes on from where it is.
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
//   - a fixed flow keeps an owner that was not reached, on which no rate has changed, or a cap:
//   (b).
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
#include <algorithm>

#include "astra/core/check.h"
#include "network/backend/flow/max_min.h"

namespace astra {

void MaxMin::solve(SimTime now) {
    ASTRA_CHECK(now.ps >= now_ps_, "time does not go back");
    now_ps_ = now.ps;
    hinted_ = pending_.empty() && resized_.empty();
    begin_solve();
    release_reached();
    fill();
    finish_solve();
}

void MaxMin::begin_solve() {
    if (++solve_ == 0) {
        for (Fill& fill : fills_) {
            fill.solve = 0;
        }
        solve_ = 1;
    }
    reached_.clear();
    released_ = 0;
    filled_ = 0;
    for (const std::uint32_t constraint : changed_) {
        reach(constraint);
    }
    for (const std::uint32_t constraint : resized_) {
        if (fills_[constraint].solve != solve_ || phases_[constraint] == Phase::Reached) {
            reach(constraint);
            release(constraint);
        }
        release_owners(constraint);
    }
    for (const std::uint32_t flow : pending_) {
        for (const Crossing& crossing : crossings_of(flows_[flow])) {
            Fill& fill = reach(crossing.constraint);
            fill.weight += crossing.weight;
        }
    }
    visited_ += pending_.size();
    changed_.clear();
    resized_.clear();
    pending_.clear();
}

MaxMin::Fill& MaxMin::reach(std::uint32_t constraint) {
    Fill& fill = fills_[constraint];
    if (fill.solve != solve_) {
        fill = {};
        fill.solve = solve_;
        fill.residual = constraints_[constraint].capacity - constraints_[constraint].load;
        phases_[constraint] = Phase::Reached;
        reached_.push_back(constraint);
    }
    return fill;
}

inline bool MaxMin::is_free(Other other) const {
    return other.owner == kNone ||
           (phases_[other.owner] == Phase::Released && fills_[other.owner].solve == solve_);
}

// Frees the flows that a reached constraint owns.
void MaxMin::release(std::uint32_t constraint) {
    Constraint& c = constraints_[constraint];
    ASTRA_CHECK(phases_[constraint] == Phase::Reached, "released once");
    phases_[constraint] = Phase::Released;
    const double level = levels_[constraint];
    c.served = served(c, level, now_ps_);
    c.served_at_ps = now_ps_;
    const auto count = static_cast<std::uint32_t>(c.own.size());
    Fill& fill = fills_[constraint];
    fill.residual += level * c.own_weight;
    fill.weight += c.own_weight;
    visited_ += count;
    Fill* const fills = fills_.data();
    const std::uint32_t* const links = c.links.data();
    const std::uint32_t solve = solve_;
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t link = links[k];
        if (link != kNone) {
            Fill& other = fills[link];
            if (other.solve != solve) [[unlikely]] {
                reach(link);
            }
            other.residual += level;
            other.weight += 1;
            continue;
        }
        for (const Crossing& crossing : crossings_of(flows_[c.own[k]])) {
            if (crossing.constraint != constraint) {
                Fill& other = reach(crossing.constraint);
                other.residual += level * crossing.weight;
                other.weight += crossing.weight;
            }
        }
    }
}

void MaxMin::release_owners(std::uint32_t constraint) {
    for (const auto [flow, owner] : constraints_[constraint].others) {
        if (owner != kNone) {
            reach(owner);
            if (phases_[owner] == Phase::Reached) {
                release(owner);
            }
        }
    }
}

void MaxMin::release_reached() {
    for (; released_ < reached_.size(); ++released_) {
        const std::uint32_t constraint = reached_[released_];
        const Constraint& c = constraints_[constraint];
        if (phases_[constraint] == Phase::Reached && !c.is_cap && !c.own.empty()) {
            release(constraint);
        }
    }
}

// Releases the owners of the fixed flows at `least` or faster, of those above the last level fixed;
// else learns the greatest rate of a flow that this solve has not freed.
bool MaxMin::release_faster(std::uint32_t constraint, double least) {
    double fastest = 0;
    bool any = false;
    visited_ += constraints_[constraint].others.size();
    for (const Other other : constraints_[constraint].others) {
        if (is_free(other)) {
            continue;
        }
        const std::uint32_t owner = other.owner;
        if (levels_[owner] >= least && levels_[owner] > filled_) {
            reach(owner);
            release(owner);
            any = true;
        } else {
            fastest = std::max(fastest, levels_[owner]);
        }
    }
    constraints_[constraint].other_max = fastest;
    return any;
}

void MaxMin::fill() {
    build_keys();
    while (gather()) {
        for (const std::uint32_t constraint : batch_) {
            fix(constraint, filled_);
        }
        discard_batch();
    }
}

// Fixes the free flows of a constraint that is full, but for those that another one of the batch
// owns and so fixes.
void MaxMin::fix(std::uint32_t constraint, double level) {
    Constraint& c = constraints_[constraint];
    Fill& fill = fills_[constraint];
    levels_[constraint] = level;
    if (phases_[constraint] == Phase::Released) {
        const auto count = static_cast<std::uint32_t>(c.own.size());
        fill.residual -= level * c.own_weight;
        fill.weight -= c.own_weight;
        visited_ += count;
        Fill* const fills = fills_.data();
        const std::uint32_t* const links = c.links.data();
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t link = links[k];
            if (link != kNone) {
                Fill& other = fills[link];
                other.residual -= level;
                other.weight -= 1;
                other.last = level;
                continue;
            }
            for (const Crossing& crossing : crossings_of(flows_[c.own[k]])) {
                if (crossing.constraint != constraint) {
                    Fill& other = fills_[crossing.constraint];
                    other.residual -= level * crossing.weight;
                    other.weight -= crossing.weight;
                    other.last = level;
                }
            }
        }
    } else {
        c.served = served(c, level, now_ps_);
        c.served_at_ps = now_ps_;
    }
    phases_[constraint] = Phase::Full;
    if (fill.weight > 0) {
        take_over(constraint, level);
    }
}

// Fixes the free flows that had another owner, or none.
void MaxMin::take_over(std::uint32_t constraint, double level) {
    Constraint& c = constraints_[constraint];
    visited_ += c.others.size();
    for (std::uint32_t k = 0; k < c.others.size();) {
        const auto [id, former] = c.others[k];
        if (!is_free(c.others[k]) || (former != kNone && in_batch_[former] != 0)) {
            ++k;
            continue;
        }
        Flow& flow = flows_[id];
        Work left = flow.target;
        if (former != kNone) {
            const Work done = constraints_[former].served;
            left = left > done ? left - done : 0;
        }
        double weight = 0;
        for (Crossing& crossing : crossings_of(flow)) {
            Fill& fill = fills_[crossing.constraint];
            fill.residual -= level * crossing.weight;
            fill.weight -= crossing.weight;
            if (crossing.constraint == constraint) {
                weight = crossing.weight;
                leave_others(crossing);
                continue;
            }
            fill.last = level;
            if (crossing.constraint == former) {
                leave_own(id, crossing.weight);
                join_others(id, crossing);
            }
            constraints_[crossing.constraint].others[crossing.position].owner = constraint;
        }
        flow.target = c.served + left;
        join_own(id, constraint, weight);
    }
}

void MaxMin::finish_solve() {
    rekeyed_.clear();
    for (const std::uint32_t constraint : reached_) {
        Constraint& c = constraints_[constraint];
        const Fill& fill = fills_[constraint];
        ASTRA_CHECK(fill.weight == 0, "a flow without a rate");
        c.load = c.own.empty() && c.others.empty() ? 0 : c.capacity - fill.residual;
        c.other_max = std::max(c.other_max, fill.last);
        rekeyed_.push_back({completion_ps(constraint), constraint});
    }
    completions_.update(rekeyed_);
}

}  // namespace astra
