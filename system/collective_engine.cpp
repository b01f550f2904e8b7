#include "system/collective_engine.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

namespace {

constexpr std::uint32_t kNoRun = 0xffffffffU;

DimensionQueues::Limits limits_of(const Topology& topology,
                                  const SystemConfig& config,
                                  bool pass_younger) {
    return {
        topology.dimensions(), config.queues, config.active_chunks, config.patience, pass_younger};
}

}  // namespace

CollectiveEngine::CollectiveEngine(EventQueue& queue,
                                   NetworkBackend& network,
                                   const Topology& topology,
                                   const SystemConfig& config,
                                   Warnings& warnings,
                                   bool pass_younger)
    : queue_(queue),
      topology_(topology),
      config_(config),
      warnings_(warnings),
      context_{queue,
               network,
               config.endpoint_delay,
               TransferClock(config.local_memory_bandwidth),
               config.rendezvous},
      queues_(queue, *this, topology.ranks(), limits_of(topology, config, pass_younger)) {}

GroupId CollectiveEngine::add_group(std::string name, std::vector<std::uint32_t> ranks) {
    const GroupId id{static_cast<std::uint32_t>(groups_.size())};
    Group group;
    group.joined.resize(ranks.size());
    group.group = std::make_unique<ProcessGroup>(id, std::move(name), std::move(ranks), topology_);
    groups_.push_back(std::move(group));
    return id;
}

const CollectivePlan& CollectiveEngine::plan_for(Group& group, const PlanKey& key) {
    auto& plan = group.plans[key];
    if (!plan) {
        plan = std::make_unique<CollectivePlan>(make_plan(*group.group, key, config_, warnings_));
    }
    return *plan;
}

void CollectiveEngine::prepare(GroupId id, const PlanKey& key) {
    plan_for(groups_[index(id)], key);
}

void CollectiveEngine::join(GroupId id,
                            std::uint32_t position,
                            const CollectiveRequest& request,
                            Callback done) {
    Group& group = groups_[index(id)];
    CollectiveInstance& instance = instance_for(group, position, request);
    auto& member = instance.members[position];
    member.joined = true;
    member.done = done;
    member.chunks_left = instance.chunks;
    ++instance.joined;
    const auto number = static_cast<std::uint64_t>(
        group.open[static_cast<std::size_t>(instance.sequence - group.first_open)]);
    if (instance.plan->measured != nullptr) {
        if (instance.joined == instance.members.size()) {
            const Duration time = instance.plan->measured->at(instance.total());
            for (std::uint64_t p = 0; p < instance.members.size(); ++p) {
                queue_.schedule_after(
                    time,
                    Callback::to<&CollectiveEngine::leave_at_once>(*this, (number << 32) | p));
            }
        }
        return;
    }
    if (instance.plan->phases.empty()) {
        queue_.schedule_after(
            {}, Callback::to<&CollectiveEngine::leave_at_once>(*this, (number << 32) | position));
        return;
    }
    for (std::uint32_t chunk = 0; chunk < instance.chunks; ++chunk) {
        const ChunkAt at{&instance, position, chunk};
        const std::uint32_t queue = queue_index(at);
        queues_.add(queue, at);
    }
    // All chunks are there before the first one starts. The first ones are in all queues of the
    // dimension.
    const std::uint32_t rank = instance.group().rank(position);
    const std::uint32_t dimension = instance.plan->digits[instance.plan->phases[0].digit].dimension;
    for (std::uint32_t chunk = 0; chunk < std::min(instance.chunks, config_.queues); ++chunk) {
        queues_.top_up(queues_.index_of(rank, dimension, queue_of(instance, 0, chunk)));
    }
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
    const CollectivePlan& plan = plan_for(group, request.plan_key());
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
    instance.priority = config_.scheduling == SystemConfig::Scheduling::Lifo   ? instance.created
                        : config_.scheduling == SystemConfig::Scheduling::Fifo ? ~instance.created
                                                                               : request.priority;
    // No chunk is so small that a rank's part of it would be empty.
    const std::uint64_t parts =
        request.bytes.count / (request.bytes_are_a_shard ? 1 : plan.members);
    instance.chunks =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, config_.chunks));
    instance.start = queue_.now();
    instance.joined = 0;
    instance.left = 0;
    instance.members.assign(group.group->size(), {});
    instance.phase.assign(std::size_t{instance.chunks} * group.group->size(), 0);
    instance.runs.assign(std::size_t{instance.chunks} * plan.runs_a_chunk, kNoRun);
    group.open.push_back(number);
    return instance;
}

void CollectiveEngine::check_same(const CollectiveInstance& instance,
                                  std::uint32_t rank,
                                  const CollectiveRequest& request) const {
    const CollectiveRequest& first = instance.request;
    if (first.plan_key() == request.plan_key() && first.bytes == request.bytes) {
        return;
    }
    const auto ask = [](const CollectiveRequest& r) {
        std::string text = fmt::format("{} of {} B", name_of(r.kind), r.bytes.count);
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

// The ways up and down of an all_reduce have queues of their own as far as there are enough.
std::uint32_t CollectiveEngine::queue_of(const CollectiveInstance& instance,
                                         std::uint32_t phase,
                                         std::uint32_t chunk) const {
    const bool local =
        instance.plan->key.kind == CollectiveKind::AllReduce &&
        config_.all_reduce_shape == SystemConfig::AllReduceShape::LocalBandwidthAware;
    if (!local || config_.queues == 1) {
        return chunk % config_.queues;
    }
    const std::uint32_t up = config_.queues / 2;
    return instance.plan->phases[phase].returning ? up + chunk % (config_.queues - up) : chunk % up;
}

std::uint32_t CollectiveEngine::queue_index(const ChunkAt& at) const {
    const CollectivePlan& plan = *at.instance->plan;
    const std::uint32_t phase = at.instance->phase_of(at.chunk, at.position);
    return queues_.index_of(plan.group->rank(at.position),
                            plan.digits[plan.phases[phase].digit].dimension,
                            queue_of(*at.instance, phase, at.chunk));
}

std::uint32_t CollectiveEngine::run_index(const ChunkAt& at) const {
    const CollectivePlan& plan = *at.instance->plan;
    const std::uint32_t phase = at.instance->phase_of(at.chunk, at.position);
    return at.chunk * plan.runs_a_chunk + plan.phases[phase].first_run +
           plan.subgroup(phase, at.position);
}

void CollectiveEngine::start_chunk(const ChunkAt& at) {
    RunSlot& slot = open_run(at);
    slot.run.start(at.instance->plan->member(slot.phase, at.position));
}

bool CollectiveEngine::peers_have_come(const ChunkAt& at) const {
    const std::uint32_t run = at.instance->runs[run_index(at)];
    return run != kNoRun && runs_[run].run.everyone_started();
}

CollectiveEngine::RunSlot& CollectiveEngine::open_run(const ChunkAt& at) {
    CollectiveInstance& instance = *at.instance;
    std::uint32_t& number = instance.runs[run_index(at)];
    if (number != kNoRun) {
        return runs_[number];
    }
    if (free_runs_.empty()) {
        free_runs_.push_back(static_cast<std::uint32_t>(runs_.size()));
        runs_.emplace_back();
    }
    number = free_runs_.back();
    free_runs_.pop_back();
    const CollectivePlan& plan = *instance.plan;
    RunSlot& slot = runs_[number];
    slot.instance = &instance;
    slot.chunk = at.chunk;
    slot.phase = instance.phase_of(at.chunk, at.position);
    slot.subgroup = plan.subgroup(slot.phase, at.position);
    const std::uint32_t queue = queue_of(instance, slot.phase, at.chunk);
    // As in ASTRA-sim, the upper half of the queues runs rings the other way round, so that both
    // directions of the links are used; not the ways up and down of an all_reduce, which have
    // queues of their own.
    const bool one_way =
        plan.phases[slot.phase].returning ||
        (plan.key.kind == CollectiveKind::AllReduce && !plan.phases[slot.phase].whole);
    const bool reversed = !one_way && queue >= (config_.queues + 1) / 2;
    const Program& program = program_for(plan, slot.phase, at.chunk, reversed);
    std::vector<std::uint32_t> ranks(program.members());
    for (std::uint32_t member = 0; member < ranks.size(); ++member) {
        ranks[member] = plan.group->rank(plan.position(slot.phase, slot.subgroup, member));
    }
    slot.run.begin(context_,
                   *this,
                   number,
                   program,
                   std::move(ranks),
                   plan.phase_bytes(slot.phase, at.position, instance.chunk_bytes(at.chunk)));
    return slot;
}

const Program& CollectiveEngine::program_for(const CollectivePlan& plan,
                                             std::uint32_t phase,
                                             std::uint32_t chunk,
                                             bool reversed) {
    const PhasePlan& phase_plan = plan.phases[phase];
    const CollectiveAlgorithm& algorithm = *phase_plan.choice.algorithm;
    ProgramShape shape;
    shape.kind = phase_plan.kind;
    shape.members = plan.digits[phase_plan.digit].size;
    shape.parameter = phase_plan.choice.parameter;
    shape.variant = chunk % algorithm.variants;
    shape.root = plan.key.root;
    shape.reversed = reversed;
    auto& program = programs_[{algorithm.name, shape}];
    if (!program) {
        program = std::make_unique<const Program>(make_program(algorithm, shape));
    }
    return *program;
}

void CollectiveEngine::member_finished(CollectiveRun& run, std::uint32_t member) {
    const auto number = static_cast<std::uint32_t>(run.id());
    RunSlot& slot = runs_[number];
    CollectiveInstance& instance = *slot.instance;
    const ChunkAt at{
        &instance, instance.plan->position(slot.phase, slot.subgroup, member), slot.chunk};
    const std::uint32_t left_queue = queue_index(at);
    queues_.leave(left_queue, at);
    if (run.everyone_finished()) {
        instance.runs[run_index(at)] = kNoRun;
        free_runs_.push_back(number);
    }
    if (++instance.phase_of(at.chunk, at.position) < instance.plan->phases.size()) {
        const std::uint32_t next_queue = queue_index(at);
        queues_.add(next_queue, at);
        queues_.top_up(left_queue);
        if (next_queue != left_queue) {
            queues_.top_up(next_queue);
        }
        return;
    }
    queues_.top_up(left_queue);
    if (--instance.members[at.position].chunks_left == 0) {
        leave(instance, at.position);
    }
}

void CollectiveEngine::leave_at_once(std::uint64_t argument) {
    leave(instances_[argument >> 32], static_cast<std::uint32_t>(argument));
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
