// Rashidi, Won, Srinivasan, Sridharan, Krishna, "Themis: A network bandwidth-aware collective
// scheduling policy for distributed training of DL models" (ISCA 2022).
//
// Keeps the work that the chunks ordered so far give each dimension: its busiest link's time on the
// wire, and once the latency of its phases. The next chunk visits the least loaded dimension first,
// where it is still whole, and the most loaded one last, when the others have made it small; an
// all_gather goes in the reverse order. While the loads are nearly equal the chunk takes the
// ascending order: they must differ by what a sixteenth of it costs in the least loaded dimension.
// All chunks take the ascending order if a forecast of both has it end earlier.
#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <vector>

#include "system/plan/dimension_order.h"

namespace astra {

namespace {

constexpr std::uint64_t kThresholdParts = 16;
constexpr std::uint64_t kLeastGain = 16;  // a part of the time: less than that is not forecast

class Balance {
  public:
    explicit Balance(const ChunksToOrder& question)
        : question_(question),
          usual_(question.plan.phases(question.plan.ascending())),
          loads_(question.plan.dimensions.size()) {
        for (std::uint32_t i = 0; i < usual_.plans.size(); ++i) {
            Duration& load = loads_[usual_.plans[i].dimension];
            load = load + load_of(usual_, i).latency;
        }
    }

    DimensionSequence next() {
        DimensionSequence order = usual_.order;
        if (differ()) {
            std::stable_sort(order.begin(), order.end(), [this](auto a, auto b) {
                return loads_[a] < loads_[b];
            });
        }
        const ChunkPhases& phases = question_.plan.phases(order);
        for (std::uint32_t i = 0; i < phases.plans.size(); ++i) {
            Duration& load = loads_[phases.plans[i].dimension];
            load = load + load_of(phases, i).busy(bytes_of(phases, i));
        }
        return order;
    }

  private:
    Bytes bytes_of(const ChunkPhases& phases, std::uint32_t phase) const {
        return question_.plan.phase_bytes(phases, phase, 0, question_.chunk);
    }
    const PhaseLoad& load_of(const ChunkPhases& phases, std::uint32_t phase) const {
        return question_.loads.of(question_.plan, phases.plans[phase], bytes_of(phases, phase));
    }

    bool differ() const {
        const auto [least, most] = std::minmax_element(loads_.begin(), loads_.end());
        std::uint32_t phase = 0;
        while (usual_.plans[phase].dimension != least - loads_.begin()) {
            ++phase;
        }
        const Bytes sixteenth{question_.chunk.count / kThresholdParts};
        return most->ps - least->ps >= load_of(usual_, phase).busy(sixteenth).ps;
    }

    const ChunksToOrder& question_;
    const ChunkPhases& usual_;     // the ascending one
    std::vector<Duration> loads_;  // by dimension
};

// When the last chunk is through, as a model has it: a dimension takes chunks as they come, so many
// at once; they keep its busiest link for their time on the wire, one after the other where
// messages share links, and a phase is over its latency later.
class Forecast {
  public:
    explicit Forecast(const ChunksToOrder& question)
        : question_(question),
          link_free_(question.plan.dimensions.size()),
          places_(question.plan.dimensions.size()) {
        const std::uint64_t most =
            std::min<std::uint64_t>(std::max(question.active_chunks, 1U), question.chunks);
        for (auto& places : places_) {
            for (std::uint64_t i = 0; i < most; ++i) {
                places.push(0);
            }
        }
    }

    std::uint64_t end_ps(const std::vector<DimensionSequence>& orders) {
        for (std::uint32_t chunk = 0; chunk < orders.size(); ++chunk) {
            arrivals_.push({0, chunk, 0});
        }
        std::uint64_t end = 0;
        while (!arrivals_.empty()) {
            const Arrival at = arrivals_.top();
            arrivals_.pop();
            const ChunkPhases& phases = question_.plan.phases(orders[at.chunk]);
            if (at.phase == phases.plans.size()) {
                end = std::max(end, at.at_ps);
                continue;
            }
            const PhasePlan& phase = phases.plans[at.phase];
            const Bytes bytes = question_.plan.phase_bytes(phases, at.phase, 0, question_.chunk);
            const PhaseLoad& load = question_.loads.of(question_.plan, phase, bytes);
            auto& places = places_[phase.dimension];
            std::uint64_t begin = std::max(places.top(), at.at_ps);
            places.pop();
            std::uint64_t& link_free = link_free_[phase.dimension];
            if (question_.links_are_shared) {
                begin = std::max(begin, link_free);
            }
            link_free = saturating_add(begin, load.busy(bytes).ps);
            places.push(saturating_add(link_free, load.latency.ps));
            arrivals_.push({saturating_add(link_free, load.latency.ps), at.chunk, at.phase + 1});
        }
        return end;
    }

  private:
    struct Arrival {
        std::uint64_t at_ps = 0;
        std::uint32_t chunk = 0;
        std::uint32_t phase = 0;
        bool operator>(const Arrival& other) const {
            return std::tie(at_ps, chunk, phase) > std::tie(other.at_ps, other.chunk, other.phase);
        }
    };

    const ChunksToOrder& question_;
    std::vector<std::uint64_t> link_free_;  // by dimension
    // By dimension: when each of the chunks that may be there at once is through.
    std::vector<std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>>>
        places_;
    std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals_;
};

}  // namespace

extern const DimensionOrder kThemisDimensionOrder;
const DimensionOrder kThemisDimensionOrder = {
    .name = "themis",
    .summary = "each chunk first goes where there is least to do (Rashidi et al., ISCA 2022)",
    .varies = true,
    .orders = [](const ChunksToOrder& question) {
        Balance balance(question);
        std::vector<DimensionSequence> orders;
        orders.reserve(question.chunks);
        for (std::uint64_t chunk = 0; chunk < question.chunks; ++chunk) {
            orders.push_back(balance.next());
        }
        // Few chunks cannot be balanced: then ascending may be better.
        std::vector<DimensionSequence> ascending(
            orders.size(), question.plan.phases(question.plan.ascending()).order);
        const std::uint64_t ends_ps = Forecast(question).end_ps(ascending);
        return Forecast(question).end_ps(orders) <= ends_ps - ends_ps / kLeastGain ? orders
                                                                                   : ascending;
    }};

}  // namespace astra
