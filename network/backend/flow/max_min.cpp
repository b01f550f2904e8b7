// Flows, constraints and service; the fill is in max_min_fill.cpp.
#include "network/backend/flow/max_min.h"

#include <algorithm>
#include <cmath>

#include "astra/core/check.h"

namespace astra {

namespace {

constexpr double kWeightUnits = 4294967296.0;  // 2^32

// Below 2^53, where every whole number is a double.
std::uint64_t whole(double value) {
    return static_cast<std::uint64_t>(value);
}

}  // namespace

MaxMin::ConstraintId MaxMin::add_constraint(Bandwidth capacity) {
    return add(capacity, false);
}

MaxMin::ConstraintId MaxMin::add_cap(Bandwidth level) {
    return add(level, true);
}

MaxMin::ConstraintId MaxMin::add(Bandwidth capacity, bool is_cap) {
    ASTRA_CHECK(capacity.bits_per_s >= 1 && capacity.bits_per_s <= kMaxRate, "capacity");
    ASTRA_CHECK(constraints_.size() < kNone, "too many constraints");
    Constraint& c = constraints_.emplace_back();
    c.capacity = static_cast<double>(capacity.bits_per_s);
    c.is_cap = is_cap;
    levels_.push_back(0);
    fills_.emplace_back();
    phases_.push_back(Phase::Reached);
    in_batch_.push_back(0);
    completions_.add_group();
    return ConstraintId{static_cast<std::uint32_t>(constraints_.size() - 1)};
}

void MaxMin::set_capacity(ConstraintId id, Bandwidth capacity) {
    ASTRA_CHECK(capacity.bits_per_s >= 1 && capacity.bits_per_s <= kMaxRate, "capacity");
    constraints_[index_of(id)].capacity = static_cast<double>(capacity.bits_per_s);
    resized_.push_back(index_of(id));
}

std::uint32_t MaxMin::take_crossings(std::uint32_t count) {
    if (count < free_crossings_.size() && !free_crossings_[count].empty()) {
        const std::uint32_t first = free_crossings_[count].back();
        free_crossings_[count].pop_back();
        return first;
    }
    ASTRA_CHECK(crossings_.size() + count < kNone, "too many crossings");
    const auto first = static_cast<std::uint32_t>(crossings_.size());
    crossings_.resize(crossings_.size() + count);
    return first;
}

MaxMin::FlowId MaxMin::add_flow(std::span<const Use> uses, Work work, std::uint64_t tag) {
    ASTRA_CHECK(!uses.empty(), "a flow without constraints has no rate");
    ASTRA_CHECK(work <= kMostWork, "work");
    for (std::size_t k = 0; k < uses.size(); ++k) {
        ASTRA_CHECK(index_of(uses[k].constraint) < constraints_.size(), "no such constraint");
        ASTRA_CHECK(uses[k].weight >= kLeastWeight && uses[k].weight <= kMostWeight, "weight");
        for (std::size_t before = 0; before < k; ++before) {
            ASTRA_CHECK(uses[before].constraint != uses[k].constraint, "a constraint twice");
        }
    }
    std::uint32_t id = static_cast<std::uint32_t>(flows_.size());
    if (!free_flows_.empty()) {
        id = free_flows_.back();
        free_flows_.pop_back();
    } else {
        ASTRA_CHECK(flows_.size() < kNone, "too many flows");
        flows_.emplace_back();
    }
    const auto count = static_cast<std::uint32_t>(uses.size());
    Flow& flow = flows_[id];
    flow.target = work;
    flow.sequence = next_sequence_++;
    flow.tag = tag;
    flow.owner = kNone;
    flow.position = static_cast<std::uint32_t>(pending_.size());
    flow.first_crossing = take_crossings(count);
    flow.crossings = count;
    pending_.push_back(id);
    for (std::uint32_t k = 0; k < count; ++k) {
        const std::uint32_t constraint = index_of(uses[k].constraint);
        Crossing& crossing = crossings_[flow.first_crossing + k];
        crossing.weight = std::round(uses[k].weight * kWeightUnits) / kWeightUnits;
        crossing.constraint = constraint;
        constraints_[constraint].weight += crossing.weight;
        join_others(id, crossing);
    }
    ++live_flows_;
    return FlowId{id};
}

void MaxMin::remove_flow(FlowId flow_id) {
    live(flow_id);
    const std::uint32_t id = index_of(flow_id);
    Flow& flow = flows_[id];
    if (flow.owner == kNone) {
        const std::uint32_t last = pending_.back();
        pending_[flow.position] = last;
        flows_[last].position = flow.position;
        pending_.pop_back();
    }
    const double rate = flow.owner == kNone ? 0 : levels_[flow.owner];
    for (const Crossing& crossing : crossings_of(flow)) {
        Constraint& c = constraints_[crossing.constraint];
        if (crossing.constraint == flow.owner) {
            leave_own(id, crossing.weight);
        } else {
            leave_others(crossing);
        }
        c.weight -= crossing.weight;
        c.load -= crossing.weight * rate;
        if (c.own.empty() && c.others.empty()) {
            // What fractional weights have left by rounding.
            c.weight = 0;
            c.load = 0;
            c.other_max = 0;
        }
        if (flow.owner != kNone) {
            changed_.push_back(crossing.constraint);
        }
    }
    if (free_crossings_.size() <= flow.crossings) {
        free_crossings_.resize(flow.crossings + 1);
    }
    free_crossings_[flow.crossings].push_back(flow.first_crossing);
    flow.crossings = 0;
    free_flows_.push_back(id);
    --live_flows_;
}

std::span<const MaxMin::Completion> MaxMin::pop_completed(SimTime now) {
    completed_flows_.clear();
    while (completions_.next_ps() <= now.ps && completions_.next_ps() != kMaxPs) {
        const std::uint32_t group = completions_.next_group();
        const Constraint& c = constraints_[group];
        const Work done = served(c, levels_[group], now.ps);
        while (!c.own.empty() && c.first_target <= done) {
            completed_flows_.push_back(c.own.front());
            remove_flow(FlowId{c.own.front()});
        }
        const GroupHeap::Entry entry{completion_ps(group), group};
        completions_.update({&entry, 1});
    }
    std::sort(completed_flows_.begin(), completed_flows_.end(), [this](auto a, auto b) {
        return flows_[a].sequence < flows_[b].sequence;
    });
    completed_.clear();
    for (const std::uint32_t flow : completed_flows_) {
        completed_.push_back({FlowId{flow}, flows_[flow].tag});
    }
    return completed_;
}

const MaxMin::Flow& MaxMin::live(FlowId id) const {
    ASTRA_CHECK(index_of(id) < flows_.size() && flows_[index_of(id)].crossings != 0,
                "no such flow");
    return flows_[index_of(id)];
}

Bandwidth MaxMin::rate(FlowId flow) const {
    const std::uint32_t owner = live(flow).owner;
    return {owner == kNone ? 0 : whole(levels_[owner])};
}

MaxMin::ConstraintId MaxMin::bottleneck(FlowId flow) const {
    ASTRA_CHECK(live(flow).owner != kNone, "the flow has not been solved");
    return ConstraintId{flows_[index_of(flow)].owner};
}

MaxMin::Work MaxMin::remaining(FlowId id, SimTime now) const {
    const Flow& flow = live(id);
    if (flow.owner == kNone) {
        return flow.target;
    }
    const Work done = served(constraints_[flow.owner], levels_[flow.owner], now.ps);
    return flow.target > done ? flow.target - done : 0;
}

std::size_t MaxMin::flows_on(ConstraintId id) const {
    const Constraint& c = constraints_[index_of(id)];
    return c.own.size() + c.others.size();
}

Bandwidth MaxMin::level(ConstraintId id) const {
    return {constraints_[index_of(id)].own.empty() ? 0 : whole(levels_[index_of(id)])};
}

MaxMin::Work MaxMin::served(const Constraint& c, double level, std::uint64_t now_ps) const {
    return c.served + static_cast<Work>(whole(level)) * (now_ps - c.served_at_ps);
}

std::uint64_t MaxMin::completion_ps(std::uint32_t constraint) const {
    const Constraint& c = constraints_[constraint];
    if (c.own.empty()) {
        return kMaxPs;
    }
    const Work target = c.first_target;
    if (target <= c.served) {
        return c.served_at_ps;
    }
    const std::uint64_t rate = whole(levels_[constraint]);
    const Work left = target - c.served + (rate - 1);
    if (left >> 64 == 0) {
        return saturating_add(c.served_at_ps, static_cast<std::uint64_t>(left) / rate);
    }
    const Work ps = left / rate;
    return ps > kMaxPs ? kMaxPs : saturating_add(c.served_at_ps, static_cast<std::uint64_t>(ps));
}

void MaxMin::join_others(std::uint32_t flow, Crossing& crossing) {
    std::vector<Other>& others = constraints_[crossing.constraint].others;
    crossing.position = static_cast<std::uint32_t>(others.size());
    others.push_back({flow, flows_[flow].owner});
}

void MaxMin::leave_others(const Crossing& crossing) {
    std::vector<Other>& others = constraints_[crossing.constraint].others;
    const Other last = others.back();
    others[crossing.position] = last;
    others.pop_back();
    for (Crossing& moved : crossings_of(flows_[last.flow])) {
        if (moved.constraint == crossing.constraint) {
            moved.position = crossing.position;
        }
    }
}

bool MaxMin::completes_before(std::uint32_t a, std::uint32_t b) const {
    const Flow& first = flows_[a];
    const Flow& second = flows_[b];
    return first.target != second.target ? first.target < second.target
                                         : first.sequence < second.sequence;
}

void MaxMin::place_own(Constraint& c,
                       std::uint32_t position,
                       std::uint32_t flow,
                       std::uint32_t link) {
    c.own[position] = flow;
    c.links[position] = link;
    flows_[flow].position = position;
    if (position == 0) {
        c.first_target = flows_[flow].target;
    }
}

// Puts the flow where the heap wants it, starting from the hole at `position`.
void MaxMin::sift_own(Constraint& c,
                      std::uint32_t position,
                      std::uint32_t flow,
                      std::uint32_t link) {
    while (position > 0 && completes_before(flow, c.own[(position - 1) / 2])) {
        const std::uint32_t parent = (position - 1) / 2;
        place_own(c, position, c.own[parent], c.links[parent]);
        position = parent;
    }
    const auto size = static_cast<std::uint32_t>(c.own.size());
    for (;;) {
        std::uint32_t child = 2 * position + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && completes_before(c.own[child + 1], c.own[child])) {
            ++child;
        }
        if (!completes_before(c.own[child], flow)) {
            break;
        }
        place_own(c, position, c.own[child], c.links[child]);
        position = child;
    }
    place_own(c, position, flow, link);
}

std::uint32_t MaxMin::link_of(const Flow& flow, std::uint32_t owner) const {
    if (flow.crossings != 2) {
        return kNone;
    }
    const Crossing& a = crossings_[flow.first_crossing];
    const Crossing& b = crossings_[flow.first_crossing + 1];
    if (a.weight != 1 || b.weight != 1) {
        return kNone;
    }
    return a.constraint == owner ? b.constraint : a.constraint;
}

void MaxMin::join_own(std::uint32_t flow, std::uint32_t constraint, double weight) {
    Constraint& c = constraints_[constraint];
    flows_[flow].owner = constraint;
    c.own_weight += weight;
    c.own.push_back(flow);
    c.links.push_back(kNone);
    sift_own(
        c, static_cast<std::uint32_t>(c.own.size() - 1), flow, link_of(flows_[flow], constraint));
}

void MaxMin::leave_own(std::uint32_t flow, double weight) {
    Constraint& c = constraints_[flows_[flow].owner];
    const std::uint32_t position = flows_[flow].position;
    const std::uint32_t last = c.own.back();
    const std::uint32_t link = c.links.back();
    c.own.pop_back();
    c.links.pop_back();
    c.own_weight = c.own.empty() ? 0 : c.own_weight - weight;
    if (last != flow) {
        sift_own(c, position, last, link);
    }
}

}  // namespace astra
