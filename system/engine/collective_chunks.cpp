// How the collective engine takes the chunks of an instance through their phases.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/engine/collective_engine.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

constexpr std::uint32_t kNoRun = 0xffffffffU;
// Of chunks at ranks, each of which costs some 30 bytes.
constexpr std::uint64_t kMostPlaces = std::uint64_t{1} << 27U;

}  // namespace

void CollectiveEngine::cut(CollectiveInstance& instance, CollectivePlan& plan) {
    const AskedSize size = instance.request.size();
    const std::uint64_t chunks =
        plan.has_phases() ? size.chunks(plan.members, config_.plan.chunks) : 1;
    if (chunks * instance.members.size() > kMostPlaces) {
        throw InputError(
            fmt::format("group '{}', collective {}: {} chunks (system.chunks) at {} "
                        "ranks are more than the {} that can be simulated",
                        plan.group->name(),
                        instance.sequence,
                        chunks,
                        instance.members.size(),
                        kMostPlaces));
    }
    instance.chunks.assign(chunks, {});
    std::size_t runs = 0;
    if (plan.has_phases()) {
        const DimensionOrder& policy =
            plan.digits.size() > 1 ? *config_.plan.dimension_order : kAscendingDimensionOrder;
        const auto orders =
            policy.orders({plan, instance.chunks.size(), instance.chunk_bytes(0), *this});
        for (std::size_t chunk = 0; chunk < orders.size(); ++chunk) {
            const Itinerary& itinerary = plan.itinerary(orders[chunk]);
            instance.chunks[chunk] = {&itinerary, runs};
            runs += itinerary.runs;
        }
    }
    instance.phase.assign(instance.chunks.size() * instance.members.size(), 0);
    instance.spans.assign(context_.recorder == nullptr ? 0 : instance.phase.size(), kNoCause);
    instance.runs.assign(runs, kNoRun);
}

// As over the first subgroup of the digit.
const PhaseLoad& CollectiveEngine::of(CollectivePlan& plan, const PhasePlan& phase, Bytes size) {
    const auto [place, is_new] = plan.loads.try_emplace({phase.digit, phase.kind});
    if (is_new) {
        const std::vector<std::uint32_t> ranks = plan.ranks(phase, 0);
        const Program& program = program_for(plan, phase, 0, false, ranks, size);
        place->second = phase_load(program, ranks, routing_, config_.endpoint.delay);
    }
    return place->second;
}

// The ways up and down of an all_reduce have queues of their own as far as there are enough.
std::uint32_t CollectiveEngine::queue_of(const CollectiveInstance& instance,
                                         std::uint32_t phase,
                                         std::uint32_t chunk) const {
    if (!instance.plan->returns || config_.queues.queues == 1) {
        return chunk % config_.queues.queues;
    }
    const std::uint32_t up = config_.queues.queues / 2;
    return instance.itinerary(chunk).phases[phase].returning
               ? up + chunk % (config_.queues.queues - up)
               : chunk % up;
}

std::uint32_t CollectiveEngine::queue_index(const ChunkAt& at) const {
    const CollectiveInstance& instance = *at.instance;
    const std::uint32_t phase = at.instance->phase_of(at.chunk, at.position);
    const PhasePlan& plan = instance.itinerary(at.chunk).phases[phase];
    return queues_.index_of(instance.group().rank(at.position),
                            instance.plan->digit_of(plan).dimension,
                            queue_of(instance, phase, at.chunk));
}

std::size_t CollectiveEngine::run_index(const ChunkAt& at) const {
    const CollectiveInstance& instance = *at.instance;
    const std::uint32_t phase = at.instance->phase_of(at.chunk, at.position);
    const PhasePlan& plan = instance.itinerary(at.chunk).phases[phase];
    return instance.chunks[at.chunk].first_run + plan.first_run +
           instance.plan->digit_of(plan).subgroup(at.position);
}

void CollectiveEngine::start_chunk(const ChunkAt& at) {
    RunSlot& slot = open_run(at);
    const Recorder::Because because(
        context_.recorder, context_.recorder == nullptr ? kNoCause : begin_phase(at, slot));
    slot.run.start(slot.digit->member(at.position));
}

Cause CollectiveEngine::begin_phase(const ChunkAt& at, const RunSlot& slot) {
    CollectiveInstance& instance = *at.instance;
    const std::uint32_t phase = instance.phase_of(at.chunk, at.position);
    const PhasePlan& plan = instance.itinerary(at.chunk).phases[phase];
    Span span;
    span.kind = SpanKind::Phase;
    span.rank = RankId{instance.group().rank(at.position)};
    span.number = instance.sequence;
    span.name = name_of(plan.kind);
    span.detail = plan.choice.name;
    span.group = instance.group().name();
    span.chunk = at.chunk;
    span.phase = phase;
    span.dimension = slot.digit->dimension;
    return instance.span_of(at.chunk, at.position) = context_.recorder->begin(span);
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
    const Itinerary& itinerary = instance.itinerary(at.chunk);
    const std::uint32_t phase = instance.phase_of(at.chunk, at.position);
    const PhasePlan& phase_plan = itinerary.phases[phase];
    RunSlot& slot = runs_[number];
    slot.instance = &instance;
    slot.chunk = at.chunk;
    slot.digit = &plan.digit_of(phase_plan);
    slot.subgroup = slot.digit->subgroup(at.position);
    const std::uint32_t queue = queue_of(instance, phase, at.chunk);
    // As in ASTRA-sim, the upper half of the queues runs rings the other way round, so that both
    // directions of the links are used; not the ways up and down of an all_reduce, which have
    // queues of their own.
    const bool reversed = !plan.returns && queue >= (config_.queues.queues + 1) / 2;
    std::vector<std::uint32_t> ranks = plan.ranks(phase_plan, slot.subgroup);
    const Bytes size =
        plan.phase_bytes(itinerary, phase, at.position, instance.chunk_bytes(at.chunk));
    const Program& program = program_for(plan, phase_plan, at.chunk, reversed, ranks, size);
    slot.run.begin(context_, *this, number, program, std::move(ranks), size, phase_plan.costs);
    if (!instance.pairs.empty()) {
        slot.run.set_pairs(
            {&instance.pairs, at.chunk, static_cast<std::uint32_t>(instance.chunks.size())});
    }
    return slot;
}

const Program& CollectiveEngine::program_for(const CollectivePlan& plan,
                                             const PhasePlan& phase,
                                             std::uint32_t chunk,
                                             bool reversed,
                                             const std::vector<std::uint32_t>& ranks,
                                             Bytes size) {
    const AlgorithmChoice& choice = phase.choice;
    ProgramKey key;
    key.shape = choice.shape(phase.kind, plan.digit_of(phase).size);
    key.shape.root = plan.key.root;
    if (choice.source == nullptr) {
        key.origin = choice.algorithm;
        key.shape.variant = chunk % choice.algorithm->variants;
        key.shape.reversed = reversed;
    } else {
        key.origin = choice.source;
        key.size = choice.source->size_class(size);
        key.ranks = choice.source->depends_on_ranks() ? ranks : std::vector<std::uint32_t>{};
    }
    auto& program = programs_[key];
    if (!program) {
        program = std::make_unique<const Program>(
            choice.source == nullptr ? make_program(*choice.algorithm, key.shape)
                                     : choice.source->make({key.shape,
                                                            routing_,
                                                            ranks,
                                                            key.size,
                                                            config_.endpoint.delay,
                                                            config_.endpoint.memory}));
    }
    return *program;
}

void CollectiveEngine::member_finished(CollectiveRun& run, std::uint32_t member) {
    const auto number = static_cast<std::uint32_t>(run.id());
    RunSlot& slot = runs_[number];
    CollectiveInstance& instance = *slot.instance;
    const ChunkAt at{&instance, slot.digit->position(slot.subgroup, member), slot.chunk};
    const Cause span =
        context_.recorder == nullptr ? kNoCause : instance.span_of(at.chunk, at.position);
    if (context_.recorder != nullptr) {
        context_.recorder->end(span);
    }
    const Recorder::Because because(context_.recorder, span);
    const std::uint32_t left_queue = queue_index(at);
    queues_.leave(left_queue, at);
    if (run.everyone_finished()) {
        instance.runs[run_index(at)] = kNoRun;
        free_runs_.push_back(number);
    }
    if (++instance.phase_of(at.chunk, at.position) < instance.itinerary(at.chunk).phases.size()) {
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

}  // namespace astra
