#include "network/routing/failures.h"

#include <algorithm>

#include "network/topology/topology_reader.h"

namespace astra {

std::vector<LinkChange> read_failures(const ConfigView& network, const Topology& topology) {
    std::vector<LinkChange> changes;
    const auto list = network.find("failures");
    if (!list) {
        return changes;
    }
    for (const ConfigView& item : list->items()) {
        const SimTime at = SimTime{} + item.at("at").as_duration();
        const auto until = item.find("until");
        if (until && SimTime{} + until->as_duration() <= at) {
            until->fail("the link comes back before it fails");
        }
        for (const LinkId link : links_named(topology, item)) {
            changes.push_back({at, link, false});
            if (until) {
                changes.push_back({SimTime{} + until->as_duration(), link, true});
            }
        }
    }
    std::stable_sort(changes.begin(), changes.end(), [](const LinkChange& a, const LinkChange& b) {
        return a.at < b.at;
    });
    return changes;
}

}  // namespace astra
