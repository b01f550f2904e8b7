#include "system/synthesis/synthesiser.h"

#include <array>

namespace astra {

#define ASTRA_BUILTIN(name) extern const Synthesiser k##name##Synthesiser;
#include "system/synthesis/builtins.def"
#undef ASTRA_BUILTIN

const Registry<Synthesiser>& synthesisers() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Synthesiser,
#include "system/synthesis/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<Synthesiser> table("synthesiser", entries);
    return table;
}

}  // namespace astra
