// max(operations / peak, bytes / memory bandwidth), rounded up to a picosecond; that is
// operations / min(peak, bandwidth · operations / bytes). Williams, Waterman, Patterson, "Roofline:
// an insightful visual performance model for multicore architectures" (CACM 2009).
#include <algorithm>
#include <cmath>

#include "astra/config/config_view.h"
#include "system/model/compute_model.h"

namespace astra {

namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;

class Roofline final : public ComputeModel {
  public:
    Roofline(double peak_operations_per_s, Bandwidth memory)
        : peak_per_ps_(peak_operations_per_s / 1e12), memory_(memory) {}

    // For ops of the GPU whose operations or bytes are known.
    std::optional<Duration> time(const ComputeWork& work) const override {
        if (work.on_cpu || (!work.operations && !work.traffic)) {
            return std::nullopt;
        }
        Duration compute;
        if (work.operations.value_or(0) > 0) {
            const double ps = std::ceil(static_cast<double>(*work.operations) / peak_per_ps_);
            compute = {ps >= kTwoTo63 ? kMaxPs : static_cast<std::uint64_t>(ps)};
        }
        return std::max(compute, transfer_time(work.traffic.value_or(Bytes{}), memory_));
    }

  private:
    double peak_per_ps_;
    Bandwidth memory_;
};

std::unique_ptr<const ComputeModel> read_roofline(const ConfigView& system, bool chosen) {
    double peak_operations_per_s = 0;
    if (const auto peak = system.find("peak")) {
        peak_operations_per_s = peak->as_rate();
    }
    const Bandwidth memory = system.bandwidth_or("local_memory_bandwidth", {});
    if (!chosen) {
        return nullptr;
    }
    if (peak_operations_per_s <= 0 || memory.bits_per_s == 0) {
        system.at(system.has("compute_model") ? "compute_model" : "roofline")
            .fail("a roofline needs peak and local_memory_bandwidth above 0");
    }
    return std::make_unique<const Roofline>(peak_operations_per_s, memory);
}

}  // namespace

extern const ComputeModelInfo kRooflineComputeModel;
const ComputeModelInfo kRooflineComputeModel = {
    .name = "roofline",
    .summary =
        "from the operations and bytes of an op, where the trace has them (Williams et al., "
        "CACM 2009)",
    .read = read_roofline};

}  // namespace astra
