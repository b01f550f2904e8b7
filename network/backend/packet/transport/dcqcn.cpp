// DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015): switches
// mark, receivers notify, senders change their rates; priority flow control loses nothing, and
// without it the receiver takes packets in order only and has the sender go back.
//
// A connection begins at the rate of its path with alpha 1 and keeps its rates between messages;
// the timers run on meanwhile, so that one that was idle for long is at that rate again.
//
// Simplified: the rates are brought up to date when a packet is sent and when a notification comes,
// so that the gap after a packet has the rate of its start; the timeout acts for packets that were
// really lost; going back concerns the message of the packet that is missing.
#include <algorithm>

#include "astra/core/types.h"
#include "network/backend/packet/fabric.h"
#include "network/backend/packet/transport/dcqcn_settings.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kReferenceBitsPerS = kDcqcnReferenceBitsPerS;
constexpr std::uint64_t kOne = kDcqcnOne;
constexpr std::uint64_t kMostTicks = 4096;  // after so many idle timers a flow is at line rate

// An amount that is right at 40 Gb/s, for another rate; a link without a limit counts as 2^60 b/s.
std::uint64_t by_rate(std::uint64_t amount, std::uint64_t bits_per_s) {
    using Wide = unsigned __int128;
    const std::uint64_t rate = bits_per_s == 0 ? std::uint64_t{1} << 60 : bits_per_s;
    return static_cast<std::uint64_t>(
        std::min<Wide>(static_cast<Wide>(amount) * rate / kReferenceBitsPerS, kNever / 4));
}

class Dcqcn final : public Transport {
  public:
    Dcqcn(Fabric& fabric, const Settings& common, const DcqcnSettings& settings)
        : fabric_(fabric), common_(common), settings_(settings) {
        if (settings.pfc) {
            fabric.use_flow_control({settings.shared_bytes,
                                     kSharedBytes * 8 * 1'000'000'000'000 / kReferenceBitsPerS,
                                     settings.share_permille,
                                     settings.headroom_bytes});
        }
    }

    PortLimits limits(const LinkClass& link_class) const override {
        const std::uint64_t rate = link_class.rate.bits_per_s;
        PortLimits limits;
        // On slow links sizes of a packet or two would be too coarse to mark by.
        const auto by_rate_or_packets = [&](std::uint64_t amount, std::uint64_t packets) {
            return std::max(by_rate(amount, rate), packets * common_.full_bytes());
        };
        limits.mark_least_bytes = by_rate_or_packets(5'000, 1);
        limits.mark_most_bytes = by_rate_or_packets(200'000, 8);
        limits.most_mark = settings_.pmax;
        if (!settings_.pfc) {
            limits.when_full = PortLimits::WhenFull::Drop;
            limits.buffer_bytes = common_.buffer_bytes.value_or(
                settings_.shared_bytes != 0
                    ? settings_.shared_bytes
                    : std::max(by_rate_or_packets(kLossyBytes, 16), 2 * settings_.kmax_bytes));
            // Senders are told before packets are dropped, in a small buffer too.
            limits.mark_most_bytes = std::min(limits.mark_most_bytes, limits.buffer_bytes / 2);
            limits.mark_least_bytes = std::min(limits.mark_least_bytes, limits.buffer_bytes / 8);
        }
        if (settings_.kmin_bytes != 0) {
            limits.mark_least_bytes = settings_.kmin_bytes;
        }
        if (settings_.kmax_bytes != 0) {
            limits.mark_most_bytes = settings_.kmax_bytes;
        }
        return limits;
    }

    void open(std::uint32_t connection) override {
        if (connection >= states_.size()) {
            states_.resize(connection + 1);
        }
        states_[connection] = {};
    }

    void begin(std::uint32_t id, std::uint64_t start_ps) override {
        if (id >= asked_.size()) {
            asked_.resize(id + 1);
        }
        asked_[id] = false;
        State& state = state_of(id);
        if (state.opened) {
            return;
        }
        state.opened = true;
        state.line_bits_per_s = fabric_.path_bits_per_s(id);
        state.rate_bits_per_s = state.target_bits_per_s = state.line_bits_per_s;
        state.byte_step_bytes = or_by_line(settings_.byte_counter_bytes, 10'000'000, state);
        state.alpha_tick_ps = state.rate_tick_ps = start_ps;
    }

    Sending next(std::uint32_t id, std::uint64_t start_ps) override {
        Flow& flow = fabric_.flow(id);
        State& state = state_of(id);
        if (flow.sent_packets == flow.packets) {
            return {};
        }
        if (state.next_ps > start_ps) {
            return {state.next_ps, kNone, false};
        }
        if (state.rate_bits_per_s != state.line_bits_per_s) {
            pass_time(state, start_ps);
        }
        const std::uint32_t sequence = flow.sent_packets++;
        const bool last = sequence + 1 == flow.packets;
        const std::uint32_t bytes =
            common_.header_bytes + (last ? flow.last_bytes : common_.mtu_bytes);
        state.next_ps = saturating_add(start_ps, gap_ps(state, bytes));
        state.counted_bytes += bytes;
        if (state.counted_bytes >= state.byte_step_bytes) {
            state.counted_bytes = 0;
            ++state.byte_steps;
            increase(state);
        }
        return {kNever, sequence, !last};
    }

    void arrive(std::uint32_t packet) override {
        const Packet& arrived = fabric_.packet(packet);
        const std::uint32_t id = arrived.flow;
        switch (arrived.kind()) {
            case PacketKind::Data:
                receive(packet);
                return;
            case PacketKind::Nack:
                fabric_.go_back(id, arrived.sequence);
                break;
            case PacketKind::Congestion:
                fabric_.settle(id);
                decrease(state_of(id));
                break;
            default:
                break;
        }
        fabric_.release(packet);
    }

    // What came out of order and was not kept counts as sent; the first one missing decides.
    void time_out(std::uint32_t packet) override {
        const Packet& lost = fabric_.packet(packet);
        const Flow& flow = fabric_.flow(lost.flow);
        if (flow.received <= lost.sequence && lost.sequence < flow.sent_packets) {
            fabric_.go_back(lost.flow, flow.received);
        }
    }

  private:
    // Shared buffer of a port at 40 Gb/s: (12 MB - 32 ports · 8 priorities · 22.4 KB) / 32.
    static constexpr std::uint64_t kSharedBytes = 195'800;
    // … and without flow control, which needs no headroom: 12 MB / 32.
    static constexpr std::uint64_t kLossyBytes = 375'000;

    struct State {
        std::uint64_t line_bits_per_s = 0;
        std::uint64_t rate_bits_per_s = 0;    // R_C
        std::uint64_t target_bits_per_s = 0;  // R_T
        std::uint64_t alpha = kOne;
        std::uint64_t next_ps = 0;  // the next packet may start
        std::uint64_t alpha_tick_ps = 0;
        std::uint64_t rate_tick_ps = 0;
        std::uint64_t counted_bytes = 0;
        std::uint64_t byte_step_bytes = 0;
        std::uint64_t gap_rate_bits_per_s = 0;  // of the gap after a full packet, below
        std::uint64_t gap_ps = 0;
        std::uint64_t next_cnp_ps = 0;  // of the receiver
        std::uint32_t time_steps = 0;
        std::uint32_t byte_steps = 0;
        bool opened = false;    // the first flow has begun
        bool notified = false;  // the timers run
    };

    State& state_of(std::uint32_t flow) { return states_[fabric_.flow(flow).connection]; }

    std::uint64_t gap_ps(State& state, std::uint32_t bytes) const {
        if (bytes != common_.full_bytes()) {
            return transfer_time({bytes}, {state.rate_bits_per_s}).ps;
        }
        if (state.gap_rate_bits_per_s != state.rate_bits_per_s) {
            state.gap_rate_bits_per_s = state.rate_bits_per_s;
            state.gap_ps = transfer_time({bytes}, {state.rate_bits_per_s}).ps;
        }
        return state.gap_ps;
    }

    // The timers that have run out by then.
    void pass_time(State& state, std::uint64_t until_ps) const {
        std::uint64_t ticks = (until_ps - state.alpha_tick_ps) / settings_.alpha_timer_ps;
        state.alpha_tick_ps += ticks * settings_.alpha_timer_ps;
        for (ticks = std::min(ticks, kMostTicks); ticks > 0; --ticks) {
            state.alpha -= (state.alpha * settings_.g) >> 32;
        }
        ticks = (until_ps - state.rate_tick_ps) / settings_.rate_timer_ps;
        state.rate_tick_ps += ticks * settings_.rate_timer_ps;
        for (ticks = std::min(ticks, kMostTicks); ticks > 0; --ticks) {
            ++state.time_steps;
            increase(state);
        }
    }

    std::uint64_t or_by_line(std::uint64_t given, std::uint64_t amount, const State& state) const {
        return given != 0 ? given
                          : std::max<std::uint64_t>(by_rate(amount, state.line_bits_per_s), 1);
    }

    // Section 3.1, figure 7.
    void increase(State& state) const {
        if (state.line_bits_per_s == 0) {
            return;
        }
        const std::uint64_t least = std::min(state.time_steps, state.byte_steps);
        const std::uint64_t most = std::max(state.time_steps, state.byte_steps);
        if (least > settings_.fast_recovery) {
            const std::uint64_t step =
                or_by_line(settings_.rate_hai_bits_per_s, 200'000'000, state);
            state.target_bits_per_s =
                saturating_add(state.target_bits_per_s,
                               saturating_multiply(least - settings_.fast_recovery, step));
        } else if (most >= settings_.fast_recovery) {
            state.target_bits_per_s =
                saturating_add(state.target_bits_per_s,
                               or_by_line(settings_.rate_ai_bits_per_s, 40'000'000, state));
        }
        state.target_bits_per_s = std::min(state.target_bits_per_s, state.line_bits_per_s);
        // Rounded up, so that the line rate is reached.
        const std::uint64_t apart = state.target_bits_per_s - state.rate_bits_per_s;
        state.rate_bits_per_s += apart - apart / 2;
    }

    // Equation 1.
    void decrease(State& state) const {
        if (state.line_bits_per_s == 0) {
            return;
        }
        const std::uint64_t now = fabric_.now_ps();
        if (state.notified) {
            pass_time(state, now);
        }
        state.notified = true;
        using Wide = unsigned __int128;
        state.target_bits_per_s = state.rate_bits_per_s;
        const std::uint64_t cut = static_cast<std::uint64_t>(
            (static_cast<Wide>(state.rate_bits_per_s) * state.alpha) >> 33);
        const std::uint64_t floor = std::min(
            or_by_line(settings_.min_rate_bits_per_s, 40'000'000, state), state.line_bits_per_s);
        state.rate_bits_per_s = std::max(state.rate_bits_per_s - cut, floor);
        state.target_bits_per_s = std::max(state.target_bits_per_s, state.rate_bits_per_s);
        state.alpha =
            std::min(kOne, state.alpha - ((state.alpha * settings_.g) >> 32) + settings_.g);
        state.alpha_tick_ps = state.rate_tick_ps = now;
        state.counted_bytes = 0;
        state.time_steps = state.byte_steps = 0;
    }

    void receive(std::uint32_t packet) {
        const Packet arrived = fabric_.packet(packet);
        const std::uint32_t id = arrived.flow;
        State& state = state_of(id);
        Flow& flow = fabric_.flow(id);
        if (arrived.marked() && fabric_.now_ps() >= state.next_cnp_ps) {
            state.next_cnp_ps = saturating_add(fabric_.now_ps(), settings_.cnp_interval_ps);
            fabric_.answer(PacketKind::Congestion, id, 0, 0);
        }
        if (arrived.sequence != flow.received) {
            refuse(packet);
            return;
        }
        asked_[id] = false;
        const bool done = fabric_.take_in(flow);
        if (done || flow.received % settings_.ack_every == 0) {
            fabric_.send_back(packet, PacketKind::Ack);
        } else {
            fabric_.release(packet);
        }
        if (done) {
            fabric_.deliver(id);
        }
    }

    // Out of order: asks once for the packet that is missing. The last packet of a flow keeps a
    // timeout, because nothing comes behind it that would show that it is missing.
    void refuse(std::uint32_t packet) {
        const Packet arrived = fabric_.packet(packet);
        const Flow& flow = fabric_.flow(arrived.flow);
        if (arrived.sequence > flow.received && !asked_[arrived.flow]) {
            asked_[arrived.flow] = true;
            fabric_.answer(PacketKind::Nack, arrived.flow, flow.received, 0);
        }
        if (arrived.sequence > flow.received && arrived.sequence + 1 == flow.packets) {
            fabric_.lose(packet);
        } else {
            fabric_.release(packet);
        }
    }

    Fabric& fabric_;
    const Settings common_;
    const DcqcnSettings settings_;
    std::vector<State> states_;  // by connection
    std::vector<bool> asked_;    // by flow: its receiver for the packet that it waits for
};

void warn_of_idle_dcqcn(const Settings& common, const ConfigView& section, Warnings& warnings) {
    if (section.bool_or("pfc", true)) {
        return;
    }
    for (const char* key : {"pfc_share", "headroom"}) {
        if (section.has(key)) {
            warnings.add(section.at(key).path() + ": no effect: pfc is off");
        }
    }
    if (common.buffer_bytes && section.has("shared_buffer")) {
        warnings.add(section.at("shared_buffer").path() +
                     ": no effect: pfc is off, and network.packet.buffer takes its place");
    }
}

}  // namespace

extern const TransportInfo kDcqcnTransport;
const TransportInfo kDcqcnTransport = {
    .name = "dcqcn",
    .summary = "marks, notifications and rates over lossless links (Zhu et al., SIGCOMM 2015)",
    .in_order = true,
    .goes_back = true,
    .build = [](Fabric& fabric,
                const Settings& common,
                const ConfigView& section) -> std::unique_ptr<Transport> {
        return std::make_unique<Dcqcn>(fabric, common, read_dcqcn(common, section));
    },
    .check = [](const Settings& common, const ConfigView& section) { read_dcqcn(common, section); },
    .limits_buffers = [](const ConfigView& section) { return !section.bool_or("pfc", true); },
    .warn = warn_of_idle_dcqcn};

}  // namespace astra::packet
