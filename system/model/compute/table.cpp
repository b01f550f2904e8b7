#include <array>

#include "system/model/compute_model.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const ComputeModelInfo k##name##ComputeModel;
#include "system/model/compute/builtins.def"
#undef ASTRA_BUILTIN

const Registry<ComputeModelInfo>& compute_models() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##ComputeModel,
#include "system/model/compute/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<ComputeModelInfo> table("compute model", entries);
    return table;
}

}  // namespace astra
