// Every kind of fabric, small, and random traffic for it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/topology/topology_reader.h"
#include "tests/network/test_network.h"
#include "tests/support/experiment.h"
#include "tests/support/network_models.h"

namespace astra::test {

inline constexpr const char* kCustomGraph = R"(
hosts: 12
switches: [a, b, c, d]
switch_latency: 100ns
links:
  - {from: host0, to: a}
  - {from: host1, to: a}
  - {from: host2, to: a}
  - {from: host3, to: b}
  - {from: host4, to: b}
  - {from: host5, to: b, bandwidth: 50Gbps}
  - {from: host6, to: c}
  - {from: host7, to: c, latency: 3us}
  - {from: host8, to: c}
  - {from: host9, to: d}
  - {from: host10, to: d}
  - {from: host11, to: d}
  - {from: a, to: b, count: 2}
  - {from: a, to: c}
  - {from: b, to: d}
  - {from: c, to: d, bandwidth: 25Gbps}
  - {from: d, to: a, direction: one}
)";

// Every kind of dimension with twelve ranks (or the next number that it takes), and some fabrics
// that are more than one kind: entries of a section `network`. A kind that is not known here is
// built from its defaults.
class Fabrics {
  public:
    Fabrics() { folder_.write("graph.yml", kCustomGraph); }

    static std::vector<std::string> names() {
        std::vector<std::string> names;
        for (const DimensionInfo* kind : dimension_kinds()) {
            names.emplace_back(kind->name);
        }
        for (const char* name : {"planes", "switch_with_latency", "overrides", "torus", "mixed"}) {
            names.emplace_back(name);
        }
        return names;
    }

    std::string keys(const std::string& name) const {
        const std::string spines =
            "dimensions: [{topology: leaf_spine, ranks: 12, "
            "bandwidth: 100Gbps, latency: 500ns, ";
        const std::map<std::string, std::string> whole = {
            {"custom",
             fmt::format("dimensions: [{{topology: custom, file: {}, bandwidth: 100Gbps, latency: "
                         "500ns}}]",
                         folder_.file("graph.yml"))},
            {"planes", spines + "hosts_per_leaf: 6, planes: 2, nics: 4, links_per_spine: 2}]"},
            {"switch_with_latency",
             "dimensions: [{topology: switch, ranks: 12, bandwidth: 77777777777bps, latency: "
             "123ns, switch_latency: 300ns}]"},
            {"overrides",
             spines + "hosts_per_leaf: 3, switch_latency: 50ns}], links: [{from: leaf0, to: "
                      "spine1, bandwidth: 30Gbps}, {from: leaf1, to: spine2, down: true}, {from: "
                      "4, to: leaf1, latency: 2us}, {from: leaf2, to: 7, bandwidth: 10Gbps, both: "
                      "false}]"},
            {"torus",
             "dimensions: [{topology: ring, ranks: 4, bandwidth: 100Gbps, latency: 500ns}, "
             "{topology: ring, ranks: 3, bandwidth: 33Gbps, latency: 1us}]"},
            {"mixed",
             "dimensions: [{topology: ring, ranks: 3, bandwidth: 100Gbps, latency: 500ns}, "
             "{topology: leaf_spine, ranks: 4, hosts_per_leaf: 2, bandwidth: 60Gbps}]"}};
        const std::map<std::string, std::string> own_keys = {
            {"leaf_spine", ", hosts_per_leaf: 4, oversubscription: 2"},
            {"fat_tree", ", hosts_per_leaf: 2, leaves_per_pod: 2, core_bandwidth: 70Gbps"},
            {"rail_optimised", ", domain: 4, domain_bandwidth: 900Gbps, nodes_per_leaf: 2"},
            {"dragonfly", ", hosts_per_router: 1, routers_per_group: 4, global_latency: 2us"}};
        if (const auto found = whole.find(name); found != whole.end()) {
            return found->second;
        }
        const auto own = own_keys.find(name);
        return fmt::format(
            "dimensions: [{{topology: {}, ranks: {}, bandwidth: 100Gbps, latency: "
            "500ns{}}}]",
            name,
            ranks_of(name),
            own == own_keys.end() ? "" : own->second);
    }

  private:
    // Twelve, or the next larger number that the kind takes.
    static std::uint32_t ranks_of(const std::string& kind) {
        std::uint32_t ranks = 12;
        while (!dimension_kinds().find(kind)->takes(ranks)) {
            ++ranks;
        }
        return ranks;
    }

    ScratchFolder folder_;
};

inline std::vector<std::string> policies_of(const BackendInfo& backend) {
    std::vector<std::string> policies = {"auto", "dimension_order", "ecmp"};
    if (backend.can_split) {
        policies.emplace_back("spray");
        policies.emplace_back("adaptive");
    }
    return policies;
}

// Every model, and those with packets once more with links that lose some, in small buffers
// without the flow control of dcqcn.
inline std::vector<NetworkModel> models_with_loss() {
    std::vector<NetworkModel> models = network_models();
    for (NetworkModel& model : packet_models()) {
        model.more = "dcqcn: {pfc: false}, buffer: 20KiB, error_rate: 0.001, timeout: 20us";
        models.push_back(model);
    }
    return models;
}

inline TestNetwork network_of(const NetworkModel& model, const std::string& keys) {
    const std::string text = "{" + model.keys() + ", " + keys + "}";
    const ConfigTree tree = ConfigTree::parse_text(text, "network.yml");
    return TestNetwork(*model.backend, read_topology(tree.root()), text);
}

inline std::vector<Injection> little_traffic(std::uint32_t ranks, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Injection> sent;
    for (int i = 0; i < 100; ++i) {
        const auto source = static_cast<std::uint32_t>(random() % ranks);
        const auto offset = static_cast<std::uint32_t>(1 + random() % (ranks - 1));
        const Bytes size{random() % 8 == 0 ? 0 : random() % 50'000};
        const std::uint64_t at_ps = random() % 2 == 0 ? 0 : random() % 20'000'000;
        sent.push_back(inject(source, (source + offset) % ranks, size, at_ps));
    }
    return sent;
}

// Bits a second of all links out of (into) a rank that are up.
inline std::uint64_t rate_of(const TestNetwork& network, std::uint32_t rank, bool out) {
    const Topology& topology = network.topology();
    std::uint64_t bits_per_s = 0;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        if ((out ? ends.from : ends.to) == rank) {
            bits_per_s += topology.link(link).bandwidth.bits_per_s;
        }
    }
    return bits_per_s;
}

// Packets of a flow take several paths though its receiver wants them in order.
inline bool overtakes(const NetworkModel& model, RoutePolicy policy) {
    for (const packet::TransportInfo* transport : packet::transports()) {
        if (transport->name == model.transport && transport->in_order) {
            return policy == RoutePolicy::Spray || policy == RoutePolicy::Adaptive;
        }
    }
    return false;
}

using Param = std::tuple<NetworkModel, std::string>;
inline std::string param_name(const testing::TestParamInfo<Param>& info) {
    return std::get<0>(info.param).name() + "_" + std::get<1>(info.param);
}

// A model on a fabric.
class OnFabric : public testing::TestWithParam<Param> {
  protected:
    const NetworkModel& model() const { return std::get<0>(GetParam()); }
    std::string fabric() const { return fabrics_.keys(std::get<1>(GetParam())); }

  private:
    Fabrics fabrics_;
};

}  // namespace astra::test
