// In which order constraints become full. The words are those of max_min_fill.cpp.
#include <algorithm>

#include "network/backend/flow/max_min.h"

namespace astra {

namespace {

// Of a number in 0 .. 2^63; std::floor is a call where the processor may lack the instruction.
double floor_of(double value) {
    return static_cast<double>(static_cast<std::int64_t>(value));
}

}  // namespace

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
// already passed. With R, W and K as at `estimate`, it was not full at a rate r <= K of a flow on
// it if (K - r)·W is not less than all the weight on it. That is to hold for the flows that this
// solve has fixed, and for the others up to `filled_`; `estimate` looks after those above.
bool MaxMin::comes_late(std::uint32_t constraint) const {
    if (phases_[constraint] != Phase::Released) {
        return false;
    }
    const Fill& fill = fills_[constraint];
    const Constraint& c = constraints_[constraint];
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
        if (fills_[first.constraint].weight == 0) {
            if (hinted_ && comes_late(first.constraint)) {
                start_again();
            } else {
                drop_first_key();
            }
            continue;
        }
        const Estimate now = estimate(first.constraint);
        if (now.level > first.level) {
            replace_first_key(now.level);
        } else if (now.sure && hinted_ &&
                   (comes_late(first.constraint) || (!batch_.empty() && now.level < level))) {
            start_again();
        } else if (now.sure) {
            // Of a batch all have one level; that of a true bound differs by rounding at most.
            level = batch_.empty() ? now.level : level;
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

}  // namespace astra
