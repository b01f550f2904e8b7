// Fabrics and backends for tests, built without a configuration file.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/backend/backend.h"

namespace astra {

inline constexpr Bytes kMiB{1U << 20};

// "GiB/s" as bits a second.
constexpr Bandwidth gib_a_second(std::uint64_t gib) {
    return {gib * (std::uint64_t{8} << 30)};
}

struct Shape {
    std::string kind;
    std::uint32_t ports;
    Bandwidth bandwidth;
    std::uint64_t latency_ps;
};

// A dimension of any kind with a study's defaults for the keys of the kind.
inline Topology::PhysicalDimension dimension_of(const DimensionInfo& kind,
                                                std::uint32_t ports,
                                                LinkProperties link) {
    const ConfigTree no_keys = ConfigTree::empty_map("test");
    return {std::string(kind.name), kind.build({ports, link, no_keys.root()}), ""};
}

inline Topology build(const std::vector<Shape>& shapes) {
    std::vector<Topology::PhysicalDimension> dimensions;
    for (const Shape& shape : shapes) {
        for (const DimensionInfo* kind : dimension_kinds()) {
            if (kind->name == shape.kind) {
                dimensions.push_back(
                    dimension_of(*kind, shape.ports, {shape.bandwidth, {shape.latency_ps}}));
            }
        }
    }
    if (dimensions.size() != shapes.size()) {
        throw std::invalid_argument("no such topology");
    }
    return Topology(std::move(dimensions));
}

// The links of the one path from a rank to another, in order.
inline std::vector<std::uint32_t> path_links(Routing& routing, RankId source, RankId destination) {
    std::vector<std::uint32_t> links;
    for (std::uint32_t node = index(source); node != index(destination);) {
        const Hop hop = routing.next_hop(node, index(source), index(destination));
        for (std::uint32_t step = 0; step < hop.count; ++step) {
            links.push_back(routing.link_of(hop, step));
        }
        node = hop.end;
    }
    return links;
}

// What the backend says that a message takes on an empty network.
inline std::uint64_t alone_ps(const BackendInfo& backend,
                              Routing& routing,
                              const Message& message) {
    std::vector<Path::Stretch> stretches;
    Path path;
    for (const std::uint32_t link : path_links(routing, message.source, message.destination)) {
        const LinkProperties properties = routing.topology().link(link);
        stretches.push_back({properties.bandwidth, 1});
        path.latency = path.latency + properties.latency;
    }
    path.stretches = stretches;
    return backend.alone(path, message.size).ps;
}

// … over `links` equal ones.
inline std::uint64_t alone_ps(const BackendInfo& backend,
                              std::uint32_t links,
                              LinkProperties link,
                              std::uint64_t bytes) {
    const std::vector<Path::Stretch> stretches = {{link.bandwidth, links}};
    return backend.alone({stretches, links * link.latency}, {bytes}).ps;
}

struct Injection {
    Message message;
    std::uint64_t at_ps = 0;
};

inline Injection inject(std::uint32_t source,
                        std::uint32_t destination,
                        Bytes size,
                        std::uint64_t at_ps = 0) {
    return {{RankId{source}, RankId{destination}, size}, at_ps};
}

// A backend on a fabric of its own, and when each message arrived.
class TestNetwork {
  public:
    static constexpr std::uint64_t kNever = kMaxPs;

    TestNetwork(const BackendInfo& info, const std::vector<Shape>& shapes)
        : TestNetwork(info, build(shapes), "packet: {header: 0B}") {}
    // `settings` is the study's section `network`.
    TestNetwork(const BackendInfo& info, Topology topology, const std::string& settings)
        : settings_(ConfigTree::parse_text(settings, "network")),
          topology_(std::move(topology)),
          routing_(read_routing(settings_.root(), topology_, info)),
          backend_(info.build(queue_, routing_, settings_.root())) {}

    // The number of the message.
    std::size_t send(const Injection& injection) {
        arrivals_.push_back(kNever);
        backend_->send(injection.message,
                       {injection.at_ps},
                       Callback::to<&TestNetwork::arrive>(*this, arrivals_.size() - 1));
        return arrivals_.size() - 1;
    }
    std::vector<std::uint64_t> run(const std::vector<Injection>& injections) {
        for (const Injection& injection : injections) {
            send(injection);
        }
        queue_.run();
        return arrivals_;
    }

    EventQueue& queue() { return queue_; }
    const Topology& topology() const { return topology_; }
    Routing& routing() { return routing_; }
    NetworkBackend& backend() { return *backend_; }
    const std::vector<std::uint64_t>& arrivals() const { return arrivals_; }
    const std::vector<std::size_t>& order() const { return order_; }

  private:
    void arrive(std::uint64_t message) {
        EXPECT_EQ(arrivals_[message], kNever) << "message " << message << " arrived twice";
        arrivals_[message] = queue_.now().ps;
        order_.push_back(message);
    }

    EventQueue queue_;
    ConfigTree settings_;
    Topology topology_;
    Routing routing_;
    std::unique_ptr<NetworkBackend> backend_;
    std::vector<std::uint64_t> arrivals_;
    std::vector<std::size_t> order_;
};

}  // namespace astra
