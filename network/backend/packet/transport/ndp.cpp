// NDP (Handley et al., "Re-architecting datacenter networks and stacks for low latency and high
// performance", SIGCOMM 2017): senders begin at line rate, full queues trim packets to headers,
// receivers ask for every further packet at the rate of their links.
//
//   key             default        meaning (section of the paper)
//   initial_window  auto           packets sent unasked (3.2); auto: what the empty path holds on
//                                  the path there and back at line rate, and one switch queue. A
//                                  connection has at most so many on the way that nobody asked for:
//                                  a message that finds some there sends the rest as they are
//                                  answered
//   header_queue    8 packets      bytes of headers and control that may wait at a port, by default
//                                  as many as of data (3.1)
//   control_weight  10             control packets that may go before a data packet that waits
//                                  (3.1); 0: all
//   buffer (of network.packet)     8 packets of data a port (3.1)
//
// Simplified: an acknowledgement waits for the pull that belongs to it and travels with it, one
// control packet for each of data; only what needs no pull is acknowledged alone. A header that
// finds the header queue full is lost and repaired by the timeout, not returned to the sender.
#include <algorithm>
#include <limits>

#include "network/backend/packet/fabric.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kQueuePackets = 8;
constexpr std::uint64_t kMostWindow = std::numeric_limits<std::uint32_t>::max();

struct NdpSettings {
    std::uint64_t initial_window = 0;  // 0: auto
    std::uint64_t header_queue_bytes = 0;
    std::uint8_t control_weight = 10;
};

NdpSettings read(const Settings& common, const ConfigView& section) {
    NdpSettings settings;
    if (section.string_or("initial_window", "auto") != "auto") {
        settings.initial_window = section.at("initial_window").as_integer(1, kMostWindow);
    }
    const Bytes queue = section.bytes_or(
        "header_queue",
        {std::max<std::uint64_t>(kQueuePackets * std::uint64_t{common.full_bytes()},
                                 common.control_bytes)});
    if (queue.count < common.control_bytes) {
        section.at("header_queue").fail("expected room for at least one control packet");
    }
    settings.header_queue_bytes = queue.count;
    settings.control_weight =
        static_cast<std::uint8_t>(section.integer_or("control_weight", 10, 0, 255));
    return settings;
}

class Ndp final : public Transport {
  public:
    Ndp(Fabric& fabric, const Settings& common, const NdpSettings& settings)
        : fabric_(fabric), settings_(settings), hosts_(fabric.ranks()) {
        buffer_bytes_ =
            common.buffer_bytes.value_or(kQueuePackets * std::uint64_t{common.full_bytes()});
        fabric.set_control_weight(settings.control_weight);
    }

    PortLimits limits(const LinkClass& /*link_class*/) const override {
        PortLimits limits;
        limits.when_full = PortLimits::WhenFull::Trim;
        limits.buffer_bytes = buffer_bytes_;
        limits.control_bytes = settings_.header_queue_bytes;
        return limits;
    }

    void open(std::uint32_t connection) override {
        if (connection >= states_.size()) {
            states_.resize(connection + 1);
        }
        states_[connection] = {};
    }

    void begin(std::uint32_t id, std::uint64_t /*start_ps*/) override {
        const Flow& flow = fabric_.flow(id);
        State& state = states_[flow.connection];
        if (state.window == 0) {
            const std::uint64_t window =
                settings_.initial_window != 0
                    ? settings_.initial_window
                    : saturating_add(fabric_.path_packets(flow.source, flow.destination),
                                     kQueuePackets);
            state.window = static_cast<std::uint32_t>(std::min(window, kMostWindow));
        }
        const std::uint32_t first = std::min(flow.packets, state.window);
        const std::uint32_t at_once =
            std::min(first, state.window - std::min(state.window, state.open));
        state.credit += at_once;
        state.open += at_once;
        state.held_back += first - at_once;
        state.unasked += flow.packets - first;
    }

    Sending next(std::uint32_t id, std::uint64_t /*start_ps*/) override {
        Flow& flow = fabric_.flow(id);
        State& state = states_[flow.connection];
        if (state.credit == 0 || flow.all_sent()) {
            return {};
        }
        --state.credit;
        const std::uint32_t sequence = fabric_.take_sequence(flow);
        return {kNever, sequence, state.credit != 0 && !flow.all_sent()};
    }

    void arrive(std::uint32_t packet) override {
        switch (fabric_.packet(packet).kind()) {
            case PacketKind::Data:
                receive(packet);
                break;
            case PacketKind::Trimmed:
                ++state_of(packet).unasked;
                ask(packet, PacketKind::NackPull);
                break;
            case PacketKind::Pull:
                allow(packet, false);
                break;
            case PacketKind::NackPull:
                allow(packet, true);
                break;
            case PacketKind::Ack:
                answer(packet);
                fabric_.release(packet);
                break;
            default:
                fabric_.release(packet);
        }
    }

    // The sender finds out by itself, so that the packet needs no pull.
    void time_out(std::uint32_t packet) override { allow_again(packet); }

  private:
    // Of a connection: what its sender may send, and what its receiver has not asked for.
    struct State {
        std::uint32_t window = 0;  // packets sent unasked; 0 before the first message
        std::uint32_t credit = 0;
        std::uint32_t open = 0;       // credit and packets that have not been answered
        std::uint32_t held_back = 0;  // packets that go unasked when others have been answered
        std::uint32_t unasked = 0;    // packets that still need a pull
        PacketList waiting;           // pulls to be sent; they were the packets that caused them
        std::uint32_t next = kNone;   // connection behind it in the ring of its receiver
    };
    struct Host {
        std::uint64_t next_pull_ps = 0;
        std::uint32_t ring = kNone;  // the last of the connections with pulls to be sent
        bool armed = false;
    };

    State& state_of(std::uint32_t packet) {
        return states_[fabric_.flow(fabric_.packet(packet).flow).connection];
    }

    void receive(std::uint32_t packet) {
        const std::uint32_t id = fabric_.packet(packet).flow;
        Flow& flow = fabric_.flow(id);
        const bool done = fabric_.take_in(flow);
        if (states_[flow.connection].unasked != 0) {
            ask(packet, PacketKind::Pull);
        } else {
            fabric_.send_back(packet, PacketKind::Ack);
        }
        if (done) {
            fabric_.deliver(id);
        }
    }

    // Turns a packet that arrived into a pull, to be sent when it is its turn.
    void ask(std::uint32_t packet, PacketKind kind) {
        const Flow& flow = fabric_.flow(fabric_.packet(packet).flow);
        const std::uint32_t id = flow.connection;
        const std::uint32_t rank = flow.destination;
        State& state = states_[id];
        Host& host = hosts_[rank];
        --state.unasked;
        fabric_.turn_round(packet, kind);
        const std::uint64_t now = fabric_.now_ps();
        if (host.ring == kNone && !host.armed && host.next_pull_ps <= now) {
            host.next_pull_ps = saturating_add(now, fabric_.full_ps_into(rank));
            fabric_.send_on(packet);
            return;
        }
        const bool in_ring = !state.waiting.empty();
        fabric_.packets().append(state.waiting, packet);
        if (!in_ring) {
            join(host, id);
        }
        if (!host.armed) {
            host.armed = true;
            fabric_.queue().schedule_at({std::max(host.next_pull_ps, now)},
                                        Callback::to<&Ndp::on_pull>(*this, rank));
        }
    }

    void join(Host& host, std::uint32_t id) {
        if (host.ring == kNone) {
            states_[id].next = id;
        } else {
            states_[id].next = states_[host.ring].next;
            states_[host.ring].next = id;
        }
        host.ring = id;
    }

    // The connections of a receiver take turns, a pull each.
    void on_pull(std::uint64_t rank) {
        Host& host = hosts_[rank];
        const std::uint32_t id = states_[host.ring].next;
        State& state = states_[id];
        const std::uint32_t packet = fabric_.packets().take_first(state.waiting);
        if (!state.waiting.empty()) {
            host.ring = id;
        } else if (host.ring == id) {
            host.ring = kNone;
        } else {
            states_[host.ring].next = state.next;
        }
        host.next_pull_ps = saturating_add(fabric_.now_ps(),
                                           fabric_.full_ps_into(static_cast<std::uint32_t>(rank)));
        host.armed = host.ring != kNone;
        if (host.armed) {
            fabric_.queue().schedule_at({host.next_pull_ps},
                                        Callback::to<&Ndp::on_pull>(*this, rank));
        }
        fabric_.send_on(packet);
    }

    // A packet has come that needed no pull: one that was held back may go in its place.
    void answer(std::uint32_t packet) {
        State& state = state_of(packet);
        --state.open;
        if (state.held_back > 0) {
            const std::uint32_t id = fabric_.packet(packet).flow;
            fabric_.settle(id);
            --state.held_back;
            ++state.open;
            ++state.credit;
            fabric_.wake(id);
        }
    }

    void allow(std::uint32_t packet, bool again) {
        if (again) {
            // Ranks that send in step meet at the same ports in every round: they are not to stay
            // so.
            fabric_.flow(fabric_.packet(packet).flow).out_of_turn = true;
            allow_again(packet);
        } else {
            const std::uint32_t id = fabric_.packet(packet).flow;
            fabric_.settle(id);
            ++states_[fabric_.flow(id).connection].credit;
            fabric_.wake(id);
        }
        fabric_.release(packet);
    }

    void allow_again(std::uint32_t packet) {
        const std::uint32_t id = fabric_.packet(packet).flow;
        fabric_.settle(id);
        fabric_.send_again(id, fabric_.packet(packet).sequence);
        ++states_[fabric_.flow(id).connection].credit;
        fabric_.wake(id);
    }

    Fabric& fabric_;
    const NdpSettings settings_;
    std::uint64_t buffer_bytes_ = 0;
    std::vector<State> states_;  // by connection
    std::vector<Host> hosts_;
};

}  // namespace

extern const TransportInfo kNdpTransport;
const TransportInfo kNdpTransport = {
    .name = "ndp",
    .summary = "receivers pull packets, full queues trim them (Handley et al., SIGCOMM 2017)",
    .in_order = false,
    .goes_back = false,
    .build = [](Fabric& fabric,
                const Settings& common,
                const ConfigView& section) -> std::unique_ptr<Transport> {
        return std::make_unique<Ndp>(fabric, common, read(common, section));
    },
    .check = [](const Settings& common, const ConfigView& section) { read(common, section); },
    .limits_buffers = [](const ConfigView&) { return true; }};

}  // namespace astra::packet
