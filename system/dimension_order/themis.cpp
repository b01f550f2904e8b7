// Rashidi, Won, Srinivasan, Sridharan, Krishna, "Themis: A network bandwidth-aware collective
// scheduling policy for distributed training of DL models" (ISCA 2022).
//
// Keeps the work that the chunks ordered so far give each dimension: its busiest link's time on the
// wire, and once the latency of its phases. The next chunk visits the least loaded dimension first,
// where it is still whole, and the most loaded one last, when the others have made it small; an
// all_gather goes the other way round. While the loads are nearly equal the chunk takes the
// ascending order: they must differ by what a sixteenth of it costs in the least loaded dimension.
#include <algorithm>

#include "system/plan/dimension_order.h"

namespace astra {

namespace {

constexpr std::uint64_t kThresholdParts = 16;

class Balance {
  public:
    explicit Balance(const ChunksToOrder& question)
        : question_(question),
          usual_(question.plan.itinerary(question.plan.ascending())),
          loads_(question.plan.digits.size()) {
        for (std::uint32_t i = 0; i < usual_.phases.size(); ++i) {
            Duration& load = loads_[usual_.phases[i].digit];
            load = load + load_of(usual_, i).latency;
        }
    }

    DigitOrder next() {
        DigitOrder order = usual_.order;
        if (differ()) {
            std::stable_sort(order.begin(), order.end(), [this](auto a, auto b) {
                return loads_[a] < loads_[b];
            });
        }
        const Itinerary& itinerary = question_.plan.itinerary(order);
        for (std::uint32_t i = 0; i < itinerary.phases.size(); ++i) {
            Duration& load = loads_[itinerary.phases[i].digit];
            load = load + load_of(itinerary, i).busy(bytes_of(itinerary, i));
        }
        return order;
    }

  private:
    Bytes bytes_of(const Itinerary& itinerary, std::uint32_t phase) const {
        return question_.plan.phase_bytes(itinerary, phase, 0, question_.chunk);
    }
    const PhaseLoad& load_of(const Itinerary& itinerary, std::uint32_t phase) const {
        return question_.loads.of(
            question_.plan, itinerary.phases[phase], bytes_of(itinerary, phase));
    }

    bool differ() const {
        const auto [least, most] = std::minmax_element(loads_.begin(), loads_.end());
        std::uint32_t phase = 0;
        while (usual_.phases[phase].digit != least - loads_.begin()) {
            ++phase;
        }
        const Bytes sixteenth{question_.chunk.count / kThresholdParts};
        return most->ps - least->ps >= load_of(usual_, phase).busy(sixteenth).ps;
    }

    const ChunksToOrder& question_;
    const Itinerary& usual_;       // the ascending one
    std::vector<Duration> loads_;  // by digit
};

}  // namespace

extern const DimensionOrder kThemisDimensionOrder;
const DimensionOrder kThemisDimensionOrder = {
    "themis",
    "each chunk goes where there is least to do first, so that all dimensions are busy (Rashidi et "
    "al., ISCA 2022)",
    true,
    [](const ChunksToOrder& question) {
        Balance balance(question);
        std::vector<DigitOrder> orders;
        orders.reserve(question.chunks);
        for (std::uint64_t chunk = 0; chunk < question.chunks; ++chunk) {
            orders.push_back(balance.next());
        }
        return orders;
    }};

}  // namespace astra
