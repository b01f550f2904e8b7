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
//   - a fixed flow keeps an owner that was not reached (or is a cap), on which no rate has
//     changed: (b). On a reached constraint that has become full at L it is not faster than L: (a).
//   - on a reached constraint, fixed flows below L by more than step 2 tells leave full_c as the
//     fill of the free flows has it, so that (a) and (b) hold for the free flows.
// What is released during the fill comes in time: it had a rate above every level fixed so far. A
// constraint that is full by then has none of its flows, as it would have released them itself, and
// what they touch is owned at least at their rate. Levels that rise past theirs were not needed.
//
// A key is a lower bound of the level at which its constraint becomes full: fixing flows at or
// below it only raises it, so that it is enough to look again when it comes first. A release may
// lower levels (not below the released rate): then all keys are built anew.
//
// After flows have only left, most levels are close to what they were, and far above the first
// bound: a key starts a little below the old level instead. When its constraint comes first and
// might have been full before (comes_late), which is rare, the fill starts again with true bounds.
#include <algorithm>
#include <cmath>
#include <utility>

#include "astra/core/check.h"
#include "network/backend/flow/max_min.h"

namespace astra {

namespace {

// Of a number in 0 .. 2^63; std::floor is a call where the processor may lack the instruction.
double floor_of(double value) {
    return static_cast<double>(static_cast<std::int64_t>(value));
}

}  // namespace

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

inline MaxMin::Fill& MaxMin::reach(std::uint32_t constraint) {
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
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t link = c.links[k];
        if (link != kNone) {
            Fill& other = reach(link);
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

// With residual R and weight W of the free flows, the constraint is full at K = floor(R / W),
// unless fixed flows count. A fixed flow of rate r < K makes it full at r if the capacity less sum
// of w·min(rate, r), at least (K - r)·W, is less than the weight of all that could be faster, at
// most all weight: if r > K - (all weight) / W. One step more is for the rounding of fractional
// weights. If there is no such flow now, fixing flows brings none: of the two sides of that
// comparison the first only grows, and the second only shrinks.
MaxMin::Estimate MaxMin::estimate(std::uint32_t constraint) const {
    const Constraint& c = constraints_[constraint];
    if (c.is_cap) {
        return {c.capacity, true};
    }
    const Fill& fill = fills_[constraint];
    const double most = static_cast<double>(kMaxRate);
    double level = most;
    if (fill.weight > 0) {
        level = floor_of(std::clamp(fill.residual / fill.weight, 1.0, most));
        const double least = level - c.weight / fill.weight - 1;
        if (c.other_max >= least && c.other_max > filled_) {
            return {least, false};
        }
    }
    return {level, true};
}

// Down from a hole at `position`. Which of two children is less is a coin toss: it costs less to
// compute it than to branch on it.
void MaxMin::sift_key(std::size_t position, Key key) {
    Key* const keys = keys_.data();
    const std::size_t size = keys_.size();
    std::size_t child = 2 * position + 1;
    while (child + 1 < size) {
        child += static_cast<std::size_t>(keys[child + 1].level < keys[child].level);
        if (key.level <= keys[child].level) {
            keys[position] = key;
            return;
        }
        keys[position] = keys[child];
        position = child;
        child = 2 * position + 1;
    }
    if (child < size && keys[child].level < key.level) {
        keys[position] = keys[child];
        position = child;
    }
    keys[position] = key;
}

void MaxMin::build_keys() {
    keys_.clear();
    for (const std::uint32_t constraint : reached_) {
        if (fills_[constraint].weight > 0 && phases_[constraint] != Phase::Full) {
            double level = estimate(constraint).level;
            if (hinted_ && phases_[constraint] == Phase::Released) {
                level = std::max(level, hint(constraint));
            }
            keys_.push_back({level, constraint});
        }
    }
    for (std::size_t position = keys_.size() / 2; position-- > 0;) {
        sift_key(position, keys_[position]);
    }
}

void MaxMin::replace_first_key(double level) {
    sift_key(0, {level, keys_.front().constraint});
}

void MaxMin::drop_first_key() {
    const Key last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) {
        sift_key(0, last);
    }
}

void MaxMin::discard_batch() {
    for (const std::uint32_t constraint : batch_) {
        in_batch_[constraint] = 0;
    }
    batch_.clear();
}

// A key near the level that the constraint had, which is no bound.
double MaxMin::hint(std::uint32_t constraint) const {
    return levels_[constraint] *
           (1 - 0.5 / static_cast<double>(constraints_[constraint].own.size()));
}

// Whether the first key, being a hint, may have hidden that its constraint was full at a level
// already fixed. With its residual R, W and K as at `estimate` and `last` the greatest rate fixed
// on it, it was not if K is above and R - last·W is not less than all the weight on it.
bool MaxMin::comes_late(std::uint32_t constraint) const {
    if (phases_[constraint] != Phase::Released) {
        return false;
    }
    const Fill& fill = fills_[constraint];
    const double all = constraints_[constraint].weight;
    if (fill.weight == 0) {
        return fill.residual < all;
    }
    return fill.residual < (filled_ + 1) * fill.weight ||
           (fill.last > 0 && fill.residual - fill.last * fill.weight < all);
}

// Frees all that the solve has fixed, and does without hints.
void MaxMin::start_again() {
    hinted_ = false;
    discard_batch();
    filled_ = 0;
    for (std::size_t k = 0; k < reached_.size(); ++k) {
        if (phases_[reached_[k]] == Phase::Full) {
            phases_[reached_[k]] = Phase::Reached;
            release(reached_[k]);
        }
    }
    released_ = 0;
    release_reached();
    build_keys();
}

// Finds the constraints that become full next, all at one level. Nothing is fixed meanwhile, so
// that their levels are those before any of them is full. False if no flow is free.
bool MaxMin::gather() {
    batch_.clear();
    double level = 0;
    while (!keys_.empty() && (batch_.empty() || keys_.front().level <= level)) {
        const Key first = keys_.front();
        if (hinted_ && comes_late(first.constraint)) {
            start_again();
            continue;
        }
        if (fills_[first.constraint].weight == 0) {
            drop_first_key();
            continue;
        }
        const Estimate now = estimate(first.constraint);
        if (now.level > first.level) {
            replace_first_key(now.level);
        } else if (now.sure && !batch_.empty() && now.level < level) {
            start_again();
        } else if (now.sure) {
            level = now.level;
            batch_.push_back(first.constraint);
            in_batch_[first.constraint] = 1;
            drop_first_key();
        } else if (release_faster(first.constraint, now.level)) {
            release_reached();
            discard_batch();
            build_keys();
        } else {
            replace_first_key(estimate(first.constraint).level);
        }
    }
    filled_ = level;
    return !batch_.empty();
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
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t link = c.links[k];
            if (link != kNone) {
                Fill& other = fills_[link];
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
