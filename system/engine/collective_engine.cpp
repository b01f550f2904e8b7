#include "system/engine/collective_engine.h"

#include <utility>

namespace astra {

namespace {

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
                                   const Options& options)
    : config_(config),
      topology_(routing.topology()),
      tuner_(routing, backend, network_keys, config.plan.tuning, config.endpoint),
      context_{queue,
               network,
               config.endpoint.delay,
               TransferClock(config.endpoint.memory),
               config.endpoint.sends_in_order && backend.shares_links(),
               config.endpoint.run_ahead,
               config.endpoint.rendezvous},
      plans_(config.plan, routing, tuner_, warnings),
      programs_(routing, config.endpoint),
      need_(routing, programs_, config.queues.queues, backend.shares_links()),
      release_(context_, matching_, need_),
      orders_(routing, backend, network_keys, config, options.only_order),
      pipeline_(context_, topology_, config, programs_, release_, orders_, options.pass_younger) {}

GroupId CollectiveEngine::add_group(std::string name, std::vector<std::uint32_t> ranks) {
    const GroupId id{static_cast<std::uint32_t>(groups_.size())};
    matching_.add_group();
    groups_.push_back(
        std::make_unique<ProcessGroup>(id, std::move(name), std::move(ranks), topology_));
    return id;
}

void CollectiveEngine::join(GroupId id,
                            std::uint32_t position,
                            const CollectiveRequest& request,
                            Callback done) {
    const CollectiveMatching::Arrival arrival =
        matching_.come(group(id), position, request, context_.queue.now());
    CollectiveInstance& instance = arrival.instance;
    if (arrival.is_first) {
        begin(instance);
    }
    CollectiveInstance::Member& member = instance.members[position];
    member.done = done;
    member.chunks_left = static_cast<std::uint32_t>(instance.chunks.size());
    if (context_.recorder != nullptr && instance.everyone_has_come()) {
        instance.last_joined = context_.recorder->current();
        record_waiting(instance, position);
    }
    if (instance.plan->measured != nullptr) {
        if (instance.everyone_has_come()) {
            const Duration time = measured_time(instance);
            for (std::uint32_t p = 0; p < instance.members.size(); ++p) {
                instance.hear(p, instance.last);
                release_.leave_after(time, instance, p);
            }
        }
    } else if (!instance.plan->has_phases()) {
        release_.leave_after({}, instance, position);
    } else {
        pipeline_.enter(instance, position);
    }
}

void CollectiveEngine::begin(CollectiveInstance& instance) {
    CollectivePlan& plan = plan_for(instance.group(), instance.request);
    instance.plan = &plan;
    instance.priority = priority_of(instance, config_.queues.scheduling);
    pipeline_.cut(instance, plan);
}

Duration CollectiveEngine::measured_time(const CollectiveInstance& instance) const {
    return config_.plan.measured.with_noise(
        instance.plan->measured->at(instance.total()), instance.group().id(), instance.sequence);
}

// Until now everyone who had come waited for the last one.
void CollectiveEngine::record_waiting(const CollectiveInstance& instance, std::uint32_t last) {
    for (std::uint32_t p = 0; p < instance.members.size(); ++p) {
        const CollectiveInstance::Member& member = instance.members[p];
        if (member.since < context_.queue.now() && member.chunks_left > 0) {
            Span span;
            span.kind = SpanKind::Waiting;
            span.rank = RankId{instance.group().rank(p)};
            span.peer = RankId{instance.group().rank(last)};
            span.begin = member.since;
            span.end = context_.queue.now();
            context_.recorder->add(span);
        }
    }
}

}  // namespace astra
