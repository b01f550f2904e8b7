// Remote memory: what an access takes. To add a model: a .cpp in system/model/memory that defines
// `const MemoryModelInfo k<Name>MemoryModel`, and one line in the builtins.def there.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "astra/core/registry.h"
#include "astra/core/types.h"

namespace astra {

class ConfigView;

struct MemoryAccess {
    std::uint32_t rank = 0;  // of the fabric
    Bytes bytes;
    bool is_store = false;
};

class MemoryModel {
  public:
    MemoryModel() = default;
    MemoryModel(const MemoryModel&) = delete;
    MemoryModel& operator=(const MemoryModel&) = delete;
    virtual ~MemoryModel() = default;

    // Whether ranks have remote memory at all; a trace that accesses it is refused otherwise.
    virtual bool exists() const { return true; }
    // When an access that is asked for at `now` has finished. Requires exists(). Calls come in the
    // order of time.
    virtual SimTime access(const MemoryAccess& access, SimTime now) = 0;
};

struct MemoryModelInfo {
    std::string_view name;
    std::string_view summary;
    // Reads the keys of the model in the study's section `memory`, for so many ranks of the fabric.
    // Throws ConfigError.
    std::unique_ptr<MemoryModel> (*read)(const ConfigView& memory, std::uint32_t ranks);
};

const Registry<MemoryModelInfo>& memory_models();

// The model that memory.kind names. Throws ConfigError.
std::unique_ptr<MemoryModel> read_memory_model(const ConfigView& memory, std::uint32_t ranks);

}  // namespace astra
