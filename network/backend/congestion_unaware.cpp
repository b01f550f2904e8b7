// Messages that never meet, not even those of one connection: latency of every link of the path,
// plus size over the slowest bandwidth. As ASTRA-sim's analytical backend, but a message is charged
// in every dimension that it crosses.
#include <array>

#include "astra/core/transfer_clock.h"
#include "network/backend/backend.h"
#include "network/backend/link_loads.h"

namespace astra {

namespace {

class CongestionUnaware final : public NetworkBackend {
  public:
    CongestionUnaware(EventQueue& queue, Routing& routing)
        : queue_(queue),
          routing_(routing),
          topology_(routing.topology()),
          loads_(topology_),
          last_(topology_.ranks()) {
        for (const LinkProperties& link : topology_.classes()) {
            clocks_.emplace_back(link.bandwidth);
        }
    }

    SimTime send(const Message& message,
                 SimTime at,
                 Callback delivered,
                 Callback /*sent*/ = {}) override {
        Path& path = last_[index(message.source)];
        const std::uint32_t destination = index(message.destination);
        if (path.destination != destination) {
            find_path(index(message.source), destination, path);
        }
        const Duration wire = clocks_[path.slowest](message.size);
        if (path.hops <= path.first_hops.size()) {
            for (std::uint32_t i = 0; i < path.hops; ++i) {
                add_load(path.first_hops[i], message.size);
            }
        } else {
            const std::uint32_t source = index(message.source);
            std::uint32_t node = source;
            while (node != destination) {
                const Hop hop = routing_.next_hop(node, source, destination);
                add_load(hop, message.size);
                node = hop.end;
            }
        }
        queue_.schedule_at(at + path.latency + wire, delivered);
        return at + wire;
    }

    std::vector<LinkRecord> link_records() const override { return loads_.records(); }

  private:
    static constexpr std::uint32_t kNowhere = 0xffffffffU;

    // The path of a rank's last message, which its next one is likely to take again.
    struct Path {
        std::uint32_t destination = kNowhere;
        std::uint32_t slowest = 0;  // link class
        Duration latency;
        std::uint32_t hops = 0;
        std::array<Hop, 2> first_hops;
    };

    void add_load(const Hop& hop, Bytes size) {
        loads_.add(hop, size, clocks_[hop.link_class](size));
    }

    void find_path(std::uint32_t source, std::uint32_t destination, Path& path) {
        path = {};
        path.destination = destination;
        std::uint32_t node = source;
        while (node != destination) {
            const Hop hop = routing_.next_hop(node, source, destination);
            if (path.hops < path.first_hops.size()) {
                path.first_hops[path.hops] = hop;
            }
            if (path.hops == 0 || clocks_[hop.link_class].rate() < clocks_[path.slowest].rate()) {
                path.slowest = hop.link_class;
            }
            path.latency = path.latency + hop.count * topology_.classes()[hop.link_class].latency;
            ++path.hops;
            node = hop.end;
        }
    }

    EventQueue& queue_;
    Routing& routing_;
    const Topology& topology_;
    LinkLoads loads_;
    std::vector<TransferClock> clocks_;
    std::vector<Path> last_;
};

}  // namespace

extern const BackendInfo kCongestionUnawareBackend;
const BackendInfo kCongestionUnawareBackend = {
    .name = "congestion_unaware",
    .summary =
        "latencies of the links plus size over the slowest bandwidth; messages never share a link",
    .alone = [](const Path& path, Bytes size) { return slowest_wire(path, size) + path.latency; },
    .contention = Contention::None,
    .usual_routing = [](const ConfigView&) { return RoutePolicy::Ecmp; },
    .build = [](EventQueue& queue,
                Routing& routing,
                const ConfigView&) -> std::unique_ptr<NetworkBackend> {
        return std::make_unique<CongestionUnaware>(queue, routing);
    }};

}  // namespace astra
