// No backend whose messages share links beats the wire, on any kind of fabric.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/validation/small_fabrics.h"

namespace astra::test {
namespace {

std::vector<std::pair<std::string, std::vector<Injection>>> patterns(std::uint32_t ranks) {
    std::vector<Injection> incast;
    std::vector<Injection> everybody;
    std::vector<Injection> permutation;
    for (std::uint32_t source = 0; source < ranks; ++source) {
        for (std::uint32_t offset = 1; offset < ranks; ++offset) {
            everybody.push_back(inject(source, (source + offset) % ranks, {30'000}));
        }
        if (source > 0) {
            incast.push_back(inject(source, 0, {100'000}));
        }
        permutation.push_back(inject(source, (source + 5) % ranks, {300'000}));
    }
    std::vector<Injection> random = little_traffic(ranks, 2);
    for (Injection& injection : random) {
        injection.at_ps = 0;
    }
    return {{"incast", incast},
            {"all_to_all", everybody},
            {"permutation", permutation},
            {"random", random}};
}

// By the time at which a message arrives, the links into its rank have carried it and all that
// arrived before: bytes · 8 / rate. The same for the links out of the rank that sent it.
void expect_ends_are_not_beaten(const TestNetwork& network, const std::vector<Injection>& sent) {
    for (const bool out : {false, true}) {
        std::map<std::uint32_t, std::uint64_t> bytes;
        for (const std::size_t i : network.order()) {
            const Message& message = sent[i].message;
            const std::uint32_t rank = index(out ? message.source : message.destination);
            bytes[rank] += message.size.count;
            ASSERT_GE(network.arrivals()[i],
                      transfer_time({bytes[rank]}, {rate_of(network, rank, out)}).ps)
                << "message " << i << (out ? " out of " : " into ") << rank;
        }
    }
}

// No link has carried more by the last arrival than it can; where payload is sent again, by the
// end. The flow backend rounds a share to a whole byte.
void expect_links_are_not_beaten(TestNetwork& network, const NetworkModel& model) {
    const Topology& topology = network.topology();
    std::map<std::pair<std::string, std::string>, std::uint64_t> bits_per_s;
    for (std::uint32_t link = 0; link < topology.links(); ++link) {
        const LinkEnds ends = topology.link_ends(link);
        std::uint64_t& rate =
            bits_per_s[{topology.node_name(ends.from), topology.node_name(ends.to)}];
        rate = std::max(rate, topology.link(link).bandwidth.bits_per_s);
    }
    const std::vector<LinkRecord> records = network.backend().link_records();
    const bool again = overtakes(model, network.routing().policy()) ||
                       std::any_of(records.begin(), records.end(), [](const LinkRecord& record) {
                           return record.trims > 0 || record.drops > 0;
                       });
    const std::uint64_t end_ps =
        again ? network.queue().now().ps
              : *std::max_element(network.arrivals().begin(), network.arrivals().end());
    for (const LinkRecord& record : records) {
        const Bandwidth rate{bits_per_s.at({record.from, record.to})};
        const Bytes payload = model.backend->has_packets() ? record.payload : record.bytes;
        EXPECT_GE(end_ps + transfer_time({1}, rate).ps, transfer_time(payload, rate).ps)
            << record.from << " to " << record.to;
        EXPECT_GE(network.queue().now().ps + transfer_time({1}, rate).ps, record.busy.ps)
            << record.from << " to " << record.to;
    }
}

class WireBound : public OnFabric {};

TEST_P(WireBound, IsKept) {
    for (const std::string& policy : policies_of(*model().backend)) {
        const std::string keys = fabric() + ", routing: " + policy;
        const std::uint32_t ranks = network_of(model(), keys).topology().ranks();
        for (const auto& [pattern, sent] : patterns(ranks)) {
            SCOPED_TRACE(policy + ", " + pattern);
            TestNetwork network = network_of(model(), keys);
            network.run(sent);
            ASSERT_EQ(network.order().size(), sent.size());
            expect_ends_are_not_beaten(network, sent);
            expect_links_are_not_beaten(network, model());
        }
    }
}

std::vector<NetworkModel> models_that_share() {
    std::vector<NetworkModel> models = models_with_loss();
    std::erase_if(models, [](const NetworkModel& model) { return !model.backend->shares_links(); });
    return models;
}

INSTANTIATE_TEST_SUITE_P(All,
                         WireBound,
                         testing::Combine(testing::ValuesIn(models_that_share()),
                                          testing::ValuesIn(Fabrics::names())),
                         param_name);

// Only backends whose messages never meet are exempt, and need to be: 11 · 100,000 bytes come to a
// link at 80 ps a byte, and each of the messages takes what it takes alone.
TEST(WireBoundExemption, IsNeeded) {
    const std::vector<Injection> incast = patterns(12)[0].second;
    std::size_t exempt = 0;
    for (const BackendInfo* backend : backends()) {
        if (backend->shares_links()) {
            continue;
        }
        SCOPED_TRACE(backend->name);
        TestNetwork network = network_of({backend, "", ""}, Fabrics().keys("switch"));
        const std::vector<std::uint64_t> arrivals = network.run(incast);
        for (std::size_t i = 0; i < incast.size(); ++i) {
            EXPECT_EQ(arrivals[i],
                      incast[i].at_ps + alone_ps(*backend, network.routing(), incast[i].message));
        }
        EXPECT_LT(arrivals.back(), 11 * 100'000 * 80U);
        ++exempt;
    }
    EXPECT_GE(exempt, 1U);
}

}  // namespace
}  // namespace astra::test
