#include "system/engine/phase_runs.h"

#include <utility>

namespace astra {

namespace {

constexpr std::uint32_t kMostDimensions = 32;

}  // namespace

void PhaseRuns::start_chunk(const ChunkAt& at) {
    at.instance->hear(at.position, behind_);
    PhaseRun& phase = open(at);
    const Recorder::Because because(
        context_.recorder, context_.recorder == nullptr ? kNoCause : begin_span(at, phase));
    phase.run.start(phase.dimension->member(at.position));
}

bool PhaseRuns::peers_have_come(const ChunkAt& at) const {
    const std::uint32_t number = at.instance->runs[run_index(at)];
    return number != kNoRun && runs_[number].run.everyone_started();
}

PhaseRuns::PhaseRun& PhaseRuns::open(const ChunkAt& at) {
    CollectiveInstance& instance = *at.instance;
    const std::size_t run = run_index(at);
    std::uint32_t& number = instance.runs[run];
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
    const std::uint32_t phase_number = at.phase();
    const ChunkPhases& phases = instance.phases(at.chunk);
    const PhasePlan& phase_plan = phases.plans[phase_number];
    PhaseRun& phase = runs_[number];
    phase.instance = &instance;
    phase.index = run;
    phase.chunk = at.chunk;
    phase.dimension = &plan.dimension_of(phase_plan);
    phase.subgroup = phase.dimension->subgroup(at.position);
    const bool reversed = instance.is_reversed(at.chunk, phase_plan, queues_);
    std::vector<std::uint32_t> ranks = plan.ranks(phase_plan, phase.subgroup);
    const Bytes size =
        plan.phase_bytes(phases, phase_number, at.position, instance.chunk_bytes(at.chunk));
    const Program& program = programs_.program(plan, phase_plan, at.chunk, reversed, ranks, size);
    // What a group runs over one dimension has its own connections.
    const std::uint32_t communicator =
        index(instance.group().id()) * kMostDimensions + phase.dimension->of_topology;
    phase.run.begin(
        context_, owner_, number, program, std::move(ranks), size, phase_plan.costs, communicator);
    phase.run.follow(instance.out_of_step);
    if (!instance.pairs.empty()) {
        phase.run.set_pairs(
            {&instance.pairs, at.chunk, static_cast<std::uint32_t>(instance.chunks.size())});
    }
    return phase;
}

Cause PhaseRuns::begin_span(const ChunkAt& at, const PhaseRun& run) {
    CollectiveInstance& instance = *at.instance;
    const PhasePlan& plan = at.phase_plan();
    Span span;
    span.kind = SpanKind::Phase;
    span.rank = RankId{instance.group().rank(at.position)};
    span.number = instance.sequence;
    span.name = name_of(plan.kind);
    span.detail = plan.choice.name;
    span.group = instance.group().name();
    span.chunk = at.chunk;
    span.phase = at.phase();
    span.dimension = run.dimension->of_topology;
    return instance.span_of(at.chunk, at.position) = context_.recorder->begin(span);
}

}  // namespace astra
