#include "system/transfer/cost_probe.h"

#include <algorithm>
#include <utility>

namespace astra {

namespace {

// Long enough that a rank's part of a message is not lost in rounding, short enough that a backend
// with packets is done soon.
constexpr Bytes kLeast{std::uint64_t{1} << 20U};
constexpr Bytes kMost{std::uint64_t{1} << 24U};
constexpr std::uint64_t kRatio = 16;

}  // namespace

CostProbe::CostProbe(Maker make, const SystemConfig& config)
    : make_(std::move(make)), config_(config) {}

TransferCost CostProbe::measure(const ProcessGroup& group, CollectiveRequest like, Bytes largest) {
    if (network_ == nullptr) {
        network_ = make_();
        engine_ = std::make_unique<CollectiveEngine>(network_->queue(),
                                                     network_->backend(),
                                                     network_->routing(),
                                                     network_->info(),
                                                     network_->keys(),
                                                     config_,
                                                     unheard_);
    }
    const GroupId id = engine_->add_group(group.name(), group.ranks());
    const Bytes large = std::clamp(largest, kLeast, kMost);
    const Bytes small{large.count / kRatio};
    like.bytes = small;
    const Duration small_time = time(id, like);
    like.bytes = large;
    return line_through(small, small_time, large, time(id, like));
}

Duration CostProbe::time(GroupId group, const CollectiveRequest& request) {
    EventQueue& queue = network_->queue();
    const SimTime start = queue.now();
    end_ = start;
    for (std::uint32_t p = 0; p < engine_->group(group).size(); ++p) {
        engine_->join(group, p, request, Callback::to<&CostProbe::finished>(*this));
    }
    queue.run();
    return end_ - start;
}

}  // namespace astra
