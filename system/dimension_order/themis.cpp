// Rashidi, Won, Srinivasan, Sridharan, Krishna, "Themis: A network bandwidth-aware collective
// scheduling policy for distributed training of DL models" (ISCA 2022).
//
// Keeps the work that the chunks ordered so far give each dimension: its busiest link's time on the
// wire, and once the latency of its phases. The next chunk visits the least loaded dimension first,
// where it is still whole, and the most loaded one last, when the others have made it small; an
// all_gather goes in the reverse order. While the loads are nearly equal the chunk takes the
// ascending order: they must differ by what a sixteenth of it costs in the least loaded dimension.
// All chunks take the ascending order if a rehearsal of both has it end no later.
#include <algorithm>
#include <vector>

#include "system/plan/dimension_order.h"
#include "system/plan/plan_config.h"

namespace astra {

namespace {

constexpr std::uint64_t kThresholdParts = 16;

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

}  // namespace

extern const DimensionOrder kThemisDimensionOrder;
const DimensionOrder kThemisDimensionOrder = {
    .name = "themis",
    .summary = "each chunk first goes where there is least to do (Rashidi et al., ISCA 2022)",
    .varies = true,
    .orders =
        [](const ChunksToOrder& question) {
            Balance balance(question);
            std::vector<DimensionSequence> orders;
            orders.reserve(question.chunks);
            for (std::uint64_t chunk = 0; chunk < question.chunks; ++chunk) {
                orders.push_back(balance.next());
            }
            return orders;
        },
    // Few chunks cannot be balanced: each is larger in its first dimension than all of them are in
    // the ascending order.
    .instead = &kAscendingDimensionOrder};

}  // namespace astra
