#include <array>

#include "system/model/memory_model.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const MemoryModelInfo k##name##MemoryModel;
#include "system/model/memory/builtins.def"
#undef ASTRA_BUILTIN

const Registry<MemoryModelInfo>& memory_models() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##MemoryModel,
#include "system/model/memory/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<MemoryModelInfo> table("memory model", entries);
    return table;
}

}  // namespace astra
