#include "system/model/memory_model.h"

#include "astra/config/registry_choice.h"

namespace astra {

std::unique_ptr<MemoryModel> read_memory_model(const ConfigView& memory, std::uint32_t ranks) {
    return choose(memory, "kind", "none", memory_models()).read(memory, ranks);
}

}  // namespace astra
