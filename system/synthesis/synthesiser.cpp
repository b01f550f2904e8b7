#include "system/synthesis/synthesiser.h"

#include <array>

namespace astra {

#define ASTRA_BUILTIN(name) extern const Synthesiser k##name##Synthesiser;
#include "system/synthesis/builtins.def"
#undef ASTRA_BUILTIN

std::span<const Synthesiser* const> synthesisers() {
    static constexpr std::array table = {
#define ASTRA_BUILTIN(name) &k##name##Synthesiser,
#include "system/synthesis/builtins.def"
#undef ASTRA_BUILTIN
    };
    return table;
}

}  // namespace astra
