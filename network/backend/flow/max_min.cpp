#include "network/backend/flow/max_min.h"

#include <algorithm>
#include <cmath>

#include "astra/core/check.h"

namespace astra {

namespace {

constexpr double kWeightUnits = 4294967296.0;  // 2^32

}  // namespace

MaxMin::ConstraintId MaxMin::add_constraint(Bandwidth capacity) {
    return add(capacity, false);
}

MaxMin::ConstraintId MaxMin::add_cap(Bandwidth level) {
    return add(level, true);
}

MaxMin::ConstraintId MaxMin::add(Bandwidth capacity, bool is_cap) {
    ASTRA_CHECK(capacity.bits_per_s >= 1 && capacity.bits_per_s <= kMaxRate, "capacity");
    filling_.add_constraint();
    completions_.add_group();
    return ConstraintId{allocation_.add_constraint(capacity.bits_per_s, is_cap)};
}

void MaxMin::set_capacity(ConstraintId id, Bandwidth capacity) {
    ASTRA_CHECK(capacity.bits_per_s >= 1 && capacity.bits_per_s <= kMaxRate, "capacity");
    allocation_.constraint(index_of(id)).capacity = static_cast<double>(capacity.bits_per_s);
    resized_.push_back(index_of(id));
}

MaxMin::FlowId MaxMin::add_flow(std::span<const Use> uses, Work work, std::uint64_t tag) {
    ASTRA_CHECK(!uses.empty(), "a flow without constraints has no rate");
    ASTRA_CHECK(work <= kMostWork, "work");
    for (std::size_t k = 0; k < uses.size(); ++k) {
        ASTRA_CHECK(index_of(uses[k].constraint) < allocation_.constraints(), "no such constraint");
        ASTRA_CHECK(uses[k].weight >= kLeastWeight && uses[k].weight <= kMostWeight, "weight");
        for (std::size_t before = 0; before < k; ++before) {
            ASTRA_CHECK(uses[before].constraint != uses[k].constraint, "a constraint twice");
        }
    }
    const std::uint32_t id = allocation_.add_flow(static_cast<std::uint32_t>(uses.size()));
    Allocation::Flow& flow = allocation_.flow(id);
    flow.target = work;
    flow.sequence = next_sequence_++;
    flow.tag = tag;
    flow.position = static_cast<std::uint32_t>(pending_.size());
    pending_.push_back(id);
    const std::span<Allocation::Crossing> crossings = allocation_.crossings_of(flow);
    for (std::size_t k = 0; k < uses.size(); ++k) {
        const std::uint32_t constraint = index_of(uses[k].constraint);
        Allocation::Crossing& crossing = crossings[k];
        crossing.weight = std::round(uses[k].weight * kWeightUnits) / kWeightUnits;
        crossing.constraint = constraint;
        allocation_.constraint(constraint).weight += crossing.weight;
        allocation_.join_others(id, crossing);
    }
    ++live_flows_;
    return FlowId{id};
}

void MaxMin::remove_flow(FlowId flow_id) {
    live(flow_id);
    const std::uint32_t id = index_of(flow_id);
    Allocation::Flow& flow = allocation_.flow(id);
    if (flow.bottleneck == Allocation::kNone) {
        const std::uint32_t last = pending_.back();
        pending_[flow.position] = last;
        allocation_.flow(last).position = flow.position;
        pending_.pop_back();
    }
    const double rate =
        flow.bottleneck == Allocation::kNone ? 0 : allocation_.level(flow.bottleneck);
    for (const Allocation::Crossing& crossing : allocation_.crossings_of(flow)) {
        Allocation::Constraint& c = allocation_.constraint(crossing.constraint);
        if (crossing.constraint == flow.bottleneck) {
            allocation_.leave_bound(id, crossing.weight);
        } else {
            allocation_.leave_others(crossing);
        }
        c.weight -= crossing.weight;
        c.load -= crossing.weight * rate;
        if (c.bound.empty() && c.others.empty()) {
            // What fractional weights have left by rounding.
            c.weight = 0;
            c.load = 0;
            c.other_max = 0;
        }
        if (flow.bottleneck != Allocation::kNone) {
            changed_.push_back(crossing.constraint);
        }
    }
    allocation_.free_flow(id);
    --live_flows_;
}

void MaxMin::solve(SimTime now) {
    ASTRA_CHECK(now.ps >= now_ps_, "time does not go back");
    now_ps_ = now.ps;
    filling_.begin(now.ps, pending_.empty() && resized_.empty());
    for (const std::uint32_t constraint : changed_) {
        filling_.lost_flow(constraint);
    }
    for (const std::uint32_t constraint : resized_) {
        filling_.resized(constraint);
    }
    for (const std::uint32_t flow : pending_) {
        filling_.add_flow(flow);
    }
    changed_.clear();
    resized_.clear();
    pending_.clear();
    rekeyed_.clear();
    for (const std::uint32_t constraint : filling_.run()) {
        rekeyed_.push_back({allocation_.completion_ps(constraint), constraint});
    }
    completions_.update(rekeyed_);
}

std::span<const MaxMin::Completion> MaxMin::pop_completed(SimTime now) {
    completed_flows_.clear();
    while (completions_.next_ps() <= now.ps && completions_.next_ps() != kMaxPs) {
        const std::uint32_t group = completions_.next_group();
        const Allocation::Constraint& c = allocation_.constraint(group);
        const Work done = allocation_.served(c, allocation_.level(group), now.ps);
        while (!c.bound.empty() && c.first_target <= done) {
            completed_flows_.push_back(c.bound.front());
            remove_flow(FlowId{c.bound.front()});
        }
        const GroupHeap::Entry entry{allocation_.completion_ps(group), group};
        completions_.update({&entry, 1});
    }
    std::sort(completed_flows_.begin(), completed_flows_.end(), [this](auto a, auto b) {
        return allocation_.flow(a).sequence < allocation_.flow(b).sequence;
    });
    completed_.clear();
    for (const std::uint32_t flow : completed_flows_) {
        completed_.push_back({FlowId{flow}, allocation_.flow(flow).tag});
    }
    return completed_;
}

const Allocation::Flow& MaxMin::live(FlowId id) const {
    ASTRA_CHECK(allocation_.has_flow(index_of(id)), "no such flow");
    return allocation_.flow(index_of(id));
}

Bandwidth MaxMin::rate(FlowId flow) const {
    const std::uint32_t bottleneck = live(flow).bottleneck;
    return {bottleneck == Allocation::kNone
                ? 0
                : Allocation::whole_rate(allocation_.level(bottleneck))};
}

MaxMin::ConstraintId MaxMin::bottleneck(FlowId flow) const {
    ASTRA_CHECK(live(flow).bottleneck != Allocation::kNone, "the flow has not been solved");
    return ConstraintId{allocation_.flow(index_of(flow)).bottleneck};
}

MaxMin::Work MaxMin::remaining(FlowId id, SimTime now) const {
    const Allocation::Flow& flow = live(id);
    if (flow.bottleneck == Allocation::kNone) {
        return flow.target;
    }
    const Work done = allocation_.served(
        allocation_.constraint(flow.bottleneck), allocation_.level(flow.bottleneck), now.ps);
    return flow.target > done ? flow.target - done : 0;
}

std::size_t MaxMin::flows_on(ConstraintId id) const {
    const Allocation::Constraint& c = allocation_.constraint(index_of(id));
    return c.bound.size() + c.others.size();
}

Bandwidth MaxMin::level(ConstraintId id) const {
    return {allocation_.constraint(index_of(id)).bound.empty()
                ? 0
                : Allocation::whole_rate(allocation_.level(index_of(id)))};
}

}  // namespace astra
