#include "system/transfer/cost.h"

#include <algorithm>
#include <cmath>

#include "system/engine/collective_timer.h"

namespace astra {

namespace {

constexpr double kMostCostBytes = 4611686018427387904.0;  // 2^62
// Long enough that a rank's part of a message is not lost in rounding, short enough that a backend
// with packets is done soon.
constexpr Bytes kLeast{std::uint64_t{1} << 20U};
constexpr Bytes kMost{std::uint64_t{1} << 24U};
constexpr std::uint64_t kRatio = 16;

}  // namespace

Duration TransferCost::at(Bytes size) const {
    if (measured != nullptr) {
        return measured->at(size);
    }
    const double ps = std::ceil(beta_ps * static_cast<double>(size.count));
    return alpha + Duration{static_cast<std::uint64_t>(std::min(ps, kMostCostBytes))};
}

Bytes TransferCost::bytes_for(double factor) const {
    const double bytes =
        beta_ps > 0 ? factor * static_cast<double>(alpha.ps) / beta_ps : kMostCostBytes;
    return {static_cast<std::uint64_t>(std::clamp(bytes, 1.0, kMostCostBytes))};
}

double TransferCost::factor_of(Bytes size) const {
    return alpha.ps == 0
               ? 0
               : beta_ps * static_cast<double>(size.count) / static_cast<double>(alpha.ps);
}

TransferCost line_through(Bytes small, Duration small_time, Bytes large, Duration large_time) {
    TransferCost cost;
    const double rise = static_cast<double>(std::max(large_time, small_time).ps - small_time.ps);
    cost.beta_ps = rise / static_cast<double>(large.count - small.count);
    const double alpha =
        static_cast<double>(small_time.ps) - cost.beta_ps * static_cast<double>(small.count);
    cost.alpha = {static_cast<std::uint64_t>(std::llround(std::max(alpha, 0.0)))};
    return cost;
}

TransferCost measure_cost(CollectiveTimer& timer,
                          const ProcessGroup& group,
                          CollectiveRequest like,
                          Bytes largest) {
    const GroupId id = timer.add_group(group.name(), group.ranks());
    const Bytes large = std::clamp(largest, kLeast, kMost);
    const Bytes small{large.count / kRatio};
    like.bytes = small;
    const Duration small_time = timer.time(id, like);
    like.bytes = large;
    return line_through(small, small_time, large, timer.time(id, like));
}

}  // namespace astra
