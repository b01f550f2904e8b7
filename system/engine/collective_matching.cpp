#include "system/engine/collective_matching.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

namespace {

std::string text_of(const CollectiveRequest& request) {
    std::string text = fmt::format("{} of {} B", name_of(request.kind), request.bytes.count);
    if (request.by_pair()) {
        text += " with a size for each pair";
    }
    if (has_root(request.kind)) {
        text += fmt::format(" with the root at position {}", request.root);
    }
    if (request.dimensions != ~0U) {
        text += fmt::format(" over dimensions {:#b}", request.dimensions);
    }
    return text;
}

void check_same(const CollectiveInstance& instance,
                std::uint32_t rank,
                const CollectiveRequest& request,
                SimTime now) {
    const CollectiveRequest& first = instance.request;
    if (first.plan_key() == request.plan_key() &&
        (first.bytes == request.bytes || request.by_pair())) {
        return;
    }
    throw InputError(
        fmt::format("at {} ps: the ranks of group '{}' disagree about collective {} of the group: "
                    "rank {} (node {}) asks "
                    "for {}, rank {} (node {}) for {}",
                    now.ps,
                    instance.group().name(),
                    instance.sequence,
                    instance.first_rank,
                    first.node_id,
                    text_of(first),
                    rank,
                    request.node_id,
                    text_of(request)));
}

void add_pairs(CollectiveInstance& instance,
               std::uint32_t position,
               const CollectiveRequest& request,
               SimTime now) {
    instance.request.bytes.count = std::max(instance.request.bytes.count, request.bytes.count);
    instance.pairs.join(position, instance.group().size(), request.pairs);
    const PairSizes::Contradiction pair = instance.pairs.contradiction(position);
    if (pair.found) {
        throw InputError(fmt::format(
            "at {} ps: the ranks of group '{}' disagree about collective {} of the group, {}: rank "
            "{} (node {}) sends {} B to rank {} (node {}), which expects {} B from it",
            now.ps,
            instance.group().name(),
            instance.sequence,
            name_of(request.kind),
            instance.group().rank(pair.origin),
            instance.pairs.node_id(pair.origin),
            pair.sent.count,
            instance.group().rank(pair.destination),
            instance.pairs.node_id(pair.destination),
            pair.expected.count));
    }
}

}  // namespace

CollectiveMatching::Arrival CollectiveMatching::come(const ProcessGroup& group,
                                                     std::uint32_t position,
                                                     const CollectiveRequest& request,
                                                     SimTime now) {
    Group& state = groups_[index(group.id())];
    ASTRA_CHECK(request.sequence >= state.first_open, "a member comes to a collective once");
    const auto offset = static_cast<std::size_t>(request.sequence - state.first_open);
    if (offset >= state.open.size()) {
        state.open.resize(offset + 1, kUnopened);
    }
    std::uint32_t& number = state.open[offset];
    const bool is_first = number == kUnopened;
    if (is_first) {
        number = open_instance(group, position, request, now).number;
    }
    ASTRA_CHECK(number != kClosed, "a member comes to a collective once");
    CollectiveInstance& instance = instances_[number];
    if (!is_first) {
        check_same(instance, group.rank(position), request, now);
    }
    if (request.by_pair()) {
        add_pairs(instance, position, request, now);
    }
    CollectiveInstance::Member& member = instance.members[position];
    member.joined = true;
    member.since = now;
    member.heard = {now, RankId{group.rank(position)}};
    if (now > instance.last.at) {
        instance.last = member.heard;
        instance.out_of_step = true;
    }
    ++instance.joined;
    return {instance, is_first};
}

CollectiveInstance& CollectiveMatching::open_instance(const ProcessGroup& group,
                                                      std::uint32_t position,
                                                      const CollectiveRequest& request,
                                                      SimTime now) {
    if (free_instances_.empty()) {
        free_instances_.push_back(static_cast<std::uint32_t>(instances_.size()));
        instances_.emplace_back();
    }
    const std::uint32_t number = free_instances_.back();
    free_instances_.pop_back();
    CollectiveInstance& instance = instances_[number];
    instance.process_group = &group;
    instance.plan = nullptr;
    instance.request = request;
    instance.number = number;
    instance.first_rank = group.rank(position);
    instance.created = created_++;
    instance.sequence = request.sequence;
    instance.start = now;
    instance.last = {now, RankId{group.rank(position)}};
    instance.out_of_step = false;
    instance.exposed = {};
    instance.last_joined = kNoCause;
    instance.joined = 0;
    instance.left = 0;
    instance.waiting = 0;
    instance.members.assign(group.size(), {});
    instance.pairs.clear();
    return instance;
}

void CollectiveMatching::close(const CollectiveInstance& instance) {
    Group& group = groups_[index(instance.group().id())];
    group.open[static_cast<std::size_t>(instance.sequence - group.first_open)] = kClosed;
    free_instances_.push_back(instance.number);
    while (!group.open.empty() && group.open.front() == kClosed) {
        group.open.pop_front();
        ++group.first_open;
    }
}

std::vector<const CollectiveInstance*> CollectiveMatching::open(GroupId group) const {
    std::vector<const CollectiveInstance*> instances;
    for (const std::uint32_t number : groups_[index(group)].open) {
        if (number < kUnopened) {
            instances.push_back(&instances_[number]);
        }
    }
    return instances;
}

}  // namespace astra
