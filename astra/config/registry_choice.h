// A key whose value is the name of an entry of a table.
#pragma once

#include <string_view>

#include "astra/config/config_view.h"
#include "astra/core/registry.h"

namespace astra {

// The entry that `section.key` names, or the one called `fallback`, which is in the table. Throws
// ConfigError with the nearest name.
template <class Entry>
const Entry& choose(const ConfigView& section,
                    std::string_view key,
                    std::string_view fallback,
                    const Registry<Entry>& table) {
    return *table.find(section.choice_or(key, fallback, table.names()));
}

}  // namespace astra
