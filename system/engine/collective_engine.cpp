#include "system/engine/collective_engine.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

namespace {

DimensionQueues::Limits limits_of(const Topology& topology,
                                  const QueueConfig& config,
                                  bool pass_younger) {
    return {topology.dimensions(),
            config.queues,
            config.active_chunks,
            config.chunk_order,
            config.patience,
            pass_younger};
}

std::uint64_t priority_of(const CollectiveInstance& instance, QueueConfig::Scheduling scheduling) {
    switch (scheduling) {
        case QueueConfig::Scheduling::Lifo:
            return instance.created;
        case QueueConfig::Scheduling::Fifo:
            return ~instance.created;
        default:
            return instance.request.priority;
    }
}

}  // namespace

CollectiveEngine::CollectiveEngine(EventQueue& queue,
                                   NetworkBackend& network,
                                   Routing& routing,
                                   const BackendInfo& backend,
                                   const ConfigView& network_keys,
                                   const EngineConfig& config,
                                   Warnings& warnings,
                                   bool pass_younger)
    : queue_(queue),
      routing_(routing),
      config_(config),
      warnings_(warnings),
      tuner_(routing, backend, network_keys, config.plan.tuning, config.endpoint),
      context_{queue,
               network,
               config.endpoint.delay,
               TransferClock(config.endpoint.memory),
               config.endpoint.rendezvous},
      queues_(queue,
              *this,
              routing.topology().ranks(),
              limits_of(routing.topology(), config.queues, pass_younger)) {}

GroupId CollectiveEngine::add_group(std::string name, std::vector<std::uint32_t> ranks) {
    const GroupId id{static_cast<std::uint32_t>(groups_.size())};
    Group group;
    group.joined.resize(ranks.size());
    group.group =
        std::make_unique<ProcessGroup>(id, std::move(name), std::move(ranks), routing_.topology());
    groups_.push_back(std::move(group));
    return id;
}

CollectivePlan& CollectiveEngine::plan_for(Group& group, const CollectiveRequest& request) {
    const PlanKey key = request.plan_key();
    const bool sized = plan_depends_on_size(key, config_.plan, tuner_);
    auto& plan = group.plans[{key, sized ? request.bytes.count : 0}];
    if (!plan) {
        plan = std::make_unique<CollectivePlan>(make_plan(
            *group.group, key, request.size(), config_.plan, routing_, tuner_, warnings_));
    }
    return *plan;
}

void CollectiveEngine::prepare(GroupId id, const CollectiveRequest& request) {
    plan_for(groups_[index(id)], request);
}

void CollectiveEngine::join(GroupId id,
                            std::uint32_t position,
                            const CollectiveRequest& request,
                            Callback done) {
    Group& group = groups_[index(id)];
    CollectiveInstance& instance = instance_for(group, position, request);
    if (request.by_pair()) {
        add_pairs(instance, position, request);
    }
    auto& member = instance.members[position];
    member.joined = true;
    member.done = done;
    member.since = queue_.now();
    const auto chunks = static_cast<std::uint32_t>(instance.chunks.size());
    member.chunks_left = chunks;
    ++instance.joined;
    if (context_.recorder != nullptr && instance.joined == instance.members.size()) {
        instance.last_joined = context_.recorder->current();
        record_waiting(instance, position);
    }
    const auto number = static_cast<std::uint64_t>(
        group.open[static_cast<std::size_t>(instance.sequence - group.first_open)]);
    if (instance.plan->measured != nullptr) {
        if (instance.joined == instance.members.size()) {
            const Duration time = measured_time(instance);
            for (std::uint64_t p = 0; p < instance.members.size(); ++p) {
                queue_.schedule_after(
                    time,
                    Callback::to<&CollectiveEngine::leave_at_once>(*this, (number << 32) | p));
            }
        }
        return;
    }
    if (!instance.plan->has_phases()) {
        queue_.schedule_after(
            {}, Callback::to<&CollectiveEngine::leave_at_once>(*this, (number << 32) | position));
        return;
    }
    // All chunks are there before the first one starts.
    std::set<std::uint32_t> queues;
    for (std::uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const ChunkAt at{&instance, position, chunk};
        const std::uint32_t queue = queue_index(at);
        queues_.add(queue, at);
        queues.insert(queue);
    }
    for (const std::uint32_t queue : queues) {
        queues_.top_up(queue);
    }
}

Duration CollectiveEngine::measured_time(const CollectiveInstance& instance) const {
    return config_.plan.measured.with_noise(
        instance.plan->measured->at(instance.total()), instance.group().id(), instance.sequence);
}

CollectiveInstance& CollectiveEngine::instance_for(Group& group,
                                                   std::uint32_t position,
                                                   const CollectiveRequest& request) {
    const std::uint64_t sequence = group.joined[position]++;
    const auto offset = static_cast<std::size_t>(sequence - group.first_open);
    if (offset < group.open.size()) {
        CollectiveInstance& instance = instances_[group.open[offset]];
        check_same(instance, group.group->rank(position), request);
        return instance;
    }
    CollectivePlan& plan = plan_for(group, request);
    if (free_instances_.empty()) {
        free_instances_.push_back(static_cast<std::uint32_t>(instances_.size()));
        instances_.emplace_back();
    }
    const std::uint32_t number = free_instances_.back();
    free_instances_.pop_back();
    CollectiveInstance& instance = instances_[number];
    instance.plan = &plan;
    instance.request = request;
    instance.first_rank = group.group->rank(position);
    instance.created = created_++;
    instance.sequence = sequence;
    instance.priority = priority_of(instance, config_.queues.scheduling);
    instance.start = queue_.now();
    instance.last_joined = kNoCause;
    instance.joined = 0;
    instance.left = 0;
    instance.members.assign(group.group->size(), {});
    instance.pairs.clear();
    cut(instance, plan);
    group.open.push_back(number);
    return instance;
}

void CollectiveEngine::check_same(const CollectiveInstance& instance,
                                  std::uint32_t rank,
                                  const CollectiveRequest& request) const {
    const CollectiveRequest& first = instance.request;
    if (first.plan_key() == request.plan_key() &&
        (first.bytes == request.bytes || request.by_pair())) {
        return;
    }
    const auto ask = [](const CollectiveRequest& r) {
        std::string text = fmt::format("{} of {} B", name_of(r.kind), r.bytes.count);
        if (r.by_pair()) {
            text += " with a size for each pair";
        }
        if (has_root(r.kind)) {
            text += fmt::format(" with the root at position {}", r.root);
        }
        if (r.dimensions != ~0U) {
            text += fmt::format(" over dimensions {:#b}", r.dimensions);
        }
        return text;
    };
    throw InputError(
        fmt::format("at {} ps: the ranks of group '{}' disagree about collective {} of the group: "
                    "rank {} (node {}) asks "
                    "for {}, rank {} (node {}) for {}",
                    queue_.now().ps,
                    instance.group().name(),
                    instance.sequence,
                    instance.first_rank,
                    first.node_id,
                    ask(first),
                    rank,
                    request.node_id,
                    ask(request)));
}

void CollectiveEngine::add_pairs(CollectiveInstance& instance,
                                 std::uint32_t position,
                                 const CollectiveRequest& request) const {
    instance.request.bytes.count = std::max(instance.request.bytes.count, request.bytes.count);
    instance.pairs.join(position, instance.group().size(), request.pairs);
    const PairSizes::Contradiction pair = instance.pairs.contradiction(position);
    if (pair.found) {
        throw InputError(fmt::format(
            "at {} ps: the ranks of group '{}' disagree about collective {} of the group, {}: rank "
            "{} (node {}) sends {} B to rank {} (node {}), which expects {} B from it",
            queue_.now().ps,
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

void CollectiveEngine::leave_at_once(std::uint64_t argument) {
    CollectiveInstance& instance = instances_[argument >> 32];
    const Recorder::Because because(context_.recorder, instance.last_joined);
    leave(instance, static_cast<std::uint32_t>(argument));
}

// Until now everyone who had come waited for the last one.
void CollectiveEngine::record_waiting(const CollectiveInstance& instance, std::uint32_t last) {
    for (std::uint32_t p = 0; p < instance.members.size(); ++p) {
        const CollectiveInstance::Member& member = instance.members[p];
        if (member.since < queue_.now() && member.chunks_left > 0) {
            Span span;
            span.kind = SpanKind::Waiting;
            span.rank = RankId{instance.group().rank(p)};
            span.peer = RankId{instance.group().rank(last)};
            span.begin = member.since;
            span.end = queue_.now();
            context_.recorder->add(span);
        }
    }
}

void CollectiveEngine::leave(CollectiveInstance& instance, std::uint32_t position) {
    instance.end = queue_.now();
    instance.members[position].chunks_left = 0;
    ++instance.left;
    const bool last = instance.left == instance.members.size();
    // A barrier lets nobody go before all are through.
    if (instance.request.kind == CollectiveKind::Barrier) {
        if (last) {
            const auto members = instance.members;
            close(instance);
            for (const auto& member : members) {
                member.done();
            }
        }
        return;
    }
    const Callback done = instance.members[position].done;
    if (last) {
        close(instance);
    }
    done();
}

void CollectiveEngine::close(CollectiveInstance& instance) {
    finished_.push_back({instance.plan,
                         instance.sequence,
                         instance.request.bytes,
                         instance.total(),
                         instance.start,
                         instance.end});
    Group& group = groups_[index(instance.group().id())];
    auto& slot = group.open[static_cast<std::size_t>(instance.sequence - group.first_open)];
    free_instances_.push_back(slot);
    slot = kClosed;
    while (!group.open.empty() && group.open.front() == kClosed) {
        group.open.pop_front();
        ++group.first_open;
    }
}

std::vector<CollectiveRecord> CollectiveEngine::records() const {
    std::vector<CollectiveRecord> records;
    records.reserve(finished_.size());
    for (const Finished& finished : finished_) {
        records.push_back({finished.plan->group->name(),
                           finished.sequence,
                           finished.plan->key.kind,
                           finished.plan->algorithm,
                           finished.bytes,
                           finished.total,
                           finished.plan->members,
                           finished.start,
                           finished.end});
    }
    return records;
}

}  // namespace astra
