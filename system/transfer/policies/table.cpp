#include <array>

#include "system/transfer/policy.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const TransferPolicyInfo k##name##Policy;
#include "system/transfer/policies/builtins.def"
#undef ASTRA_BUILTIN

const Registry<TransferPolicyInfo>& transfer_policies() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Policy,
#include "system/transfer/policies/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<TransferPolicyInfo> table("transfer policy", entries);
    return table;
}

}  // namespace astra
