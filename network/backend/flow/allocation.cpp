#include "network/backend/flow/allocation.h"

#include "astra/core/check.h"

namespace astra {

std::uint32_t Allocation::add_constraint(std::uint64_t capacity, bool is_cap) {
    ASTRA_CHECK(constraints_.size() < kNone, "too many constraints");
    Constraint& c = constraints_.emplace_back();
    c.capacity = static_cast<double>(capacity);
    c.is_cap = is_cap;
    levels_.push_back(0);
    return static_cast<std::uint32_t>(constraints_.size() - 1);
}

std::uint32_t Allocation::add_flow(std::uint32_t crossings) {
    std::uint32_t id = static_cast<std::uint32_t>(flows_.size());
    if (!free_flows_.empty()) {
        id = free_flows_.back();
        free_flows_.pop_back();
    } else {
        ASTRA_CHECK(flows_.size() < kNone, "too many flows");
        flows_.emplace_back();
    }
    Flow& flow = flows_[id];
    flow.bottleneck = kNone;
    flow.first_crossing = take_crossings(crossings);
    flow.crossings = crossings;
    return id;
}

void Allocation::free_flow(std::uint32_t id) {
    Flow& flow = flows_[id];
    if (free_crossings_.size() <= flow.crossings) {
        free_crossings_.resize(flow.crossings + 1);
    }
    free_crossings_[flow.crossings].push_back(flow.first_crossing);
    flow.crossings = 0;
    free_flows_.push_back(id);
}

void Allocation::serve(std::uint32_t constraint, double level, std::uint64_t now_ps) {
    Constraint& c = constraints_[constraint];
    c.served = served(c, level, now_ps);
    c.served_at_ps = now_ps;
}

std::uint32_t Allocation::take_crossings(std::uint32_t count) {
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

Allocation::Work Allocation::served(const Constraint& c, double level, std::uint64_t now_ps) const {
    return c.served + static_cast<Work>(whole_rate(level)) * (now_ps - c.served_at_ps);
}

std::uint64_t Allocation::completion_ps(std::uint32_t constraint) const {
    const Constraint& c = constraints_[constraint];
    if (c.bound.empty()) {
        return kMaxPs;
    }
    const Work target = c.first_target;
    if (target <= c.served) {
        return c.served_at_ps;
    }
    const std::uint64_t rate = whole_rate(levels_[constraint]);
    const Work left = target - c.served + (rate - 1);
    if (left >> 64 == 0) {
        return saturating_add(c.served_at_ps, static_cast<std::uint64_t>(left) / rate);
    }
    const Work ps = left / rate;
    return ps > kMaxPs ? kMaxPs : saturating_add(c.served_at_ps, static_cast<std::uint64_t>(ps));
}

void Allocation::join_others(std::uint32_t flow, Crossing& crossing) {
    std::vector<Other>& others = constraints_[crossing.constraint].others;
    crossing.position = static_cast<std::uint32_t>(others.size());
    others.push_back({flow, flows_[flow].bottleneck});
}

void Allocation::leave_others(const Crossing& crossing) {
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

bool Allocation::completes_before(std::uint32_t a, std::uint32_t b) const {
    const Flow& first = flows_[a];
    const Flow& second = flows_[b];
    return first.target != second.target ? first.target < second.target
                                         : first.sequence < second.sequence;
}

void Allocation::put_bound(Constraint& c,
                           std::uint32_t position,
                           std::uint32_t flow,
                           std::uint32_t link) {
    c.bound[position] = flow;
    c.links[position] = link;
    flows_[flow].position = position;
    if (position == 0) {
        c.first_target = flows_[flow].target;
    }
}

// Puts the flow where the heap wants it, starting from the hole at `position`.
void Allocation::sift_bound(Constraint& c,
                            std::uint32_t position,
                            std::uint32_t flow,
                            std::uint32_t link) {
    while (position > 0 && completes_before(flow, c.bound[(position - 1) / 2])) {
        const std::uint32_t parent = (position - 1) / 2;
        put_bound(c, position, c.bound[parent], c.links[parent]);
        position = parent;
    }
    const auto size = static_cast<std::uint32_t>(c.bound.size());
    for (;;) {
        std::uint32_t child = 2 * position + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && completes_before(c.bound[child + 1], c.bound[child])) {
            ++child;
        }
        if (!completes_before(c.bound[child], flow)) {
            break;
        }
        put_bound(c, position, c.bound[child], c.links[child]);
        position = child;
    }
    put_bound(c, position, flow, link);
}

std::uint32_t Allocation::link_of(const Flow& flow, std::uint32_t bottleneck) const {
    if (flow.crossings != 2) {
        return kNone;
    }
    const Crossing& a = crossings_[flow.first_crossing];
    const Crossing& b = crossings_[flow.first_crossing + 1];
    if (a.weight != 1 || b.weight != 1) {
        return kNone;
    }
    return a.constraint == bottleneck ? b.constraint : a.constraint;
}

void Allocation::join_bound(std::uint32_t flow, std::uint32_t constraint, double weight) {
    Constraint& c = constraints_[constraint];
    flows_[flow].bottleneck = constraint;
    c.bound_weight += weight;
    c.bound.push_back(flow);
    c.links.push_back(kNone);
    sift_bound(
        c, static_cast<std::uint32_t>(c.bound.size() - 1), flow, link_of(flows_[flow], constraint));
}

void Allocation::leave_bound(std::uint32_t flow, double weight) {
    Constraint& c = constraints_[flows_[flow].bottleneck];
    const std::uint32_t position = flows_[flow].position;
    const std::uint32_t last = c.bound.back();
    const std::uint32_t link = c.links.back();
    c.bound.pop_back();
    c.links.pop_back();
    c.bound_weight = c.bound.empty() ? 0 : c.bound_weight - weight;
    if (last != flow) {
        sift_bound(c, position, last, link);
    }
}

}  // namespace astra
