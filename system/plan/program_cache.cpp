#include "system/plan/program_cache.h"

#include "system/program/program_source.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

const Program& ProgramCache::program(const CollectivePlan& plan,
                                     const PhasePlan& phase,
                                     std::uint32_t chunk,
                                     bool reversed,
                                     const std::vector<std::uint32_t>& ranks,
                                     Bytes size) {
    const AlgorithmChoice& choice = phase.choice;
    Key key;
    key.shape = choice.shape(phase.kind, plan.dimension_of(phase).size);
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
            choice.source == nullptr
                ? make_program(*choice.algorithm, key.shape)
                : choice.source->make(
                      {key.shape, routing_, ranks, key.size, endpoint_.delay, endpoint_.memory}));
    }
    return *program;
}

const PhaseLoad& ProgramCache::of(CollectivePlan& plan, const PhasePlan& phase, Bytes size) {
    const auto [known, is_new] = plan.loads.try_emplace({phase.dimension, phase.kind});
    if (is_new) {
        const std::vector<std::uint32_t> ranks = plan.ranks(phase, 0);
        known->second = phase_load(
            program(plan, phase, 0, false, ranks, size), ranks, routing_, endpoint_.delay);
    }
    return known->second;
}

}  // namespace astra
