#include "system/plan/plan_maker.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "system/plan/dimension_order.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

bool is_flat_kind(CollectiveKind kind) {
    return has_root(kind) || kind == CollectiveKind::Barrier;
}

bool all_equal(const std::vector<AlgorithmChoice>& choices) {
    return std::all_of(choices.begin(), choices.end(), [&](const AlgorithmChoice& choice) {
        return choice.name == choices.front().name;
    });
}

// The algorithm of a group that runs flat, out of a list with one entry a dimension.
AlgorithmChoice flat_choice(const ProcessGroup& group,
                            CollectiveKind kind,
                            const std::vector<AlgorithmChoice>& choices,
                            Warnings& warnings) {
    if (all_equal(choices)) {
        return choices.front();
    }
    if (group.spanned().size() <= 1) {
        return choices[group.flat().of_topology];
    }
    warnings.add(
        fmt::format("group '{}' covers part of {} dimensions: its {} runs as one ring over its "
                    "{} ranks",
                    group.name(),
                    group.spanned().size(),
                    name_of(kind),
                    group.size()));
    return parse_algorithm("ring");
}

const NamedAlgorithms& algorithms_of(const PlanKey& key, const PlanConfig& config) {
    return key.node_algorithm > 0 ? config.algorithms.of_node(key.node_algorithm)
                                  : config.algorithms.of(key.kind);
}

class PlanMaker {
  public:
    PlanMaker(const ProcessGroup& group,
              const PlanKey& key,
              const AskedSize& size,
              const PlanConfig& config,
              Routing& routing,
              Tuner& tuner,
              Warnings& warnings)
        : group_(group),
          size_(size),
          config_(config),
          routing_(routing),
          tuner_(tuner),
          warnings_(warnings) {
        plan_.key = key;
        plan_.group = &group;
    }

    CollectivePlan make() {
        const NamedAlgorithms& named = algorithms();
        if (named.choices.empty()) {
            throw ConfigError(fmt::format(
                "group '{}' runs {}, for which system.collectives.{} names no algorithm",
                group_.name(),
                name_of(plan_.key.kind),
                name_of(plan_.key.kind)));
        }
        choose_dimensions(named.choices);
        for (const auto& dimension : plan_.dimensions) {
            plan_.members *= dimension.size;
        }
        if (plan_.dimensions.empty()) {
            plan_.algorithm = "none";
            return std::move(plan_);
        }
        if (plan_.choices.front().measured) {
            plan_.measured = config_.measured.of(plan_.key.kind);
            plan_.algorithm = plan_.choices.front().name;
            return std::move(plan_);
        }
        plan_.returns = plan_.key.kind == CollectiveKind::AllReduce &&
                        config_.all_reduce_shape == PlanConfig::AllReduceShape::LocalBandwidthAware;
        choose_by_size();
        std::string last;
        for (const PhasePlan& phase : plan_.phases(plan_.ascending()).plans) {
            check(phase);
            const auto chosen = plan_.chosen.find({phase.dimension, phase.kind});
            const std::string& name =
                chosen == plan_.chosen.end() ? phase.choice.name : chosen->second.name;
            if (last != name) {
                plan_.algorithm += (last.empty() ? "" : "+") + name;
            }
            last = name;
        }
        if (plan_.key.by_pair) {
            join_dimensions();
        }
        if (config_.dimension_order->varies && plan_.dimensions.size() > 1) {
            check_any_order();
        }
        return std::move(plan_);
    }

  private:
    const NamedAlgorithms& algorithms() const { return algorithms_of(plan_.key, config_); }

    // Fills the plan's dimensions, and an algorithm for each.
    void choose_dimensions(const std::vector<AlgorithmChoice>& choices) {
        const AlgorithmChoice& first = choices.front();
        const bool flat = is_flat_kind(plan_.key.kind) || first.flat || first.measured;
        if (group_.size() == 1) {
            return;
        }
        if (flat || !group_.is_grid()) {
            plan_.dimensions = {group_.flat()};
            plan_.choices = {flat ? first
                                  : flat_choice(group_, plan_.key.kind, choices, warnings_)};
            return;
        }
        for (const auto& dimension : group_.dimensions()) {
            const bool involved = dimension.of_topology >= 32 ||
                                  (plan_.key.dimensions >> dimension.of_topology & 1U) != 0;
            if (involved) {
                plan_.dimensions.push_back(dimension);
                plan_.choices.push_back(choices.size() == 1 ? first
                                                            : choices[dimension.of_topology]);
            }
        }
    }

    // A message of a phase carries blocks of several pairs: only a program over all ranks knows of
    // which. It is the one that has the dimensions as its levels.
    void join_dimensions() {
        if (plan_.members != group_.size()) {
            throw ConfigError(fmt::format(
                "group '{}': an all_to_all with a size for each pair runs over all {} ranks of it, "
                "not over {} in some dimensions",
                group_.name(),
                group_.size(),
                plan_.members));
        }
        AlgorithmChoice whole = parse_algorithm("hierarchical");
        whole.name = plan_.algorithm;
        for (std::size_t i = 0; i < plan_.dimensions.size(); ++i) {
            const AlgorithmChoice& choice = plan_.choices[i];
            const bool can_be_level =
                choice.algorithm != nullptr && choice.algorithm->levels == nullptr;
            if (choice.source != nullptr || (plan_.dimensions.size() > 1 && !can_be_level)) {
                throw AlgorithmRefused(
                    where(),
                    fmt::format(
                        "algorithm '{}' cannot run an all_to_all with a size for each pair{}",
                        choice.name,
                        choice.source != nullptr ? "" : " in one of several dimensions"));
            }
            if (can_be_level) {
                whole.levels.push_back(
                    {plan_.dimensions[i].size, index_of(*choice.algorithm), choice.parameter});
            }
        }
        if (plan_.dimensions.size() > 1) {
            plan_.dimensions = {group_.flat()};
            plan_.choices = {whole};
            plan_.chosen.clear();
            check(plan_.phases(plan_.ascending()).plans.front());
        }
    }

    // Any dimension may come first or last.
    void check_any_order() const {
        for (std::uint32_t dimension = 0; dimension < plan_.dimensions.size(); ++dimension) {
            PhasePlan phase;
            phase.dimension = dimension;
            phase.choice = plan_.choices[dimension];
            phase.kind = kind_of_phases(plan_.key.kind);
            check(phase, true);
            if (plan_.returns) {
                for (const auto kind : {CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
                    phase.kind = kind;
                    check(phase, true);
                }
            }
        }
    }

    // Fills `chosen` for every kind that a dimension may have to run, at the size that it has when
    // the dimensions are visited in their order.
    void choose_by_size() {
        const CollectiveKind kind = kind_of_phases(plan_.key.kind);
        std::vector<CollectiveKind> kinds{kind};
        if (plan_.returns) {
            kinds = {kind, CollectiveKind::ReduceScatter, CollectiveKind::AllGather};
        }
        const bool whole = kind == CollectiveKind::AllToAll ||
                           (kind == CollectiveKind::AllReduce && !plan_.returns);
        const Bytes buffer = size_.buffer(plan_.members);
        Bytes left = part_of(buffer, size_.chunks(plan_.members, config_.chunks), 0);
        for (std::uint32_t dimension = 0; dimension < plan_.dimensions.size(); ++dimension) {
            if (tuner_.depends_on_size(plan_.choices[dimension])) {
                for (const CollectiveKind phase_kind : kinds) {
                    choose(dimension, phase_kind, left, buffer);
                }
            }
            left = whole ? left : part_of(left, plan_.dimensions[dimension].size, 0);
        }
    }

    void choose(std::uint32_t dimension, CollectiveKind kind, Bytes size, Bytes buffer) {
        PhasePlan phase;
        phase.dimension = dimension;
        phase.kind = kind;
        const std::vector<std::uint32_t> ranks = plan_.ranks(phase, 0);
        const ProgramShape shape = shape_of(phase);
        PhaseChoice& chosen = plan_.chosen[{dimension, kind}];
        const Tuner::Pick pick =
            tuner_.pick(plan_.choices[dimension], {shape, ranks, size, buffer}, chosen.refusal);
        if (chosen.refusal.empty()) {
            chosen.algorithm = pick.choice;
            chosen.costs = message_costs(*pick.choice.algorithm, shape, pick.protocol);
            chosen.name = pick.name();
        } else {
            chosen.algorithm = plan_.choices[dimension];
        }
    }

    ProgramShape shape_of(const PhasePlan& phase) const {
        ProgramShape shape;
        shape.kind = phase.kind;
        shape.members = plan_.dimension_of(phase).size;
        shape.root = plan_.key.root;
        return shape;
    }

    void check(const PhasePlan& phase, bool in_any_order = false) const {
        const std::uint32_t members = plan_.dimension_of(phase).size;
        const std::string refusal = refusal_of(phase);
        if (!refusal.empty()) {
            const CollectiveKind asked = plan_.key.kind;
            throw AlgorithmRefused(
                where(),
                fmt::format(
                    "algorithm '{}' cannot run {} over {} ranks of group '{}' (dimension {}): {}{}",
                    phase.choice.name,
                    name_of(phase.kind == kind_of_phases(asked) ? asked : phase.kind),
                    members,
                    group_.name(),
                    plan_.dimension_of(phase).of_topology,
                    refusal,
                    in_any_order ? fmt::format("; with system.dimension_order '{}' any dimension "
                                               "may come first or last",
                                               config_.dimension_order->name)
                                 : ""));
        }
    }

    std::string refusal_of(const PhasePlan& phase) const {
        const auto chosen = plan_.chosen.find({phase.dimension, phase.kind});
        if (chosen != plan_.chosen.end()) {
            return chosen->second.refusal;
        }
        ProgramShape shape = shape_of(phase);
        if (phase.choice.algorithm != nullptr) {
            return tuner_.refusal(phase.choice, {shape, plan_.ranks(phase, 0), {}, {}});
        }
        shape.parameter = phase.choice.parameter;
        shape.levels = phase.choice.levels;
        if (phase.choice.source == nullptr) {
            return "it has no phases";
        }
        const std::uint32_t groups =
            phase.choice.source->depends_on_ranks() ? group_.size() / shape.members : 1;
        std::string refusal;
        for (std::uint32_t subgroup = 0; subgroup < groups && refusal.empty(); ++subgroup) {
            const std::vector<std::uint32_t> ranks = plan_.ranks(phase, subgroup);
            refusal = phase.choice.source->refusal({shape, routing_, ranks, {}, {}, {}}, warnings_);
        }
        return refusal;
    }

    const std::string& where() const { return algorithms().where; }

    const ProcessGroup& group_;
    AskedSize size_;
    const PlanConfig& config_;
    Routing& routing_;
    Tuner& tuner_;
    Warnings& warnings_;
    CollectivePlan plan_;
};

}  // namespace

bool plan_depends_on_size(const PlanKey& key, const PlanConfig& config, const Tuner& tuner) {
    const auto& choices = algorithms_of(key, config).choices;
    return std::any_of(choices.begin(), choices.end(), [&](const AlgorithmChoice& choice) {
        return tuner.depends_on_size(choice);
    });
}

CollectivePlan make_plan(const ProcessGroup& group,
                         const PlanKey& key,
                         const AskedSize& size,
                         const PlanConfig& config,
                         Routing& routing,
                         Tuner& tuner,
                         Warnings& warnings) {
    return PlanMaker(group, key, size, config, routing, tuner, warnings).make();
}

}  // namespace astra
