#include <array>
#include <cstdint>
#include <vector>

#include "astra/config/astra_sim/astra_sim_parts.h"
#include "astra/config/config_tree.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostRanks = 1ULL << 20;
constexpr std::size_t kLists = 4;

struct NetworkList {
    std::string name;
    ConfigView view;
    std::vector<ConfigView> items;
};

NetworkList list_at(const ConfigView& file, const char* name) {
    const ConfigView view = file.at(name);
    return {name, view, view.items()};
}

void check_lengths(const std::array<NetworkList, kLists>& lists) {
    const std::size_t dimensions = lists[0].items.size();
    const NetworkList* odd = nullptr;
    for (const NetworkList& list : lists) {
        if (list.items.empty()) {
            list.view.fail("is empty; an entry for each dimension is expected");
        }
        if (odd == nullptr && list.items.size() != dimensions) {
            odd = &list;
        }
    }
    if (odd == nullptr) {
        return;
    }
    const std::size_t entries = odd->items.size();
    std::string text =
        odd->name + " has " + std::to_string(entries) + (entries == 1 ? " entry" : " entries");
    for (const NetworkList& list : lists) {
        if (&list != odd) {
            text += ", " + list.name + " has " + std::to_string(list.items.size());
        }
    }
    odd->view.fail(text + "; an entry for each dimension is expected in every list");
}

std::string topology_name(const ConfigView& value) {
    static const std::array<std::string, 3> names = {"Ring", "Switch", "FullyConnected"};
    const std::string name = value.as_choice(names);
    return name == names[0] ? "ring" : name == names[1] ? "switch" : "fully_connected";
}

}  // namespace

std::size_t translate_network(const ConfigView& file, std::string_view unit, ConfigTree& study) {
    const std::array<NetworkList, kLists> lists = {list_at(file, "topology"),
                                                   list_at(file, "npus_count"),
                                                   list_at(file, "bandwidth"),
                                                   list_at(file, "latency")};
    check_lengths(lists);
    // What its analytical network does.
    study.put("network.backend", "congestion_unaware", file);
    const auto& [topologies, counts, bandwidths, latencies] = lists;
    const std::size_t dimensions = topologies.items.size();
    std::uint64_t ranks = 1;
    for (std::size_t i = 0; i < dimensions; ++i) {
        const std::string path = "network.dimensions." + std::to_string(i) + ".";
        const ConfigView& topology = topologies.items[i];
        const ConfigView& count = counts.items[i];
        const ConfigView& bandwidth = bandwidths.items[i];
        const ConfigView& latency = latencies.items[i];
        study.put(path + "topology", topology_name(topology), topology);
        const std::uint64_t size = count.as_integer(1, kMostRanks);
        ranks *= size;
        if (ranks > kMostRanks) {
            counts.view.fail("the product of the dimensions is more than " +
                             std::to_string(kMostRanks) + " ranks");
        }
        study.put(path + "ranks", std::to_string(size), count);
        study.put(path + "bandwidth",
                  bandwidth_with_unit(bandwidth, std::string(unit) + "/s"),
                  bandwidth);
        study.put(path + "latency", time_with_unit(latency, "ns"), latency);
    }
    return dimensions;
}

}  // namespace astra
