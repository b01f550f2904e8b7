#include "network/backend/flow/filling.h"

#include <algorithm>

#include "astra/core/check.h"

namespace astra {

namespace {

// The whole part of a number in 0 .. 2^63; std::floor is a call where the processor may lack the
// instruction.
double floor_of(double value) {
    return static_cast<double>(static_cast<std::int64_t>(value));
}

}  // namespace

void Filling::add_constraint() {
    fills_.emplace_back();
    phases_.push_back(Phase::Reached);
    in_batch_.push_back(0);
}

void Filling::begin(std::uint64_t now_ps, bool only_left) {
    now_ps_ = now_ps;
    hinted_ = only_left;
    if (++solve_ == 0) {
        for (Fill& fill : fills_) {
            fill.solve = 0;
        }
        solve_ = 1;
    }
    reached_.clear();
    released_ = 0;
    filled_ = 0;
}

void Filling::resized(std::uint32_t constraint) {
    if (fills_[constraint].solve != solve_ || phases_[constraint] == Phase::Reached) {
        reach(constraint);
        release(constraint);
    }
    release_bottlenecks(constraint);
}

void Filling::add_flow(std::uint32_t flow) {
    for (const Allocation::Crossing& crossing : allocation_.crossings_of(allocation_.flow(flow))) {
        reach(crossing.constraint).weight += crossing.weight;
    }
    ++visited_;
}

std::span<const std::uint32_t> Filling::run() {
    release_reached();
    fill();
    for (const std::uint32_t constraint : reached_) {
        Allocation::Constraint& c = allocation_.constraint(constraint);
        const Fill& fill = fills_[constraint];
        ASTRA_CHECK(fill.weight == 0, "a flow without a rate");
        c.load = c.bound.empty() && c.others.empty() ? 0 : c.capacity - fill.residual;
        c.other_max = std::max(c.other_max, fill.last);
    }
    return reached_;
}

Filling::Fill& Filling::reach(std::uint32_t constraint) {
    Fill& fill = fills_[constraint];
    if (fill.solve != solve_) {
        fill = {};
        fill.solve = solve_;
        fill.residual =
            allocation_.constraint(constraint).capacity - allocation_.constraint(constraint).load;
        phases_[constraint] = Phase::Reached;
        reached_.push_back(constraint);
    }
    return fill;
}

bool Filling::is_free(Allocation::Other other) const {
    return other.bottleneck == Allocation::kNone || (phases_[other.bottleneck] == Phase::Released &&
                                                     fills_[other.bottleneck].solve == solve_);
}

// Frees the flows that a reached constraint binds.
void Filling::release(std::uint32_t constraint) {
    Allocation::Constraint& c = allocation_.constraint(constraint);
    ASTRA_CHECK(phases_[constraint] == Phase::Reached, "released once");
    phases_[constraint] = Phase::Released;
    const double level = allocation_.level(constraint);
    allocation_.serve(constraint, level, now_ps_);
    const auto count = static_cast<std::uint32_t>(c.bound.size());
    Fill& fill = fills_[constraint];
    fill.residual += level * c.bound_weight;
    fill.weight += c.bound_weight;
    visited_ += count;
    Fill* const fills = fills_.data();
    const std::uint32_t* const links = c.links.data();
    const std::uint32_t solve = solve_;
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t link = links[k];
        if (link != Allocation::kNone) {
            Fill& other = fills[link];
            if (other.solve != solve) [[unlikely]] {
                reach(link);
            }
            other.residual += level;
            other.weight += 1;
            continue;
        }
        for (const Allocation::Crossing& crossing :
             allocation_.crossings_of(allocation_.flow(c.bound[k]))) {
            if (crossing.constraint != constraint) {
                Fill& other = reach(crossing.constraint);
                other.residual += level * crossing.weight;
                other.weight += crossing.weight;
            }
        }
    }
}

void Filling::release_bottlenecks(std::uint32_t constraint) {
    for (const auto [flow, bottleneck] : allocation_.constraint(constraint).others) {
        if (bottleneck != Allocation::kNone) {
            reach(bottleneck);
            if (phases_[bottleneck] == Phase::Reached) {
                release(bottleneck);
            }
        }
    }
}

void Filling::release_reached() {
    for (; released_ < reached_.size(); ++released_) {
        const std::uint32_t constraint = reached_[released_];
        const Allocation::Constraint& c = allocation_.constraint(constraint);
        if (phases_[constraint] == Phase::Reached && !c.is_cap && !c.bound.empty()) {
            release(constraint);
        }
    }
}

// Releases the bottlenecks of the fixed flows at `least` or faster, of those above the last level
// fixed; else learns the greatest rate of a flow that this solve has not freed.
bool Filling::release_faster(std::uint32_t constraint, double least) {
    double fastest = 0;
    bool any = false;
    visited_ += allocation_.constraint(constraint).others.size();
    for (const Allocation::Other other : allocation_.constraint(constraint).others) {
        if (is_free(other)) {
            continue;
        }
        const std::uint32_t bottleneck = other.bottleneck;
        if (allocation_.level(bottleneck) >= least && allocation_.level(bottleneck) > filled_) {
            reach(bottleneck);
            release(bottleneck);
            any = true;
        } else {
            fastest = std::max(fastest, allocation_.level(bottleneck));
        }
    }
    allocation_.constraint(constraint).other_max = fastest;
    return any;
}

void Filling::fill() {
    build_keys();
    while (gather()) {
        for (const std::uint32_t constraint : batch_) {
            fix(constraint, filled_);
        }
        discard_batch();
    }
}

// Fixes the free flows of a constraint that is full, but for those that another one of the batch
// binds and so fixes.
void Filling::fix(std::uint32_t constraint, double level) {
    Allocation::Constraint& c = allocation_.constraint(constraint);
    Fill& fill = fills_[constraint];
    allocation_.level(constraint) = level;
    if (phases_[constraint] == Phase::Released) {
        const auto count = static_cast<std::uint32_t>(c.bound.size());
        fill.residual -= level * c.bound_weight;
        fill.weight -= c.bound_weight;
        visited_ += count;
        Fill* const fills = fills_.data();
        const std::uint32_t* const links = c.links.data();
        for (std::uint32_t k = 0; k < count; ++k) {
            const std::uint32_t link = links[k];
            if (link != Allocation::kNone) {
                Fill& other = fills[link];
                other.residual -= level;
                other.weight -= 1;
                other.last = level;
                continue;
            }
            for (const Allocation::Crossing& crossing :
                 allocation_.crossings_of(allocation_.flow(c.bound[k]))) {
                if (crossing.constraint != constraint) {
                    Fill& other = fills_[crossing.constraint];
                    other.residual -= level * crossing.weight;
                    other.weight -= crossing.weight;
                    other.last = level;
                }
            }
        }
    } else {
        allocation_.serve(constraint, level, now_ps_);
    }
    phases_[constraint] = Phase::Full;
    if (fill.weight > 0) {
        take_over(constraint, level);
    }
}

// Fixes the free flows that had another bottleneck, or none.
void Filling::take_over(std::uint32_t constraint, double level) {
    Allocation::Constraint& c = allocation_.constraint(constraint);
    visited_ += c.others.size();
    for (std::uint32_t k = 0; k < c.others.size();) {
        const auto [id, former] = c.others[k];
        if (!is_free(c.others[k]) || (former != Allocation::kNone && in_batch_[former] != 0)) {
            ++k;
            continue;
        }
        Allocation::Flow& flow = allocation_.flow(id);
        Allocation::Work left = flow.target;
        if (former != Allocation::kNone) {
            const Allocation::Work done = allocation_.constraint(former).served;
            left = left > done ? left - done : 0;
        }
        double weight = 0;
        for (Allocation::Crossing& crossing : allocation_.crossings_of(flow)) {
            Fill& fill = fills_[crossing.constraint];
            fill.residual -= level * crossing.weight;
            fill.weight -= crossing.weight;
            if (crossing.constraint == constraint) {
                weight = crossing.weight;
                allocation_.leave_others(crossing);
                continue;
            }
            fill.last = level;
            if (crossing.constraint == former) {
                allocation_.leave_bound(id, crossing.weight);
                allocation_.join_others(id, crossing);
            }
            allocation_.constraint(crossing.constraint).others[crossing.position].bottleneck =
                constraint;
        }
        flow.target = c.served + left;
        allocation_.join_bound(id, constraint, weight);
    }
}

// With residual R and weight W of the free flows, the constraint is full at K = floor(R / W),
// unless fixed flows count. A fixed flow of rate r < K makes it full at r if the capacity less sum
// of w·min(rate, r), at least (K - r)·W, is less than the weight of all that could be faster, at
// most all weight: if r > K - (all weight) / W. One step more is for the rounding of fractional
// weights. If there is no such flow now, fixing flows brings none: of the two sides of that
// comparison the first only grows, and the second only shrinks.
Filling::Estimate Filling::estimate(std::uint32_t constraint) const {
    const Allocation::Constraint& c = allocation_.constraint(constraint);
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

void Filling::build_keys() {
    keys_.clear();
    for (const std::uint32_t constraint : reached_) {
        if (fills_[constraint].weight > 0 && phases_[constraint] != Phase::Full) {
            double level = estimate(constraint).level;
            if (hinted_ && phases_[constraint] == Phase::Released) {
                level = std::max(level, hint(constraint));
            }
            keys_.add({level, constraint});
        }
    }
    keys_.build();
}

void Filling::discard_batch() {
    for (const std::uint32_t constraint : batch_) {
        in_batch_[constraint] = 0;
    }
    batch_.clear();
}

// A key near the level that the constraint had, which is no bound.
double Filling::hint(std::uint32_t constraint) const {
    return allocation_.level(constraint) *
           (1 - 0.5 / static_cast<double>(allocation_.constraint(constraint).bound.size()));
}

// Whether the first key, being a hint, may have hidden that its constraint was full at a level
// already passed. With R, W and K as at estimate(), it was not full at a rate r <= K of a flow on
// it if (K - r)·W is not less than all the weight on it. That is to hold for the flows that this
// solve has fixed, and for the others up to `filled_`; `estimate` looks after those above.
bool Filling::comes_late(std::uint32_t constraint) const {
    if (phases_[constraint] != Phase::Released) {
        return false;
    }
    const Fill& fill = fills_[constraint];
    const Allocation::Constraint& c = allocation_.constraint(constraint);
    if (fill.weight == 0) {
        return fill.residual < c.weight;
    }
    const auto was_full_at = [&fill, &c](double rate) {
        return fill.residual - (rate + 1) * fill.weight < c.weight;
    };
    return fill.residual < (filled_ + 1) * fill.weight ||
           (fill.last > 0 && was_full_at(fill.last)) ||
           (c.other_max > 0 && c.other_max <= filled_ && was_full_at(c.other_max));
}

// Frees all that the solve has fixed, and does without hints.
void Filling::start_again() {
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
bool Filling::gather() {
    batch_.clear();
    double level = 0;
    while (!keys_.empty() && (batch_.empty() || keys_.first().level <= level)) {
        const LevelHeap::Key first = keys_.first();
        if (fills_[first.constraint].weight == 0) {
            if (hinted_ && comes_late(first.constraint)) {
                start_again();
            } else {
                keys_.drop_first();
            }
            continue;
        }
        const Estimate now = estimate(first.constraint);
        if (now.level > first.level) {
            keys_.replace_first(now.level);
        } else if (now.sure && hinted_ &&
                   (comes_late(first.constraint) || (!batch_.empty() && now.level < level))) {
            start_again();
        } else if (now.sure) {
            // All of a batch have one level; that of a true bound differs by rounding at most.
            level = batch_.empty() ? now.level : level;
            batch_.push_back(first.constraint);
            in_batch_[first.constraint] = 1;
            keys_.drop_first();
        } else if (release_faster(first.constraint, now.level)) {
            release_reached();
            discard_batch();
            build_keys();
        } else {
            keys_.replace_first(estimate(first.constraint).level);
        }
    }
    filled_ = level;
    return !batch_.empty();
}

}  // namespace astra
