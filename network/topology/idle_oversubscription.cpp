#include "network/topology/idle_oversubscription.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "network/topology/topology_reader.h"

namespace astra {

namespace {

bool are_alike(const Dimension& a, const Dimension& b) {
    if (a.links() != b.links() || a.switches() != b.switches()) {
        return false;
    }
    for (std::uint32_t link = 0; link < a.links(); ++link) {
        const LinkEnds one = a.ends(link);
        const LinkEnds other = b.ends(link);
        if (one.from != other.from || one.to != other.to ||
            a.properties(link) != b.properties(link)) {
            return false;
        }
    }
    return true;
}

ConfigView dimension_of(const ConfigTree& study, std::uint32_t k) {
    return study.root().at("network").at("dimensions").items()[k];
}

}  // namespace

std::vector<std::string> idle_oversubscriptions(const ConfigTree& study, const Topology& topology) {
    std::vector<std::string> texts;
    ConfigTree changed = study;
    for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
        const auto key = dimension_of(changed, k).find("oversubscription");
        if (!key || key->as_number() == 1.0) {
            continue;
        }
        const std::string path = key->path();
        changed.set(path + "=1");
        const ConfigView item = dimension_of(changed, k);
        const DimensionInfo& kind = *dimension_kinds().find(item.at("topology").as_string());
        if (are_alike(topology.physical_dimension(k), *read_dimension(item, kind).dimension)) {
            texts.push_back(
                path +
                ": no effect: the fabric is that of 1, as other keys say how many links "
                "lead up, or their number is rounded up to the same");
        }
    }
    return texts;
}

}  // namespace astra
