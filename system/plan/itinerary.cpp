// The phases of a plan's chunks.
#include <algorithm>
#include <numeric>
#include <utility>

#include "system/plan/collective_plan.h"

namespace astra {

namespace {

class ItineraryMaker {
  public:
    ItineraryMaker(const CollectivePlan& plan, const DigitOrder& order) : plan_(plan) {
        itinerary_.order = order;
    }

    Itinerary make() {
        const DigitOrder& order = itinerary_.order;
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
        const auto chosen = plan_.chosen.find({digit, kind});
        if (chosen != plan_.chosen.end()) {
            phase.choice = chosen->second.algorithm;
            phase.costs = chosen->second.costs;
        } else {
            phase.choice = plan_.choices[digit];
            if (phase.choice.algorithm != nullptr) {
                ProgramShape shape;
                shape.kind = kind;
                shape.members = plan_.digits[digit].size;
                phase.costs = message_costs(*phase.choice.algorithm, shape, nullptr);
            }
        }
        phase.first_run = itinerary_.runs;
        itinerary_.runs += plan_.group->size() / plan_.digits[digit].size;
        return phase;
    }

    const CollectivePlan& plan_;
    Itinerary itinerary_;
};

}  // namespace

CollectiveKind kind_of_phases(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
}

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

std::uint64_t AskedSize::chunks(std::uint32_t members, std::uint64_t most) const {
    const std::uint64_t parts = by_pair ? most : bytes.count / (are_a_shard ? 1 : members);
    return std::clamp<std::uint64_t>(parts, 1, most);
}

}  // namespace astra
