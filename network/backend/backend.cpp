#include "network/backend/backend.h"

#include <array>

#include "astra/config/registry_choice.h"
#include "astra/core/check.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const BackendInfo k##name##Backend;
#include "network/backend/builtins.def"
#undef ASTRA_BUILTIN

void NetworkBackend::set_link(std::uint32_t, bool) {
    ASTRA_CHECK(false, "a backend whose links may fail knows how");
}

void NetworkBackend::sample(std::vector<LinkSample>&) {
    ASTRA_CHECK(false, "a backend whose links are shared knows what they hold");
}

const BackendInfo& read_backend(const ConfigView& network) {
    return choose(network, "backend", "congestion_unaware", backends());
}

void check_other_sections(const BackendInfo& chosen, const ConfigView& network) {
    for (const BackendInfo* backend : backends()) {
        if (backend != &chosen && backend->check != nullptr && network.has(backend->name)) {
            backend->check(network);
        }
    }
}

const Registry<BackendInfo>& backends() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Backend,
#include "network/backend/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<BackendInfo> table("backend", entries);
    return table;
}

}  // namespace astra
