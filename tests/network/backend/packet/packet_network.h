// A packet network described as in a study, its messages, and what became of them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/backend/packet/packet_backend.h"
#include "network/topology/topology_reader.h"
#include "tests/network/test_network.h"

namespace astra {

// "{topology: leaf_spine, …}" at 400 Gb/s and 500 ns a link, as network.dimensions.
inline std::string leaf_spine(std::uint32_t leaves,
                              std::uint32_t hosts_per_leaf,
                              std::uint32_t spines) {
    return "[{topology: leaf_spine, ranks: " + std::to_string(leaves * hosts_per_leaf) +
           ", hosts_per_leaf: " + std::to_string(hosts_per_leaf) +
           ", spines: " + std::to_string(spines) + ", bandwidth: 400Gbps, latency: 500ns}]";
}

inline std::string one_dimension(const std::string& kind,
                                 std::uint32_t ranks,
                                 const std::string& bandwidth = "400Gbps",
                                 const std::string& latency = "500ns") {
    return "[{topology: " + kind + ", ranks: " + std::to_string(ranks) +
           ", bandwidth: " + bandwidth + ", latency: " + latency + "}]";
}

class PacketNetwork {
  public:
    // `packet` are the entries of network.packet; packets have no header unless it says so.
    PacketNetwork(const std::string& dimensions,
                  const std::string& packet,
                  const std::string& routing = "auto",
                  std::uint64_t seed = 1)
        : tree_(ConfigTree::parse_text(
              "{dimensions: " + dimensions + ", routing: " + routing +
                  ", seed: " + std::to_string(seed) + ", packet: {" +
                  (packet.find("header:") == std::string::npos ? "header: 0B, " : "") + packet +
                  "}}",
              "network.yml")),
          topology_(read_topology(tree_.root())),
          routing_(read_routing(tree_.root(), topology_, *backends().find("packet"))),
          backend_(queue_, routing_, tree_.root()) {
        tree_.reject_unread();
    }

    std::size_t send(std::uint32_t source,
                     std::uint32_t destination,
                     Bytes size,
                     std::uint64_t at_ps = 0,
                     ChannelKey channel = kOneMessage) {
        arrivals_.push_back(kMaxPs);
        backend_.send({RankId{source}, RankId{destination}, size, channel},
                      {at_ps},
                      Callback::to<&PacketNetwork::arrive>(*this, arrivals_.size() - 1));
        return arrivals_.size() - 1;
    }
    void send_all(const std::vector<Injection>& injections) {
        for (const Injection& injection : injections) {
            send(index(injection.message.source),
                 index(injection.message.destination),
                 injection.message.size,
                 injection.at_ps);
        }
    }
    // Runs everything; every message must have arrived. The time of the last arrival.
    std::uint64_t run() {
        queue_.run();
        std::uint64_t last_ps = 0;
        for (const std::uint64_t arrival : arrivals_) {
            EXPECT_NE(arrival, kMaxPs);
            last_ps = std::max(last_ps, arrival);
        }
        return last_ps;
    }
    void set_link_at(const std::string& from, const std::string& to, bool up, std::uint64_t at_ps) {
        queue_.schedule_at({at_ps},
                           Callback::to<&PacketNetwork::set_link>(
                               *this, (std::uint64_t{link(from, to)} << 1) | (up ? 1U : 0U)));
    }

    std::uint32_t link(const std::string& from, const std::string& to) const {
        for (std::uint32_t id = 0; id < topology_.links(); ++id) {
            const LinkEnds ends = topology_.link_ends(id);
            if (topology_.node_name(ends.from) == from && topology_.node_name(ends.to) == to) {
                return id;
            }
        }
        throw std::invalid_argument("no link from " + from + " to " + to);
    }
    // What all links counted.
    LinkRecord sum() const {
        LinkRecord sum;
        for (const LinkRecord& record : backend_.link_records()) {
            sum.bytes.count += record.bytes.count;
            sum.payload.count += record.payload.count;
            sum.peak_queue.count = std::max(sum.peak_queue.count, record.peak_queue.count);
            sum.pauses += record.pauses;
            sum.marks += record.marks;
            sum.trims += record.trims;
            sum.drops += record.drops;
            sum.repeats += record.repeats;
        }
        return sum;
    }

    EventQueue& queue() { return queue_; }
    Routing& routing() { return routing_; }
    const Topology& topology() const { return topology_; }
    packet::PacketBackend& backend() { return backend_; }
    const std::vector<std::uint64_t>& arrivals() const { return arrivals_; }
    const std::vector<std::size_t>& order() const { return order_; }

  private:
    void arrive(std::uint64_t message) {
        EXPECT_EQ(arrivals_[message], kMaxPs) << "message " << message << " arrived twice";
        arrivals_[message] = queue_.now().ps;
        order_.push_back(message);
    }
    void set_link(std::uint64_t link_and_up) {
        backend_.set_link(LinkId{static_cast<std::uint32_t>(link_and_up >> 1)},
                          (link_and_up & 1) != 0);
    }

    EventQueue queue_;
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
    packet::PacketBackend backend_;
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::size_t> order_;
};

// Every rank to one other, and none to itself.
inline std::vector<Injection> derangement(std::uint32_t ranks, Bytes size, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint32_t> to(ranks);
    bool fixed_point = true;
    while (fixed_point) {
        for (std::uint32_t i = 0; i < ranks; ++i) {
            to[i] = i;
        }
        for (std::uint32_t i = ranks - 1; i > 0; --i) {
            std::swap(to[i], to[random() % (i + 1)]);
        }
        fixed_point = false;
        for (std::uint32_t i = 0; i < ranks; ++i) {
            fixed_point = fixed_point || to[i] == i;
        }
    }
    std::vector<Injection> injections;
    for (std::uint32_t i = 0; i < ranks; ++i) {
        injections.push_back(inject(i, to[i], size));
    }
    return injections;
}

// Every ordered pair at once.
inline std::vector<Injection> all_to_all(std::uint32_t ranks, Bytes size) {
    std::vector<Injection> injections;
    for (std::uint32_t offset = 1; offset < ranks; ++offset) {
        for (std::uint32_t source = 0; source < ranks; ++source) {
            injections.push_back(inject(source, (source + offset) % ranks, size));
        }
    }
    return injections;
}

}  // namespace astra
