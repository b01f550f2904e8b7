// How long compute ops take. To add a model: a .cpp in system/model/compute that defines
// `const ComputeModelInfo k<Name>ComputeModel`, and one line in the builtins.def there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "astra/core/registry.h"
#include "astra/core/types.h"

namespace astra {

class ConfigView;

// What a trace says of a compute op.
struct ComputeWork {
    std::optional<std::uint64_t> operations;
    std::optional<Bytes> traffic;  // to and from the local memory
    bool on_cpu = false;
};

class ComputeModel {
  public:
    ComputeModel() = default;
    ComputeModel(const ComputeModel&) = delete;
    ComputeModel& operator=(const ComputeModel&) = delete;
    virtual ~ComputeModel() = default;

    // Without noise; nullopt of work that takes as long as the trace recorded.
    virtual std::optional<Duration> time(const ComputeWork& work) const = 0;
};

struct ComputeModelInfo {
    std::string_view name;
    std::string_view summary;
    // Reads the keys of the model in the study's section `system`. nullptr, but no error, where
    // `chosen` is false: a study may carry the keys of a model that it does not use. Throws
    // ConfigError.
    std::unique_ptr<const ComputeModel> (*read)(const ConfigView& system, bool chosen);
};

const Registry<ComputeModelInfo>& compute_models();

// The model that system.compute_model names; without that key `roofline` if the switch
// system.roofline says so, `recorded` otherwise. Throws ConfigError.
std::unique_ptr<const ComputeModel> read_compute_model(const ConfigView& system);

}  // namespace astra
