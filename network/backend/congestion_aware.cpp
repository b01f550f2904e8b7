// Whole-message store-and-forward: every link carries one message at a time, first come first
// served, and passes it on when its last byte has arrived. As ASTRA-sim's analytical backend, in
// any number of dimensions. Messages of a connection take one path, so that they stay in order and
// one after the other.
#include <algorithm>
#include <limits>
#include <utility>

#include "astra/core/transfer_clock.h"
#include "network/backend/backend.h"

namespace astra {

namespace {

// A link's queue needs no events: the time at which a message leaves follows from the one
// before it when it comes. Only the message that arrives next holds an event of the global queue.
class CongestionAware final : public NetworkBackend {
  public:
    CongestionAware(EventQueue& queue, Routing& routing)
        : queue_(queue),
          routing_(routing),
          topology_(routing.topology()),
          links_(topology_.links()),
          last_(topology_.ranks()) {
        for (const LinkProperties& link : topology_.classes()) {
            clocks_.emplace_back(link.bandwidth);
        }
    }

    SimTime send(const Message& message,
                 SimTime at,
                 Callback delivered,
                 Callback sent = {}) override {
        const std::uint32_t id = new_flight();
        Flight& flight = flights_[id];
        flight.delivered = delivered;
        flight.size = message.size;
        flight.source = index(message.source);
        flight.destination = index(message.destination);
        FirstHop& first = last_[index(message.source)];
        if (first.destination != flight.destination) {
            first = {flight.destination,
                     routing_.next_hop(flight.source, flight.source, flight.destination)};
        }
        flight.hop = first.hop;
        flight.step = 0;
        if (at == queue_.now()) {
            enter(id);
            return {links_[routing_.link_of(flight.hop, 0)].free_ps};
        }
        if (sent) {
            if (id >= sent_.size()) {
                sent_.resize(id + 1);
            }
            sent_[id] = sent;
        }
        queue_.schedule_at(at, Callback::to<&CongestionAware::inject>(*this, id));
        return {kMaxPs};
    }

    // What is still to be sent is booked already: the link is busy with it until `free_ps`.
    void sample(std::vector<LinkSample>& samples) override {
        samples.assign(links_.size(), {});
        for (std::uint32_t link = 0; link < links_.size(); ++link) {
            const Link& state = links_[link];
            const std::uint64_t left_ps =
                state.free_ps > queue_.now().ps ? state.free_ps - queue_.now().ps : 0;
            const std::uint64_t left = std::min(
                state.carried, bytes_in({left_ps}, clocks_[topology_.link_class(link)].rate()));
            samples[link] = {state.carried - left, left};
        }
    }

    std::vector<LinkRecord> link_records() const override {
        std::vector<LinkRecord> records;
        for (std::uint32_t link = 0; link < links_.size(); ++link) {
            const Link& state = links_[link];
            if (state.carried == 0 && state.busy_ps == 0) {
                continue;
            }
            const LinkEnds ends = topology_.link_ends(link);
            records.push_back({topology_.node_name(ends.from),
                               topology_.node_name(ends.to),
                               {state.carried},
                               {state.busy_ps},
                               topology_.dimension_of_link(link)});
        }
        return records;
    }

  private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct Flight {
        Callback delivered;
        Bytes size;
        std::uint64_t arrival_ps = 0;  // at the end of the link that it is on
        Hop hop;
        std::uint32_t step = 0;  // of the hop
        std::uint32_t source = 0;
        std::uint32_t destination = 0;
        std::uint32_t next = kNone;  // behind it on the link, or the next free flight
    };
    // The first hop of a rank's last message, which its next one is likely to take again.
    struct FirstHop {
        std::uint32_t destination = kNone;
        Hop hop;
    };
    struct Link {
        std::uint64_t free_ps = 0;  // when the last byte of the last message will have left
        std::uint64_t carried = 0;
        std::uint64_t busy_ps = 0;
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };

    std::uint32_t new_flight() {
        if (free_flight_ == kNone) {
            flights_.emplace_back();
            return static_cast<std::uint32_t>(flights_.size() - 1);
        }
        const std::uint32_t id = free_flight_;
        free_flight_ = flights_[id].next;
        return id;
    }

    void inject(std::uint64_t id) {
        Callback sent;
        if (id < sent_.size()) {
            std::swap(sent, sent_[id]);
        }
        enter(static_cast<std::uint32_t>(id), sent);
    }

    // `sent` is run when the message has left the link.
    void enter(std::uint32_t id, Callback sent = {}) {
        Flight& flight = flights_[id];
        const std::uint32_t link_id = routing_.link_of(flight.hop, flight.step);
        Link& link = links_[link_id];
        const std::uint64_t wire_ps = clocks_[flight.hop.link_class](flight.size).ps;
        const std::uint64_t start_ps = std::max(link.free_ps, queue_.now().ps);
        link.free_ps = saturating_add(start_ps, wire_ps);
        link.carried += flight.size.count;
        link.busy_ps += wire_ps;
        if (sent) {
            queue_.schedule_at({link.free_ps}, sent);
        }
        flight.arrival_ps =
            saturating_add(link.free_ps, topology_.classes()[flight.hop.link_class].latency.ps);
        flight.next = kNone;
        if (link.first == kNone) {
            link.first = link.last = id;
            wait_for_head(link_id);
        } else {
            flights_[link.last].next = id;
            link.last = id;
        }
    }

    void wait_for_head(std::uint32_t link_id) {
        queue_.schedule_at({flights_[links_[link_id].first].arrival_ps},
                           Callback::to<&CongestionAware::arrive>(*this, link_id));
    }

    void arrive(std::uint64_t link_argument) {
        const auto link_id = static_cast<std::uint32_t>(link_argument);
        Link& link = links_[link_id];
        const std::uint32_t id = link.first;
        Flight& flight = flights_[id];
        link.first = flight.next;
        if (link.first == kNone) {
            link.last = kNone;
        } else {
            wait_for_head(link_id);
        }
        if (++flight.step < flight.hop.count) {
            enter(id);
            return;
        }
        const std::uint32_t node = flight.hop.end;
        if (node != flight.destination) {
            flight.hop = routing_.next_hop(node, flight.source, flight.destination);
            flight.step = 0;
            enter(id);
            return;
        }
        const Callback delivered = flight.delivered;
        flight.next = free_flight_;
        free_flight_ = id;
        delivered();
    }

    EventQueue& queue_;
    Routing& routing_;
    const Topology& topology_;
    std::vector<Link> links_;
    std::vector<FirstHop> last_;
    std::vector<TransferClock> clocks_;
    std::vector<Flight> flights_;
    std::vector<Callback> sent_;  // by flight, of those that wait to be injected
    std::uint32_t free_flight_ = kNone;
};

}  // namespace

extern const BackendInfo kCongestionAwareBackend;
const BackendInfo kCongestionAwareBackend = {
    .name = "congestion_aware",
    .summary =
        "whole messages, stored and forwarded, one at a time a link, first come first served",
    .alone = [](const Path& path, Bytes size) { return total_wire(path, size) + path.latency; },
    .contention = Contention::Message,
    .usual_routing = [](const ConfigView&) { return RoutePolicy::Ecmp; },
    .build = [](EventQueue& queue,
                Routing& routing,
                const ConfigView&) -> std::unique_ptr<NetworkBackend> {
        return std::make_unique<CongestionAware>(queue, routing);
    }};

}  // namespace astra
