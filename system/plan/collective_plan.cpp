#include "system/plan/collective_plan.h"

#include <numeric>
#include <utility>

#include "system/tuning/protocol.h"

namespace astra {

namespace {

class PhasesMaker {
  public:
    PhasesMaker(const CollectivePlan& plan, const DimensionSequence& order) : plan_(plan) {
        phases_.order = order;
    }

    ChunkPhases make() {
        const DimensionSequence& order = phases_.order;
        const CollectiveKind kind = kind_of_phases(plan_.key.kind);
        if (plan_.returns) {
            for (std::size_t i = 0; i + 1 < order.size(); ++i) {
                add(order[i], CollectiveKind::ReduceScatter);
            }
            add(order.back(), kind);
            for (std::size_t i = order.size() - 1; i-- > 0;) {
                add(order[i], CollectiveKind::AllGather).returning = true;
            }
        } else if (kind == CollectiveKind::AllGather) {
            for (std::size_t i = order.size(); i-- > 0;) {
                add(order[i], kind);
            }
        } else {
            for (const std::uint32_t dimension : order) {
                add(dimension, kind).whole =
                    kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllToAll;
            }
        }
        return std::move(phases_);
    }

  private:
    PhasePlan& add(std::uint32_t dimension, CollectiveKind kind) {
        PhasePlan& phase = phases_.plans.emplace_back();
        phase.dimension = dimension;
        phase.kind = kind;
        const auto chosen = plan_.chosen.find({dimension, kind});
        if (chosen != plan_.chosen.end()) {
            phase.choice = chosen->second.algorithm;
            phase.costs = chosen->second.costs;
        } else {
            phase.choice = plan_.choices[dimension];
            if (phase.choice.algorithm != nullptr) {
                ProgramShape shape;
                shape.kind = kind;
                shape.members = plan_.dimensions[dimension].size;
                phase.costs = message_costs(*phase.choice.algorithm, shape, nullptr);
            }
        }
        phase.first_run = phases_.runs;
        phases_.runs += plan_.group->size() / plan_.dimensions[dimension].size;
        return phase;
    }

    const CollectivePlan& plan_;
    ChunkPhases phases_;
};

}  // namespace

CollectiveKind kind_of_phases(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
}

DimensionSequence CollectivePlan::ascending() const {
    DimensionSequence order(dimensions.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

const ChunkPhases& CollectivePlan::phases(const DimensionSequence& order) {
    auto known = phases_.find(order);
    if (known == phases_.end()) {
        known = phases_.emplace(order, PhasesMaker(*this, order).make()).first;
    }
    return known->second;
}

std::vector<std::uint32_t> CollectivePlan::ranks(const PhasePlan& phase,
                                                 std::uint32_t subgroup) const {
    const ProcessGroup::Dimension& dimension = dimension_of(phase);
    std::vector<std::uint32_t> ranks(dimension.size);
    for (std::uint32_t member = 0; member < dimension.size; ++member) {
        ranks[member] = group->rank(dimension.position(subgroup, member));
    }
    return ranks;
}

Bytes CollectivePlan::phase_bytes(const ChunkPhases& phases,
                                  std::uint32_t phase,
                                  std::uint32_t position,
                                  Bytes chunk) const {
    const PhasePlan& plan = phases.plans[phase];
    Bytes bytes = chunk;
    if (!plan.whole) {
        for (const std::uint32_t dimension : phases.order) {
            if (dimension == plan.dimension) {
                break;
            }
            bytes =
                part_of(bytes, dimensions[dimension].size, dimensions[dimension].member(position));
        }
    }
    return bytes;
}

}  // namespace astra
