#include "system/collective_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

namespace {

bool is_flat_kind(CollectiveKind kind) {
    return has_root(kind) || kind == CollectiveKind::Barrier;
}

// What the algorithms know a kind as: their blocks are equal anyway.
CollectiveKind program_kind(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
}

bool all_equal(const std::vector<std::string>& names) {
    return std::all_of(
        names.begin(), names.end(), [&](const std::string& name) { return name == names.front(); });
}

// The algorithm of a group that runs flat, out of a list with one entry a dimension.
std::string flat_name(const ProcessGroup& group,
                      CollectiveKind kind,
                      const std::vector<std::string>& names,
                      Warnings& warnings) {
    if (all_equal(names)) {
        return names.front();
    }
    if (group.spanned().size() <= 1) {
        return names[group.flat_digit().dimension];
    }
    warnings.add(
        fmt::format("group '{}' covers part of {} dimensions: its {} runs as one ring over its "
                    "{} ranks",
                    group.name(),
                    group.spanned().size(),
                    name_of(kind),
                    group.size()));
    return "ring";
}

class PlanMaker {
  public:
    PlanMaker(const ProcessGroup& group,
              const PlanKey& key,
              const SystemConfig& config,
              Warnings& warnings)
        : group_(group), config_(config), warnings_(warnings) {
        plan_.key = key;
        plan_.group = &group;
    }

    CollectivePlan make() {
        const auto kind = static_cast<std::size_t>(plan_.key.kind);
        const auto& algorithms = config_.algorithms[kind];
        if (algorithms.names.empty()) {
            throw ConfigError(fmt::format(
                "group '{}' runs {}, for which system.collectives.{} names no algorithm",
                group_.name(),
                name_of(plan_.key.kind),
                name_of(plan_.key.kind)));
        }
        choose_digits(algorithms.names);
        for (const auto& digit : plan_.digits) {
            plan_.members *= digit.size;
        }
        if (plan_.digits.empty()) {
            plan_.algorithm = "none";
            return plan_;
        }
        const AlgorithmChoice first = parse_algorithm(names_.front());
        if (first.measured) {
            plan_.measured = &*config_.measured[kind];
            plan_.algorithm = names_.front();
            return plan_;
        }
        add_phases();
        for (const std::string& name : used_) {
            plan_.algorithm += (plan_.algorithm.empty() ? "" : "+") + name;
        }
        return plan_;
    }

  private:
    // Fills the plan's digits, and names_ with an algorithm for each.
    void choose_digits(const std::vector<std::string>& names) {
        const bool one_name = names.size() == 1;
        const AlgorithmChoice first = parse_algorithm(names.front());
        const bool flat = is_flat_kind(plan_.key.kind) || first.flat || first.measured;
        if (group_.size() == 1) {
            return;
        }
        if (flat || !group_.is_grid()) {
            plan_.digits = {group_.flat_digit()};
            names_ = {flat ? names.front() : flat_name(group_, plan_.key.kind, names, warnings_)};
            return;
        }
        for (const auto& digit : group_.digits()) {
            const bool involved =
                digit.dimension >= 32 || (plan_.key.dimensions >> digit.dimension & 1U) != 0;
            if (involved) {
                plan_.digits.push_back(digit);
                names_.push_back(one_name ? names.front() : names[digit.dimension]);
            }
        }
    }

    void add_phases() {
        const auto digits = static_cast<std::uint32_t>(plan_.digits.size());
        const CollectiveKind kind = program_kind(plan_.key.kind);
        const bool local =
            config_.all_reduce_shape == SystemConfig::AllReduceShape::LocalBandwidthAware;
        if (kind == CollectiveKind::AllReduce && local) {
            for (std::uint32_t d = 0; d + 1 < digits; ++d) {
                add_phase(d, CollectiveKind::ReduceScatter, false, false);
            }
            add_phase(digits - 1, kind, false, false);
            for (std::uint32_t d = digits - 1; d-- > 0;) {
                add_phase(d, CollectiveKind::AllGather, true, false);
            }
        } else if (kind == CollectiveKind::AllGather) {
            for (std::uint32_t d = digits; d-- > 0;) {
                add_phase(d, kind, false, false);
            }
        } else {
            const bool whole =
                kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllToAll;
            for (std::uint32_t d = 0; d < digits; ++d) {
                add_phase(d, kind, false, whole);
            }
        }
    }

    void add_phase(std::uint32_t digit, CollectiveKind kind, bool returning, bool whole) {
        PhasePlan phase;
        phase.digit = digit;
        phase.kind = kind;
        phase.returning = returning;
        phase.whole = whole;
        phase.first_run = plan_.runs_a_chunk;
        const std::string& name = names_[digit];
        phase.choice = parse_algorithm(name);
        ProgramShape shape;
        shape.kind = kind;
        shape.members = plan_.digits[digit].size;
        shape.parameter = phase.choice.parameter;
        const std::string refusal = phase.choice.algorithm == nullptr
                                        ? "it has no phases"
                                        : phase.choice.algorithm->refusal(shape);
        if (!refusal.empty()) {
            throw AlgorithmRefused(fmt::format(
                "{}: algorithm '{}' cannot run {} over {} ranks of group '{}' (dimension {}): {}",
                config_.algorithms[static_cast<std::size_t>(plan_.key.kind)].where,
                name,
                name_of(kind == program_kind(plan_.key.kind) ? plan_.key.kind : kind),
                shape.members,
                group_.name(),
                plan_.digits[digit].dimension,
                refusal));
        }
        plan_.runs_a_chunk += group_.size() / shape.members;
        plan_.phases.push_back(phase);
        if (used_.empty() || used_.back() != name) {
            used_.push_back(name);
        }
    }

    const ProcessGroup& group_;
    const SystemConfig& config_;
    Warnings& warnings_;
    CollectivePlan plan_;
    std::vector<std::string> names_;
    std::vector<std::string> used_;
};

}  // namespace

Bytes CollectivePlan::phase_bytes(std::uint32_t phase, std::uint32_t position, Bytes chunk) const {
    Bytes bytes = chunk;
    if (!phases[phase].whole) {
        for (std::uint32_t d = 0; d < phases[phase].digit; ++d) {
            bytes = part_of(bytes, digits[d].size, position / digits[d].stride % digits[d].size);
        }
    }
    return bytes;
}

CollectivePlan make_plan(const ProcessGroup& group,
                         const PlanKey& key,
                         const SystemConfig& config,
                         Warnings& warnings) {
    return PlanMaker(group, key, config, warnings).make();
}

}  // namespace astra
