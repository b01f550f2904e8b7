// Connections: one message at a time, back to back, in order, on every backend and transport that
// knows queues; and who is told when a message has left.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/packet/transport.h"
#include "tests/network/test_network.h"

namespace astra {
namespace {

constexpr Bandwidth kRate{400'000'000'000};  // 20 ps a byte
constexpr std::uint64_t kLatencyPs = 500'000;
constexpr Bytes kSize{1U << 20};
constexpr std::uint64_t kWirePs = (std::uint64_t{1} << 20U) * 20;

struct Model {
    const BackendInfo* backend;
    std::string transport;  // "" if the backend has none
    bool has_queues() const { return backend->shares_links(); }
    // No rate control, so that times are exact.
    bool is_plain() const { return transport.empty() || transport == "none"; }
    std::string settings() const {
        return transport.empty() ? "packet: {header: 0B}"
                                 : "packet: {header: 0B, transport: " + transport + "}";
    }
    std::string name() const {
        return std::string(backend->name) + (transport.empty() ? "" : ", " + transport);
    }
};

std::vector<Model> models() {
    std::vector<Model> all;
    for (const BackendInfo* backend : backends()) {
        if (!backend->has_packets()) {
            all.push_back({backend, ""});
            continue;
        }
        for (const packet::TransportInfo* transport : packet::transports()) {
            all.push_back({backend, std::string(transport->name)});
        }
    }
    return all;
}

// Messages with when each left and arrived.
class Watched {
  public:
    Watched(const Model& model, const std::vector<Shape>& shapes)
        : network_(*model.backend, build(shapes), model.settings()) {}

    std::size_t send(std::uint32_t from,
                     std::uint32_t to,
                     Bytes size,
                     ChannelKey channel,
                     std::uint64_t at_ps = 0,
                     bool tell = true) {
        left_.push_back(0);
        arrived_.push_back(0);
        const std::size_t id = left_.size() - 1;
        const SimTime left =
            network_.backend().send({RankId{from}, RankId{to}, size, channel},
                                    {at_ps},
                                    Callback::to<&Watched::arrive>(*this, id),
                                    tell ? Callback::to<&Watched::leave>(*this, id) : Callback{});
        if (left.ps != kMaxPs) {
            left_[id] = left.ps;
        }
        return id;
    }
    void run() { network_.queue().run(); }
    const std::vector<std::uint64_t>& left() const { return left_; }
    const std::vector<std::uint64_t>& arrived() const { return arrived_; }
    const std::vector<std::size_t>& order() const { return order_; }

  private:
    void leave(std::uint64_t id) {
        EXPECT_EQ(left_[id], 0U) << "left twice";
        EXPECT_EQ(arrived_[id], 0U) << "left after it arrived";
        left_[id] = network_.queue().now().ps;
    }
    void arrive(std::uint64_t id) {
        EXPECT_EQ(arrived_[id], 0U) << "arrived twice";
        arrived_[id] = network_.queue().now().ps;
        order_.push_back(id);
    }
    TestNetwork network_;
    std::vector<std::uint64_t> left_;
    std::vector<std::uint64_t> arrived_;
    std::vector<std::size_t> order_;
};

// k messages of S over one link of rate B and latency L, all given at 0: the i-th has left at
// i·S/B and is there L later. Cut into packets that is the same, as the wire is never idle.
TEST(ConnectionsTest, OneAfterTheOtherBackToBack) {
    for (const Model& model : models()) {
        if (!model.has_queues()) {
            continue;
        }
        for (const bool tell : {true, false}) {
            Watched network(model, {{"fully_connected", 2, kRate, kLatencyPs}});
            for (int i = 0; i < 5; ++i) {
                network.send(0, 1, kSize, ChannelKey{7}, 0, tell);
            }
            network.run();
            for (std::size_t i = 0; i < 5; ++i) {
                const std::uint64_t left_ps = (i + 1) * kWirePs;
                if (model.is_plain()) {
                    EXPECT_EQ(network.arrived()[i], left_ps + kLatencyPs) << model.name();
                } else {
                    // A rate may be lower than the line's at times, never higher.
                    EXPECT_GE(network.arrived()[i], left_ps + kLatencyPs) << model.name();
                    EXPECT_LE(network.arrived()[i], (left_ps + kLatencyPs) * 11 / 10)
                        << model.name();
                }
                if (tell && model.is_plain()) {
                    EXPECT_EQ(network.left()[i], left_ps) << model.name() << " message " << i;
                }
            }
        }
    }
}

// Two connections share the link: with messages of S in each, k of one and one of the other that
// comes with them, the one ends after 2S/B (fair) or, whole messages in turn, after 2S/B at most;
// were each message a flow of its own it would be (k+1)·S/B.
TEST(ConnectionsTest, ShareALinkByConnectionNotByMessage) {
    for (const Model& model : models()) {
        if (!model.has_queues() || model.backend->name == "congestion_aware") {
            continue;  // first come first served: all that came before goes before
        }
        Watched network(model, {{"fully_connected", 2, kRate, kLatencyPs}});
        for (int i = 0; i < 8; ++i) {
            network.send(0, 1, kSize, ChannelKey{1});
        }
        const std::size_t lone = network.send(0, 1, kSize, ChannelKey{2});
        network.run();
        EXPECT_LE(network.arrived()[lone], (2 * kWirePs + kLatencyPs) * 21 / 20) << model.name();
        const std::uint64_t all =
            *std::max_element(network.arrived().begin(), network.arrived().end());
        EXPECT_GE(all, 9 * kWirePs + kLatencyPs) << model.name();
        EXPECT_LE(all, (9 * kWirePs + kLatencyPs) * 11 / 10) << model.name();
    }
}

// A message of no bytes keeps its turn.
TEST(ConnectionsTest, EmptyMessagesKeepTheirTurn) {
    for (const Model& model : models()) {
        if (!model.has_queues()) {
            continue;
        }
        Watched network(model, {{"fully_connected", 2, kRate, kLatencyPs}});
        network.send(0, 1, kSize, ChannelKey{1});
        network.send(0, 1, {0}, ChannelKey{1});
        network.send(0, 1, {0}, ChannelKey{1});
        network.send(0, 1, {1}, ChannelKey{1});
        network.run();
        EXPECT_EQ(network.order(), (std::vector<std::size_t>{0, 1, 2, 3})) << model.name();
    }
}

// Whatever the sizes, starts, paths and other traffic: in order within each connection, left before
// arrived, and everyone is told once.
TEST(ConnectionsTest, OrderHoldsUnderRandomTraffic) {
    for (const Model& model : models()) {
        if (!model.has_queues()) {
            continue;
        }
        for (std::uint64_t seed = 1; seed <= 6; ++seed) {
            std::mt19937_64 random(seed);
            const std::vector<std::vector<Shape>> fabrics = {
                {{"switch", 6, kRate, kLatencyPs}},
                {{"ring", 5, kRate, kLatencyPs}},
                {{"ring", 3, kRate, kLatencyPs}, {"switch", 2, {100'000'000'000}, 100'000}}};
            const auto& shapes = fabrics[seed % fabrics.size()];
            Watched network(model, shapes);
            std::uint32_t ranks = 1;
            for (const Shape& shape : shapes) {
                ranks *= shape.ports;
            }
            struct Sent {
                std::uint32_t from;
                std::uint32_t to;
                ChannelKey channel;
                std::uint64_t at_ps;
            };
            std::vector<Sent> all;
            for (int i = 0; i < 120; ++i) {
                Sent sent{};
                sent.from = static_cast<std::uint32_t>(random() % ranks);
                sent.to =
                    (sent.from + 1 + static_cast<std::uint32_t>(random() % (ranks - 1))) % ranks;
                sent.channel = ChannelKey{static_cast<std::uint32_t>(random() % 3)};
                sent.at_ps = random() % 20 * 5'000'000;
                network.send(sent.from,
                             sent.to,
                             {random() % 4 == 0 ? random() % 3 : random() % 600'000},
                             sent.channel,
                             sent.at_ps,
                             random() % 2 == 0);
                all.push_back(sent);
            }
            network.run();
            for (std::size_t a = 0; a < all.size(); ++a) {
                ASSERT_NE(network.arrived()[a], 0U) << model.name() << " seed " << seed;
                for (std::size_t b = 0; b < all.size(); ++b) {
                    const bool same = all[a].from == all[b].from && all[a].to == all[b].to &&
                                      all[a].channel == all[b].channel;
                    const bool before =
                        all[a].at_ps < all[b].at_ps || (all[a].at_ps == all[b].at_ps && a < b);
                    if (same && before) {
                        ASSERT_LE(network.arrived()[a], network.arrived()[b])
                            << model.name() << " seed " << seed;
                        if (network.left()[a] != 0 && network.left()[b] != 0) {
                            ASSERT_LE(network.left()[a], network.left()[b])
                                << model.name() << " seed " << seed;
                        }
                    }
                }
                if (network.left()[a] != 0) {
                    ASSERT_LE(network.left()[a], network.arrived()[a]);
                    ASSERT_GE(network.left()[a], all[a].at_ps);
                }
            }
        }
    }
}

// With several links out of a rank (a ring sends half of the pairs over either neighbour), a
// message has left when its own link has it.
TEST(ConnectionsTest, ConnectionsOverDifferentLinksDoNotWait) {
    for (const Model& model : models()) {
        if (!model.has_queues() || !model.is_plain()) {
            continue;
        }
        Watched network(model, {{"ring", 4, kRate, kLatencyPs}});
        network.send(0, 1, kSize, ChannelKey{1});
        network.send(0, 3, kSize, ChannelKey{1});
        network.run();
        EXPECT_EQ(network.left()[0], kWirePs) << model.name();
        EXPECT_EQ(network.left()[1], kWirePs) << model.name();
    }
}

}  // namespace
}  // namespace astra
