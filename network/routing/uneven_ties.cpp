#include "network/routing/uneven_ties.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "network/routing/shortest_paths.h"

namespace astra {

namespace {

constexpr std::uint64_t kVeryDifferent = 2;
constexpr std::uint64_t kMostTieSteps = std::uint64_t{1} << 26U;

class TieFinder {
  public:
    explicit TieFinder(const Dimension& dimension)
        : dimension_(dimension),
          paths_(graph_of(dimension)),
          reaches_(std::size_t{dimension.ports()} + dimension.switches()) {}

    void look_at(std::uint32_t destination) {
        const std::vector<std::uint32_t> distances = paths_.distances_to(destination);
        std::vector<std::uint32_t> nodes(distances.size());
        std::iota(nodes.begin(), nodes.end(), 0U);
        std::erase_if(nodes, [&](std::uint32_t n) { return distances[n] == ShortestPaths::kFar; });
        std::sort(nodes.begin(), nodes.end(), [&](std::uint32_t a, std::uint32_t b) {
            return distances[a] < distances[b];
        });
        reaches_[destination] = {};
        for (const std::uint32_t node : nodes) {
            if (node != destination) {
                reaches_[node] = reach_of(node, destination);
            }
            if (node < dimension_.ports() && reaches_[node].tie) {
                keep(node, destination);
            }
        }
    }
    const std::optional<UnevenTie>& nearest() const { return nearest_; }

  private:
    // From a node to the destination of the moment.
    struct Reach {
        std::uint64_t widest = kMaxPs;  // bits a second
        std::uint32_t links = 0;
        std::optional<UnevenTie> tie;  // on the way
    };

    Reach reach_of(std::uint32_t node, std::uint32_t destination) {
        Reach reach;
        std::uint64_t narrowest = kMaxPs;
        reach.widest = 0;
        reach.links = ShortestPaths::kFar;
        UnevenTie here;
        for (const std::uint32_t link : paths_.next(node, destination)) {
            const Reach& next = reaches_[dimension_.ends(link).to];
            const std::uint64_t width =
                std::min(next.widest, dimension_.properties(link).bandwidth.bits_per_s);
            if (width > reach.widest) {
                reach.widest = width;
                here.wide_link = link;
            }
            if (width < narrowest) {
                narrowest = width;
                here.narrow_link = link;
            }
            reach.links = std::min(reach.links, next.links + 1);
            if (next.tie) {
                reach.tie = next.tie;
            }
        }
        if (reach.widest / kVeryDifferent >= narrowest) {
            here.wide = {reach.widest};
            here.narrow = {narrowest};
            reach.tie = here;
        }
        return reach;
    }

    void keep(std::uint32_t source, std::uint32_t destination) {
        if (!nearest_ || reaches_[source].links < nearest_->links) {
            nearest_ = reaches_[source].tie;
            nearest_->source = source;
            nearest_->destination = destination;
            nearest_->links = reaches_[source].links;
        }
    }

    const Dimension& dimension_;
    ShortestPaths paths_;
    std::vector<Reach> reaches_;
    std::optional<UnevenTie> nearest_;
};

std::string name_of_node(const Dimension& dimension, std::uint32_t node) {
    return node < dimension.ports() ? std::to_string(node)
                                    : dimension.switch_name(node - dimension.ports());
}

std::string name_of_link(const Dimension& dimension, std::uint32_t link) {
    const LinkEnds ends = dimension.ends(link);
    return name_of_node(dimension, ends.from) + " -> " + name_of_node(dimension, ends.to);
}

}  // namespace

std::optional<UnevenTie> nearest_uneven_tie(const Dimension& dimension) {
    TieFinder finder(dimension);
    const std::uint64_t steps = dimension.links() + dimension.ports() + dimension.switches();
    const std::uint64_t chosen =
        std::clamp<std::uint64_t>(kMostTieSteps / steps, 1, dimension.ports());
    for (std::uint64_t i = 0; i < chosen; ++i) {
        finder.look_at(static_cast<std::uint32_t>(i * dimension.ports() / chosen));
    }
    return finder.nearest();
}

std::vector<std::string> describe_uneven_ties(const Topology& topology) {
    std::vector<std::string> texts;
    for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
        const Dimension& dimension = topology.physical_dimension(k);
        if (!topology.is_from_file(k)) {
            continue;
        }
        if (const auto tie = nearest_uneven_tie(dimension)) {
            texts.push_back(fmt::format(
                "network.dimensions.{}: some shortest paths are very different and share traffic "
                "alike: from {} to {} those by {} carry {}, those by {} {}; a `weight` of the "
                "links, in the graph file, tells such paths apart",
                k,
                tie->source,
                tie->destination,
                name_of_link(dimension, tie->wide_link),
                to_text(tie->wide),
                name_of_link(dimension, tie->narrow_link),
                to_text(tie->narrow)));
        }
    }
    return texts;
}

}  // namespace astra
