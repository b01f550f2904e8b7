#include "system/engine/chunk_pipeline.h"

#include <set>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

namespace {

// Chunks at ranks, each of which costs some 30 bytes.
constexpr std::uint64_t kMostChunksAtRanks = std::uint64_t{1} << 27U;

}  // namespace

ChunkPipeline::ChunkPipeline(RunContext& context,
                             const Topology& topology,
                             const EngineConfig& config,
                             ProgramCache& programs,
                             CollectiveRelease& release,
                             OrderRehearsal& orders,
                             bool pass_younger)
    : context_(context),
      config_(config),
      programs_(programs),
      release_(release),
      orders_(orders),
      runs_(context, programs, config.queues.queues, *this),
      queues_(context.queue,
              runs_,
              topology.ranks(),
              {topology.dimensions(),
               config.queues.queues,
               config.queues.active_chunks,
               config.queues.chunk_order,
               config.queues.patience,
               pass_younger}) {}

void ChunkPipeline::cut(CollectiveInstance& instance, CollectivePlan& plan) {
    const AskedSize size = instance.request.size();
    const std::uint64_t chunks =
        plan.has_phases() ? size.chunks(plan.members, config_.plan.chunks) : 1;
    if (chunks * instance.members.size() > kMostChunksAtRanks) {
        throw InputError(
            fmt::format("group '{}', collective {}: {} chunks (system.chunks) at {} "
                        "ranks are more than the {} that can be simulated",
                        plan.group->name(),
                        instance.sequence,
                        chunks,
                        instance.members.size(),
                        kMostChunksAtRanks));
    }
    instance.chunks.assign(chunks, {});
    std::size_t runs = 0;
    if (plan.has_phases()) {
        const auto sequences = orders_.order_of(instance).orders(
            {plan, instance.chunks.size(), instance.chunk_bytes(0), programs_});
        for (std::size_t chunk = 0; chunk < sequences.size(); ++chunk) {
            const ChunkPhases& phases = plan.phases(sequences[chunk]);
            instance.chunks[chunk] = {&phases, runs};
            runs += phases.runs;
        }
    }
    instance.phase.assign(instance.chunks.size() * instance.members.size(), 0);
    instance.spans.assign(context_.recorder == nullptr ? 0 : instance.phase.size(), kNoCause);
    instance.runs.assign(runs, PhaseRuns::kNoRun);
}

std::uint32_t ChunkPipeline::queue_index(const ChunkAt& at) const {
    const CollectiveInstance& instance = *at.instance;
    const PhasePlan& phase = at.phase_plan();
    return queues_.index_of(instance.group().rank(at.position),
                            instance.plan->dimension_of(phase).of_topology,
                            instance.queue_of(at.chunk, phase, config_.queues.queues));
}

void ChunkPipeline::enter(CollectiveInstance& instance, std::uint32_t position) {
    // All chunks are there before the first one starts.
    std::set<std::uint32_t> queues;
    for (std::uint32_t chunk = 0; chunk < instance.chunks.size(); ++chunk) {
        const ChunkAt at{&instance, position, chunk};
        const std::uint32_t queue = queue_index(at);
        queues_.add(queue, at);
        queues.insert(queue);
    }
    for (const std::uint32_t queue : queues) {
        queues_.top_up(queue);
    }
    if (instance.everyone_has_come() && instance.waiting > 0) {
        look_at_waiting(instance);
    }
}

// The last member has come, so that chunks may pass others at the ranks that came before.
void ChunkPipeline::look_at_waiting(CollectiveInstance& instance) {
    for (std::uint32_t position = 0; position < instance.members.size(); ++position) {
        std::set<std::uint32_t> queues;
        for (std::uint32_t chunk = 0; chunk < instance.chunks.size(); ++chunk) {
            const ChunkAt at{&instance, position, chunk};
            if (at.phase() < instance.phases(chunk).plans.size()) {
                queues.insert(queue_index(at));
            }
        }
        for (const std::uint32_t queue : queues) {
            queues_.everyone_has_come(queue);
        }
    }
}

void ChunkPipeline::member_finished(CollectiveRun& run, std::uint32_t member, bool left) {
    const ChunkAt at = runs_.chunk_of(run, member);
    CollectiveInstance& instance = *at.instance;
    const Cause span =
        context_.recorder == nullptr ? kNoCause : instance.span_of(at.chunk, at.position);
    if (context_.recorder != nullptr) {
        context_.recorder->end(span);
    }
    const Recorder::Because because(context_.recorder, span);
    const PhaseRuns::Behind behind(runs_, instance.members[at.position].heard);
    const std::uint32_t left_queue = queue_index(at);
    queues_.leave(left_queue, at);
    instance.members[at.position].sending += left ? 0 : 1;
    runs_.free_if_over(run);
    if (++instance.phase_of(at.chunk, at.position) < instance.phases(at.chunk).plans.size()) {
        const std::uint32_t next_queue = queue_index(at);
        queues_.add(next_queue, at);
        queues_.top_up(left_queue);
        if (next_queue != left_queue) {
            queues_.top_up(next_queue);
        }
        return;
    }
    queues_.top_up(left_queue);
    --instance.members[at.position].chunks_left;
    leave_if_done(instance, at.position);
}

// Under rendezvous messages do not wait for those before them.
void ChunkPipeline::member_hears(CollectiveRun& run, std::uint32_t member, std::uint32_t sender) {
    const ChunkAt at = runs_.chunk_of(run, member);
    at.instance->hear_from(at.position, runs_.chunk_of(run, sender).position, !context_.rendezvous);
}

void ChunkPipeline::member_held(CollectiveRun& run, std::uint32_t member, std::uint32_t receiver) {
    const ChunkAt at = runs_.chunk_of(run, member);
    at.instance->hold(at.position, runs_.chunk_of(run, receiver).position);
}

void ChunkPipeline::member_follows(CollectiveRun& run, std::uint32_t member, std::uint32_t other) {
    const ChunkAt at = runs_.chunk_of(run, member);
    at.instance->follow(at.position, runs_.chunk_of(run, other).position);
}

// A chunk goes on to its next phase while what it has sent still leaves; the collective is done for
// a rank when all has left.
void ChunkPipeline::member_left(CollectiveRun& run, std::uint32_t member) {
    const ChunkAt at = runs_.chunk_of(run, member);
    CollectiveInstance& instance = *at.instance;
    --instance.members[at.position].sending;
    runs_.free_if_over(run);
    leave_if_done(instance, at.position);
}

void ChunkPipeline::leave_if_done(CollectiveInstance& instance, std::uint32_t position) {
    const CollectiveInstance::Member& member = instance.members[position];
    if (member.chunks_left == 0 && member.sending == 0) {
        release_.leave(instance, position);
    }
}

}  // namespace astra
