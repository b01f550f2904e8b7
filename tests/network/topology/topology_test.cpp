#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/breadth_first_search.hpp>
#include <gtest/gtest.h>

#include "network/routing/routing.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

struct Kind {
    const DimensionInfo* kind = nullptr;
    std::uint32_t ports = 1;
};

// All but those that need a file.
std::vector<const DimensionInfo*> built_in_kinds() {
    std::vector<const DimensionInfo*> kinds(dimension_kinds().begin(), dimension_kinds().end());
    std::erase_if(kinds, [](const DimensionInfo* kind) { return kind->from_file; });
    return kinds;
}

// Every built-in kind with each of those numbers of ports that it takes.
std::vector<Kind> kinds(const std::vector<std::uint32_t>& ports) {
    std::vector<Kind> all;
    for (const DimensionInfo* kind : built_in_kinds()) {
        for (const std::uint32_t n : ports) {
            if (kind->takes(n)) {
                all.push_back({kind, n});
            }
        }
    }
    return all;
}

Topology build(const std::vector<Kind>& shapes) {
    std::vector<Topology::PhysicalDimension> dimensions;
    for (const Kind& shape : shapes) {
        dimensions.push_back(dimension_of(*shape.kind, shape.ports, {{1}, {}}));
    }
    return Topology(std::move(dimensions));
}

const DimensionInfo* kind_named(std::string_view name) {
    for (const DimensionInfo* kind : dimension_kinds()) {
        if (kind->name == name) {
            return kind;
        }
    }
    throw std::invalid_argument(std::string(name));
}

std::string name_of(const std::vector<Kind>& shapes) {
    std::string text;
    for (const Kind& shape : shapes) {
        text += (text.empty() ? "" : " x ") + std::string(shape.kind->name) + " " +
                std::to_string(shape.ports);
    }
    return text;
}

// Links on the shortest path between every two ranks: [source][destination].
using Distances = std::vector<std::vector<std::uint32_t>>;

Distances shortest_ways(const Topology& topology) {
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS> graph(topology.ranks());
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        boost::add_edge(ends.from, ends.to, graph);
    }
    Distances distances;
    for (std::uint32_t source = 0; source < topology.ranks(); ++source) {
        std::vector<std::uint32_t> from_here(boost::num_vertices(graph), 0);
        boost::breadth_first_search(graph,
                                    source,
                                    boost::visitor(boost::make_bfs_visitor(boost::record_distances(
                                        from_here.data(), boost::on_tree_edge()))));
        from_here.resize(topology.ranks());
        distances.push_back(std::move(from_here));
    }
    return distances;
}

struct Walk {
    std::string fault;
    std::vector<std::uint32_t> links_in;    // a physical dimension
    std::vector<std::uint32_t> dimensions;  // in the order of travel, repetitions left out
};

// Follows next_hop from rank to rank, link by link.
Walk walk(Routing& routing, std::uint32_t source, std::uint32_t destination) {
    const Topology& topology = routing.topology();
    Walk result;
    result.links_in.resize(topology.physical_dimensions());
    std::vector<std::uint32_t> visited = {source};
    std::uint32_t node = source;
    while (node != destination) {
        const Hop hop = routing.next_hop(node, source, destination);
        if (hop.count == 0 || hop.dimension >= topology.physical_dimensions()) {
            result.fault = "an empty hop from node " + std::to_string(node);
            return result;
        }
        if (result.dimensions.empty() || result.dimensions.back() != hop.dimension) {
            result.dimensions.push_back(hop.dimension);
        }
        for (std::uint32_t step = 0; step < hop.count; ++step) {
            const std::uint32_t link = routing.link_of(hop, step);
            if (link >= topology.links() || topology.dimension_of_link(link) != hop.dimension) {
                result.fault = "link " + std::to_string(link) + " is none of its dimension";
                return result;
            }
            const LinkEnds ends = topology.link_ends(link);
            if (ends.from != node) {
                result.fault = "link " + std::to_string(link) + " begins elsewhere";
                return result;
            }
            node = ends.to;
            if (std::find(visited.begin(), visited.end(), node) != visited.end()) {
                result.fault = "node " + std::to_string(node) + " is passed twice";
                return result;
            }
            visited.push_back(node);
            ++result.links_in[hop.dimension];
        }
        if (hop.end != node) {
            result.fault = "the end of the hop is not where the links of the hop lead";
            return result;
        }
    }
    return result;
}

// Every pair of ranks: routed without a loop, in the order of the dimensions, on as few links in
// each dimension as the shortest path in that dimension alone has.
void expect_routes(const Topology& topology, const std::vector<const Distances*>& alone) {
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    for (std::uint32_t source = 0; source < topology.ranks(); ++source) {
        for (std::uint32_t destination = 0; destination < topology.ranks(); ++destination) {
            if (source == destination) {
                continue;
            }
            const Walk path = walk(routing, source, destination);
            ASSERT_EQ(path.fault, "") << "from " << source << " to " << destination;
            std::vector<std::uint32_t> differing;
            for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
                const std::uint32_t from = topology.position(source, k);
                const std::uint32_t to = topology.position(destination, k);
                if (from != to) {
                    differing.push_back(k);
                }
                ASSERT_EQ(path.links_in[k], (*alone[k])[from][to])
                    << "from " << source << " to " << destination << ", dimension " << k;
            }
            ASSERT_EQ(path.dimensions, differing) << "from " << source << " to " << destination;
        }
    }
}

// No two links join the same nodes, but in fabrics; a link of dimension k changes that position
// only; link numbers grow with their dimension.
void expect_links(const Topology& topology) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    std::uint32_t previous = 0;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        ASSERT_NE(ends.from, ends.to) << "link " << link;
        const std::uint32_t k = topology.dimension_of_link(link);
        const bool is_new = seen.insert({ends.from, ends.to}).second;
        ASSERT_TRUE(is_new || topology.physical_dimension(k).plain() == nullptr) << "link " << link;
        ASSERT_GE(k, previous);
        previous = k;
        if (ends.from >= topology.ranks() || ends.to >= topology.ranks()) {
            continue;
        }
        for (std::uint32_t other = 0; other < topology.physical_dimensions(); ++other) {
            const bool same =
                topology.position(ends.from, other) == topology.position(ends.to, other);
            ASSERT_EQ(same, other != k) << "link " << link;
        }
    }
}

// Coordinates are those of the rank in mixed radix, dimension 0 lowest; so are positions.
void expect_coordinates(const Topology& topology) {
    std::uint32_t product = 1;
    for (std::uint32_t k = 0; k < topology.dimensions(); ++k) {
        product *= topology.ports(k);
    }
    ASSERT_EQ(topology.ranks(), product);
    for (std::uint32_t rank = 0; rank < topology.ranks(); ++rank) {
        std::uint32_t coordinates = 0;
        for (std::uint32_t k = topology.dimensions(); k-- > 0;) {
            ASSERT_LT(topology.coordinate(rank, k), topology.ports(k));
            coordinates = coordinates * topology.ports(k) + topology.coordinate(rank, k);
        }
        ASSERT_EQ(coordinates, rank);
        std::uint32_t positions = 0;
        for (std::uint32_t k = topology.physical_dimensions(); k-- > 0;) {
            ASSERT_LT(topology.position(rank, k), topology.physical_dimension(k).ports());
            positions =
                positions * topology.physical_dimension(k).ports() + topology.position(rank, k);
        }
        ASSERT_EQ(positions, rank);
    }
}

void expect_sound(const std::vector<Kind>& shapes, const std::vector<const Distances*>& alone) {
    SCOPED_TRACE(name_of(shapes));
    const Topology topology = build(shapes);
    expect_coordinates(topology);
    expect_links(topology);
    expect_routes(topology, alone);
}

std::vector<Distances> distances_of(const std::vector<Kind>& shapes) {
    std::vector<Distances> all;
    for (const Kind& shape : shapes) {
        all.push_back(shortest_ways(build({shape})));
    }
    return all;
}

TEST(TopologyPropertyTest, OneDimensionIsRoutedOnShortestWays) {
    const std::vector<Kind> one = kinds({1, 2, 3, 4, 5, 8, 16});
    const std::vector<Distances> alone = distances_of(one);
    for (std::size_t i = 0; i < one.size(); ++i) {
        expect_sound({one[i]}, {&alone[i]});
        ASSERT_FALSE(HasFatalFailure());
    }
}

TEST(TopologyPropertyTest, ProductsOfTwoAreRoutedInDimensionOrder) {
    const std::vector<Kind> one = kinds({1, 2, 3, 4, 5, 8, 16});
    const std::vector<Distances> alone = distances_of(one);
    for (std::size_t i = 0; i < one.size(); ++i) {
        for (std::size_t j = 0; j < one.size(); ++j) {
            expect_sound({one[i], one[j]}, {&alone[i], &alone[j]});
            ASSERT_FALSE(HasFatalFailure());
        }
    }
}

TEST(TopologyPropertyTest, ProductsOfThreeAreRoutedInDimensionOrder) {
    const std::vector<Kind> one = kinds({2, 3});
    const std::vector<Distances> alone = distances_of(one);
    for (std::size_t i = 0; i < one.size(); ++i) {
        for (std::size_t j = 0; j < one.size(); ++j) {
            for (std::size_t k = 0; k < one.size(); ++k) {
                expect_sound({one[i], one[j], one[k]}, {&alone[i], &alone[j], &alone[k]});
                ASSERT_FALSE(HasFatalFailure());
            }
        }
    }
}

// The product of graphs has no short cuts: the dimensions' shortest paths add up to the shortest
// one.
TEST(TopologyPropertyTest, WaysThroughProductsAreShortestToo) {
    for (const Kind& a : kinds({4, 5})) {
        for (const Kind& b : kinds({4, 5})) {
            const Topology topology = build({a, b});
            Routing routing(topology, RoutePolicy::DimensionOrder, 1);
            const Distances shortest = shortest_ways(topology);
            for (std::uint32_t source = 0; source < topology.ranks(); ++source) {
                for (std::uint32_t destination = 0; destination < topology.ranks(); ++destination) {
                    const Walk path = walk(routing, source, destination);
                    ASSERT_EQ(path.links_in[0] + path.links_in[1], shortest[source][destination]);
                }
            }
        }
    }
}

std::set<std::pair<std::uint32_t, std::uint32_t>> ends_of_links(const Topology& topology) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> all;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        all.insert({topology.link_ends(link).from, topology.link_ends(link).to});
    }
    return all;
}

TEST(RingTest, LinksOfSmallRings) {
    using Ends = std::set<std::pair<std::uint32_t, std::uint32_t>>;
    const DimensionInfo* ring = kind_named("ring");
    EXPECT_EQ(build({{ring, 1}}).links(), 0U);
    EXPECT_EQ(build({{ring, 2}}).links(), 2U);
    EXPECT_EQ(ends_of_links(build({{ring, 2}})), (Ends{{0, 1}, {1, 0}}));
    EXPECT_EQ(build({{ring, 3}}).links(), 6U);
    EXPECT_EQ(ends_of_links(build({{ring, 3}})),
              (Ends{{0, 1}, {1, 2}, {2, 0}, {0, 2}, {2, 1}, {1, 0}}));
}

TEST(RingTest, ATieGoesClockwise) {
    const Topology topology = build({{kind_named("ring"), 8}});
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    for (std::uint32_t source = 0; source < 8; ++source) {
        const Hop across = routing.next_hop(source, source, (source + 4) % 8);
        EXPECT_EQ(across.count, 4U);
        EXPECT_EQ(topology.link_ends(routing.link_of(across, 0)).to, (source + 1) % 8);
        const Hop back = routing.next_hop(source, source, (source + 5) % 8);
        EXPECT_EQ(back.count, 3U);
        EXPECT_EQ(topology.link_ends(routing.link_of(back, 0)).to, (source + 7) % 8);
    }
}

TEST(SwitchTest, TwoLinksAPortAndOneSwitchARow) {
    const Topology topology = build({{kind_named("switch"), 4}, {kind_named("switch"), 3}});
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    // Dimension 0: 3 rows of 2·4 links; dimension 1: 4 rows of 2·3.
    EXPECT_EQ(topology.links(), 48U);
    const Hop up = routing.next_hop(0, 0, 3);
    EXPECT_EQ(up.end, 12U);
    EXPECT_EQ(routing.next_hop(12, 12, 3).end, 3U);
}

TEST(FullyConnectedTest, ALinkForEveryOrderedPair) {
    const Topology topology = build({{kind_named("fully_connected"), 5}});
    EXPECT_EQ(topology.links(), 20U);
    EXPECT_EQ(ends_of_links(topology).size(), 20U);
}

TEST(TopologyTest, NamesRanksAndSwitches) {
    // Ranks 0 … 11, then the 3 switches of dimension 0, then the 4 of dimension 2: dimension 1 has
    // none.
    const Topology topology =
        build({{kind_named("switch"), 4}, {kind_named("ring"), 1}, {kind_named("switch"), 3}});
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    EXPECT_EQ(topology.node_name(0), "0");
    EXPECT_EQ(topology.node_name(11), "11");
    EXPECT_EQ(topology.node_name(12), "switch0.0");
    EXPECT_EQ(topology.node_name(14), "switch0.2");
    EXPECT_EQ(topology.node_name(15), "switch2.0");
    EXPECT_EQ(topology.node_name(18), "switch2.3");
    // Row 2 of dimension 2 is ranks 2, 6 and 10.
    EXPECT_EQ(topology.node_name(routing.next_hop(6, 6, 10).end), "switch2.2");
}

TEST(TopologyTest, RowsHaveLinksOfTheirOwn) {
    const Topology topology = build({{kind_named("ring"), 4}, {kind_named("ring"), 4}});
    Routing routing(topology, RoutePolicy::DimensionOrder, 1);
    std::set<std::uint32_t> links;
    for (std::uint32_t rank = 0; rank < 16; ++rank) {
        const std::uint32_t right = rank / 4 * 4 + (rank + 1) % 4;
        const std::uint32_t above = (rank + 4) % 16;
        for (const std::uint32_t neighbour : {right, above}) {
            const Hop hop = routing.next_hop(rank, rank, neighbour);
            EXPECT_EQ(hop.count, 1U);
            EXPECT_TRUE(links.insert(routing.link_of(hop, 0)).second) << rank;
        }
    }
    EXPECT_EQ(links.size(), 32U);
}

}  // namespace
}  // namespace astra
