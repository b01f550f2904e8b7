#include "workload/graph/process_groups.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace astra {
namespace {

using nlohmann::json;

json parse(std::string_view text) {
    return json::parse(text.begin(), text.end(), nullptr, false);
}

// The list of groups inside whatever wraps it: JSON in a list, or Python's spelling of that list.
json unwrap(std::string_view text) {
    json document = parse(text);
    if (document.is_array() && document.size() == 1 && document[0].is_string()) {
        document = parse(document[0].get_ref<const std::string&>());
    }
    if (!document.is_discarded()) {
        return document;
    }
    const std::size_t first = text.find("[{");
    const std::size_t last = text.rfind("}]");
    if (first == std::string_view::npos || last == std::string_view::npos || last < first) {
        return document;
    }
    std::string inner(text.substr(first, last + 2 - first));
    document = parse(inner);
    if (document.is_discarded()) {
        std::erase(inner, '\\');
        document = parse(inner);
    }
    return document;
}

std::optional<GroupDefinition> group_of(const json& entry, std::uint32_t ranks) {
    if (!entry.is_object() || !entry.contains("pg_name")) {
        return std::nullopt;
    }
    GroupDefinition group;
    const json& name = entry["pg_name"];
    if (name.is_string()) {
        group.name = name.get_ref<const std::string&>();
    } else if (name.is_number_integer()) {
        group.name = name.dump();
    } else {
        return std::nullopt;
    }
    if (entry.contains("ranks")) {
        if (!entry["ranks"].is_array()) {
            return std::nullopt;
        }
        for (const json& rank : entry["ranks"]) {
            if (!rank.is_number_unsigned() || rank.get<std::uint64_t>() >= ranks) {
                return std::nullopt;
            }
            group.ranks.push_back(rank.get<std::uint32_t>());
        }
    }
    if (group.ranks.empty()) {
        group.ranks.resize(ranks);
        std::iota(group.ranks.begin(), group.ranks.end(), 0U);
    }
    return all_distinct(group.ranks) ? std::optional(std::move(group)) : std::nullopt;
}

}  // namespace

std::optional<std::vector<GroupDefinition>> parse_process_groups(std::string_view text,
                                                                 std::uint32_t ranks) {
    const json document = unwrap(text);
    if (!document.is_array()) {
        return std::nullopt;
    }
    std::vector<GroupDefinition> groups;
    for (const json& entry : document) {
        std::optional<GroupDefinition> group = group_of(entry, ranks);
        if (!group) {
            return std::nullopt;
        }
        groups.push_back(std::move(*group));
    }
    return groups;
}

bool all_distinct(const std::vector<std::uint32_t>& ranks) {
    std::vector<std::uint32_t> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

}  // namespace astra
