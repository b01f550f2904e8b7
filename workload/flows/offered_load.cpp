#include "workload/flows/offered_load.h"

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include "network/backend/link_loads.h"
#include "network/topology/rank_rates.h"

namespace astra {

namespace {

// A path each is worked out for so many pairs.
constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 22U;

bool is_worse(const Overload& a, const std::optional<Overload>& b) {
    using Product = unsigned __int128;
    return !b || static_cast<Product>(a.offered.bits_per_s) * b->carried.bits_per_s >
                     static_cast<Product>(b->offered.bits_per_s) * a.carried.bits_per_s;
}

// Every rank sends the rate, and receives it.
std::optional<Overload> worst_rank(Bandwidth rate, const Topology& topology) {
    const RankRates rates(topology);
    std::optional<Overload> worst;
    for (const auto& [sums, way] :
         {std::pair(&rates.out, "out of "), std::pair(&rates.in, "to ")}) {
        for (std::uint32_t rank = 0; rank < topology.ranks(); ++rank) {
            const Overload here{
                "the links " + (way + topology.node_name(rank)), rate, {(*sums)[rank]}};
            if (is_worse(here, worst)) {
                worst = here;
            }
        }
    }
    return worst;
}

// Bytes of a second on the one path of a pair.
void add_path(std::uint32_t source,
              std::uint32_t destination,
              Bytes bytes,
              Routing& routing,
              LinkLoads& loads) {
    const auto classes = routing.topology().classes();
    for (std::uint32_t node = source; node != destination;) {
        const Hop hop = routing.next_hop(node, source, destination);
        loads.add(hop, bytes, transfer_time(bytes, classes[hop.link_class].bandwidth));
        node = hop.end;
    }
}

std::optional<Overload> worst_link(Bandwidth rate,
                                   std::span<const std::uint32_t> next_rank,
                                   Routing& routing) {
    const Topology& topology = routing.topology();
    const std::uint64_t ranks = topology.ranks();
    const bool has_one_path =
        routing.policy() == RoutePolicy::DimensionOrder || routing.policy() == RoutePolicy::Ecmp;
    if (!has_one_path || (next_rank.empty() ? ranks * (ranks - 1) : ranks) > kMostPairs) {
        return std::nullopt;
    }
    LinkLoads loads(topology);
    for (std::uint32_t source = 0; source < ranks; ++source) {
        if (!next_rank.empty()) {
            add_path(source, next_rank[source], {rate.bits_per_s / 8}, routing, loads);
            continue;
        }
        for (std::uint32_t destination = 0; destination < ranks; ++destination) {
            if (destination != source) {
                add_path(source, destination, {rate.bits_per_s / 8 / (ranks - 1)}, routing, loads);
            }
        }
    }
    const auto [link, busy, bytes] = loads.busiest();
    const LinkEnds ends = topology.link_ends(link);
    return Overload{
        "the link " + topology.node_name(ends.from) + " -> " + topology.node_name(ends.to),
        {saturating_multiply(bytes.count, 8)},
        topology.link(link).bandwidth};
}

}  // namespace

std::string to_text(const Overload& overload) {
    const auto offered = static_cast<double>(overload.offered.bits_per_s);
    return fmt::format("{} would have to carry {:.4g} Gbps, {:.3g} times as much as possible",
                       overload.where,
                       offered / 1e9,
                       offered / static_cast<double>(overload.carried.bits_per_s));
}

std::optional<Overload> plain_overload(Bandwidth rate,
                                       std::span<const std::uint32_t> next_rank,
                                       Routing& routing) {
    std::optional<Overload> worst = worst_rank(rate, routing.topology());
    const std::optional<Overload> link = worst_link(rate, next_rank, routing);
    if (link && is_worse(*link, worst)) {
        worst = link;
    }
    return worst && worst->offered > worst->carried ? worst : std::nullopt;
}

}  // namespace astra
