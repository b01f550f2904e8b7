// The ranks as ends of the network: their connections, the flows of which are sent one after the
// other, and how flows feed the links of their rank, in turn or at a pace. A flow has a feeder at
// each link that it may start on; a link's feeders that have something to send form a ring, those
// that must wait for their time a heap.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "astra/core/event_queue.h"
#include "network/backend/backend.h"
#include "network/backend/packet/flow.h"
#include "network/backend/packet/link.h"
#include "network/backend/packet/pacer.h"
#include "network/backend/packet/settings.h"
#include "network/routing/routing.h"

namespace astra::packet {

class Forwarding;
class Links;
class Transport;

class Hosts {
  public:
    // The references outlive it; the last two are only used once messages move.
    Hosts(EventQueue& queue,
          const Routing& routing,
          const Settings& settings,
          Links& links,
          Forwarding& forwarding);

    void attach(Transport& transport) { transport_ = &transport; }

    // Throws InputError for a message of too many packets.
    void send(const Message& message, SimTime at, Callback delivered, Callback sent);

    // Valid until the next message is sent.
    Flow& flow(std::uint32_t id) { return flows_[id]; }
    void settle(std::uint32_t flow);
    void wake(std::uint32_t flow);
    // The flow has a packet to be sent again.
    void keep_again(std::uint32_t flow);
    // The last packet of the flow is there. Runs the callback, which may send messages, as soon as
    // the flows before it in its connection are there too.
    void deliver(std::uint32_t flow);
    // A packet that was missing has arrived somewhere.
    void progress() { vain_ = 0; }
    // The packet is gone.
    void release(std::uint32_t packet);
    void let_go(std::uint32_t flow);

    // A packet of the next flow in turn, for a link that is free; kNone: nobody sends by
    // `until_ps`. May move the time at which the link is free to that of a paced flow.
    std::uint32_t take(std::uint32_t link, std::uint64_t until_ps);
    const Pacer& pacer(std::uint32_t pacer) const { return pacers_[pacer]; }
    // After a packet that take() gave has started on the link: if it was the last of a flow, the
    // connection goes on with the next.
    void started(std::uint32_t link) {
        if (left_ != kNone) [[unlikely]] {
            start_next(link);
        }
    }

    // After links failed or came back, every flow may start on other links. Those that were about
    // to send join the rings again, in the order of their numbers.
    void renew_feeders();

    // The time that a full packet takes on all links of a rank together, outwards or inwards.
    std::uint64_t full_ps_out_of(std::uint32_t rank) const { return full_ps_out_[rank]; }
    std::uint64_t full_ps_into(std::uint32_t rank) const { return full_ps_in_[rank]; }
    // The summed rate of the links that the flow may start on.
    std::uint64_t line_bits_per_s(std::uint32_t flow) const;

  private:
    struct ConnectionKey {
        std::uint64_t pair = 0;
        ChannelKey channel{};
        bool operator==(const ConnectionKey&) const = default;
    };
    struct ConnectionKeyHash {
        std::size_t operator()(const ConnectionKey& key) const {
            return static_cast<std::size_t>(
                (key.pair ^ (static_cast<std::uint64_t>(key.channel) << 20U)) *
                0x9e3779b97f4a7c15ULL);
        }
    };

    void inject(std::uint64_t flow);
    std::uint32_t new_flow(const Message& message, Callback delivered, Callback sent);
    std::uint32_t connection_of(const Flow& flow);
    void append(std::uint32_t connection, std::uint32_t flow);
    void begin(std::uint32_t flow, std::uint64_t start_ps);
    void start_next(std::uint32_t link);
    void watch(std::uint32_t connection);
    void look(std::uint64_t connection);
    void watch_feeders(std::uint32_t flow);
    void unwatch_feeders(std::uint32_t flow);
    void tell_sent(std::uint64_t flow);
    void settle_flow(std::uint32_t flow);
    void wake_flow(std::uint32_t flow);
    void free_flow(std::uint32_t flow);
    void release_connection(std::uint32_t connection);
    void add_feeders(std::uint32_t flow);
    void remove_feeders(std::uint32_t flow);
    void join_ring(std::uint32_t feeder);
    void join_anywhere(Link& link, std::uint32_t feeder);
    void leave_ring(Link& link, std::uint32_t before, std::uint32_t feeder);
    void advance_siblings(std::uint32_t flow, std::uint32_t link);
    void pace(std::uint32_t feeder, std::uint64_t when_ps);
    bool join_due(Link& link, std::uint64_t until_ps);
    std::uint32_t next_path(std::uint32_t rank);
    std::uint32_t make_data(std::uint32_t flow, std::uint32_t sequence, std::uint64_t start_ps);
    void repeat(const Flow& flow, std::uint32_t link);

    EventQueue& queue_;
    const Routing& routing_;
    const Settings settings_;
    Links& links_;
    Forwarding& forwarding_;
    Transport* transport_ = nullptr;
    Arena<Flow> flows_;
    Arena<Feeder> feeders_;
    Arena<Connection> connections_;
    std::unordered_map<ConnectionKey, std::uint32_t, ConnectionKeyHash> connection_of_;
    std::uint32_t left_ = kNone;  // the flow whose last packet take() has just given
    bool mixes_turns_ = false;
    std::uint64_t places_ = 0;   // that were given at random
    std::uint64_t vain_ = 0;     // packets sent again since one arrived that was missing
    std::vector<Pacer> pacers_;  // by Link::pacer
    std::uint64_t paced_ = 0;
    std::uint32_t first_path_;          // seeded
    std::vector<std::uint32_t> paths_;  // by rank: packets that it has made
    std::vector<std::uint64_t> full_ps_out_;
    std::vector<std::uint64_t> full_ps_in_;
};

}  // namespace astra::packet
