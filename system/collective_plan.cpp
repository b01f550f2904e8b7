#include "system/collective_plan.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/dimension_order/dimension_order.h"

namespace astra {

namespace {

bool is_flat_kind(CollectiveKind kind) {
    return has_root(kind) || kind == CollectiveKind::Barrier;
}

// What the algorithms know a kind as: their blocks are equal anyway.
CollectiveKind program_kind(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
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
        return choices[group.flat_digit().dimension];
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

class ItineraryMaker {
  public:
    ItineraryMaker(const CollectivePlan& plan, const DigitOrder& order) : plan_(plan) {
        itinerary_.order = order;
    }

    Itinerary make() {
        const DigitOrder& order = itinerary_.order;
        const CollectiveKind kind = program_kind(plan_.key.kind);
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
            for (const std::uint32_t digit : order) {
                add(digit, kind).whole =
                    kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllToAll;
            }
        }
        return std::move(itinerary_);
    }

  private:
    PhasePlan& add(std::uint32_t digit, CollectiveKind kind) {
        PhasePlan& phase = itinerary_.phases.emplace_back();
        phase.digit = digit;
        phase.kind = kind;
        phase.choice = plan_.choices[digit];
        phase.first_run = itinerary_.runs;
        itinerary_.runs += plan_.group->size() / plan_.digits[digit].size;
        return phase;
    }

    const CollectivePlan& plan_;
    Itinerary itinerary_;
};

class PlanMaker {
  public:
    PlanMaker(const ProcessGroup& group,
              const PlanKey& key,
              const SystemConfig& config,
              Routing& routing,
              Warnings& warnings)
        : group_(group), config_(config), routing_(routing), warnings_(warnings) {
        plan_.key = key;
        plan_.group = &group;
    }

    CollectivePlan make() {
        const auto kind = static_cast<std::size_t>(plan_.key.kind);
        const SystemConfig::Algorithms& named = algorithms();
        if (named.choices.empty()) {
            throw ConfigError(fmt::format(
                "group '{}' runs {}, for which system.collectives.{} names no algorithm",
                group_.name(),
                name_of(plan_.key.kind),
                name_of(plan_.key.kind)));
        }
        choose_digits(named.choices);
        for (const auto& digit : plan_.digits) {
            plan_.members *= digit.size;
        }
        if (plan_.digits.empty()) {
            plan_.algorithm = "none";
            return std::move(plan_);
        }
        if (plan_.choices.front().measured) {
            plan_.measured = &*config_.measured[kind];
            plan_.algorithm = plan_.choices.front().name;
            return std::move(plan_);
        }
        plan_.returns =
            plan_.key.kind == CollectiveKind::AllReduce &&
            config_.all_reduce_shape == SystemConfig::AllReduceShape::LocalBandwidthAware;
        const std::string* last = nullptr;
        for (const PhasePlan& phase : plan_.itinerary(plan_.ascending()).phases) {
            const std::string& name = phase.choice.name;
            check(phase);
            if (last == nullptr || *last != name) {
                plan_.algorithm += (last == nullptr ? "" : "+") + name;
            }
            last = &name;
        }
        if (plan_.key.by_pair) {
            join_digits();
        }
        if (config_.dimension_order->varies && plan_.digits.size() > 1) {
            check_any_order();
        }
        return std::move(plan_);
    }

  private:
    const SystemConfig::Algorithms& algorithms() const {
        return plan_.key.own > 0 ? config_.own_algorithms[plan_.key.own - 1]
                                 : config_.algorithms[static_cast<std::size_t>(plan_.key.kind)];
    }

    // Fills the plan's digits, and an algorithm for each.
    void choose_digits(const std::vector<AlgorithmChoice>& choices) {
        const AlgorithmChoice& first = choices.front();
        const bool flat = is_flat_kind(plan_.key.kind) || first.flat || first.measured;
        if (group_.size() == 1) {
            return;
        }
        if (flat || !group_.is_grid()) {
            plan_.digits = {group_.flat_digit()};
            plan_.choices = {flat ? first
                                  : flat_choice(group_, plan_.key.kind, choices, warnings_)};
            return;
        }
        for (const auto& digit : group_.digits()) {
            const bool involved =
                digit.dimension >= 32 || (plan_.key.dimensions >> digit.dimension & 1U) != 0;
            if (involved) {
                plan_.digits.push_back(digit);
                plan_.choices.push_back(choices.size() == 1 ? first : choices[digit.dimension]);
            }
        }
    }

    // A message of a phase carries blocks of several pairs: only a program over all ranks knows of
    // which. It is the one that has the digits as its levels.
    void join_digits() {
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
        for (std::size_t i = 0; i < plan_.digits.size(); ++i) {
            const AlgorithmChoice& choice = plan_.choices[i];
            const bool can_be_level =
                choice.algorithm != nullptr && choice.algorithm->levels == nullptr;
            if (choice.source != nullptr || (plan_.digits.size() > 1 && !can_be_level)) {
                throw AlgorithmRefused(
                    where(),
                    fmt::format(
                        "algorithm '{}' cannot run an all_to_all with a size for each pair{}",
                        choice.name,
                        choice.source != nullptr ? "" : " in one of several dimensions"));
            }
            if (can_be_level) {
                whole.levels.push_back(
                    {plan_.digits[i].size, index_of(*choice.algorithm), choice.parameter});
            }
        }
        if (plan_.digits.size() > 1) {
            plan_.digits = {group_.flat_digit()};
            plan_.choices = {whole};
            check(plan_.itinerary(plan_.ascending()).phases.front());
        }
    }

    // Any digit may come first or last.
    void check_any_order() const {
        for (std::uint32_t digit = 0; digit < plan_.digits.size(); ++digit) {
            PhasePlan phase;
            phase.digit = digit;
            phase.choice = plan_.choices[digit];
            phase.kind = program_kind(plan_.key.kind);
            check(phase, true);
            if (plan_.returns) {
                for (const auto kind : {CollectiveKind::ReduceScatter, CollectiveKind::AllGather}) {
                    phase.kind = kind;
                    check(phase, true);
                }
            }
        }
    }

    void check(const PhasePlan& phase, bool in_any_order = false) const {
        const std::uint32_t members = plan_.digit_of(phase).size;
        const std::string refusal = refusal_of(phase);
        if (!refusal.empty()) {
            const CollectiveKind asked = plan_.key.kind;
            throw AlgorithmRefused(
                where(),
                fmt::format(
                    "algorithm '{}' cannot run {} over {} ranks of group '{}' (dimension {}): {}{}",
                    phase.choice.name,
                    name_of(phase.kind == program_kind(asked) ? asked : phase.kind),
                    members,
                    group_.name(),
                    plan_.digit_of(phase).dimension,
                    refusal,
                    in_any_order ? fmt::format("; with system.dimension_order '{}' any dimension "
                                               "may come at any place",
                                               config_.dimension_order->name)
                                 : ""));
        }
    }

    std::string refusal_of(const PhasePlan& phase) const {
        ProgramShape shape = phase.choice.shape(phase.kind, plan_.digit_of(phase).size);
        shape.root = plan_.key.root;
        if (phase.choice.algorithm != nullptr) {
            return phase.choice.algorithm->refusal(shape);
        }
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
    const SystemConfig& config_;
    Routing& routing_;
    Warnings& warnings_;
    CollectivePlan plan_;
};

}  // namespace

DigitOrder CollectivePlan::ascending() const {
    DigitOrder order(digits.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

const Itinerary& CollectivePlan::itinerary(const DigitOrder& order) {
    auto place = itineraries_.find(order);
    if (place == itineraries_.end()) {
        place = itineraries_.emplace(order, ItineraryMaker(*this, order).make()).first;
    }
    return place->second;
}

std::vector<std::uint32_t> CollectivePlan::ranks(const PhasePlan& phase,
                                                 std::uint32_t subgroup) const {
    const ProcessGroup::Digit& digit = digit_of(phase);
    std::vector<std::uint32_t> ranks(digit.size);
    for (std::uint32_t member = 0; member < digit.size; ++member) {
        ranks[member] = group->rank(digit.position(subgroup, member));
    }
    return ranks;
}

Bytes CollectivePlan::phase_bytes(const Itinerary& itinerary,
                                  std::uint32_t phase,
                                  std::uint32_t position,
                                  Bytes chunk) const {
    const PhasePlan& plan = itinerary.phases[phase];
    Bytes bytes = chunk;
    if (!plan.whole) {
        for (const std::uint32_t digit : itinerary.order) {
            if (digit == plan.digit) {
                break;
            }
            bytes = part_of(bytes, digits[digit].size, digits[digit].member(position));
        }
    }
    return bytes;
}

CollectivePlan make_plan(const ProcessGroup& group,
                         const PlanKey& key,
                         const SystemConfig& config,
                         Routing& routing,
                         Warnings& warnings) {
    return PlanMaker(group, key, config, routing, warnings).make();
}

}  // namespace astra
