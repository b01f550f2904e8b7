#include "system/tuning/tuning_config.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/core/text/nearest.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

constexpr std::size_t kMostEntries = 1000;

// A registered algorithm, or `auto` where that is allowed. What is synthesised for a network cannot
// be predicted before it is there.
AlgorithmChoice read_choice(const ConfigView& item, bool allow_auto) {
    const std::string name = item.as_string();
    AlgorithmChoice choice = parse_algorithm(name);
    if (!choice.valid()) {
        item.fail(
            fmt::format("unknown algorithm '{}'{}", name, suggestion(name, algorithm_names())));
    }
    if (choice.flat || choice.measured || choice.source != nullptr ||
        (choice.automatic && !allow_auto)) {
        item.fail(fmt::format("'{}' is not possible here: expected the name of one algorithm{}",
                              name,
                              allow_auto ? ", or auto" : ""));
    }
    return choice;
}

std::string read_protocol_name(const ConfigView& item, const std::vector<Protocol>& protocols) {
    std::string name = item.as_string();
    std::vector<std::string> names;
    for (const Protocol& protocol : protocols) {
        names.push_back(protocol.name);
    }
    if (std::find(names.begin(), names.end(), name) == names.end()) {
        item.fail(names.empty() ? fmt::format("no protocol '{}': system.protocols has none", name)
                                : fmt::format("no protocol '{}'{}", name, suggestion(name, names)));
    }
    return name;
}

}  // namespace

const SizeTable::Entry& SizeTable::entry_for(Bytes buffer) const {
    for (const Entry& entry : entries) {
        if (!entry.up_to || buffer <= *entry.up_to) {
            return entry;
        }
    }
    return entries.back();
}

SizeTable SizeTable::from_config(const ConfigView& map, const std::vector<Protocol>& protocols) {
    SizeTable table;
    const ConfigView list = map.at("by_size");
    const auto items = list.items();
    if (items.empty() || items.size() > kMostEntries) {
        list.fail(fmt::format("expected 1 to {} ranges of sizes", kMostEntries));
    }
    std::optional<Bytes> last;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const ConfigView& item = items[i];
        Entry entry;
        entry.where = item.where() + ": " + item.path();
        entry.choice = read_choice(item.at("algorithm"), true);
        if (const auto protocol = item.find("protocol")) {
            entry.protocol = read_protocol_name(*protocol, protocols);
        }
        if (const auto up_to = item.find("up_to")) {
            entry.up_to = up_to->as_bytes();
            if (last && *entry.up_to <= *last) {
                up_to->fail(
                    fmt::format("ranges overlap: it has to be above the {} B of the entry "
                                "before",
                                last->count));
            }
            last = entry.up_to;
        }
        const bool at_end = i + 1 == items.size();
        if (!entry.up_to && !at_end) {
            item.fail("only the last entry, for all larger sizes, goes without up_to");
        }
        if (entry.up_to && at_end) {
            item.fail(fmt::format("no entry for more than {} B: end with one without up_to",
                                  entry.up_to->count));
        }
        table.entries.push_back(std::move(entry));
    }
    return table;
}

TuningConfig TuningConfig::from_config(const ConfigView& system) {
    TuningConfig config;
    config.protocols = read_protocols(system);
    config.in_switch_reduction = system.bool_or("in_switch_reduction", false);
    if (const auto section = system.find("auto")) {
        for (std::uint32_t kind = 0; kind < kCollectiveKinds; ++kind) {
            const auto list = section->find(name_of(static_cast<CollectiveKind>(kind)));
            if (!list) {
                continue;
            }
            for (const ConfigView& item : list->items()) {
                config.candidates[kind].push_back(read_choice(item, false));
            }
            if (config.candidates[kind].empty()) {
                list->fail("names no algorithm; leave it out for all");
            }
        }
    }
    return config;
}

}  // namespace astra
