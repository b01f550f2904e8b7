#include "network/backend/backend.h"

#include <array>

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
    std::vector<std::string> names;
    for (const BackendInfo* backend : backends()) {
        names.emplace_back(backend->name);
    }
    return *find_backend(network.choice_or("backend", "congestion_unaware", names));
}

void check_other_sections(const BackendInfo& chosen, const ConfigView& network) {
    for (const BackendInfo* backend : backends()) {
        if (backend != &chosen && backend->check != nullptr && network.has(backend->name)) {
            backend->check(network);
        }
    }
}

std::span<const BackendInfo* const> backends() {
    static constexpr std::array table = {
#define ASTRA_BUILTIN(name) &k##name##Backend,
#include "network/backend/builtins.def"
#undef ASTRA_BUILTIN
    };
    return table;
}

const BackendInfo* find_backend(std::string_view name) {
    for (const BackendInfo* backend : backends()) {
        if (backend->name == name) {
            return backend;
        }
    }
    return nullptr;
}

}  // namespace astra
