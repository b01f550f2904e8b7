// DCQCN (Zhu et al., "Congestion control for large-scale RDMA deployments", SIGCOMM 2015): switches
// mark, receivers notify, senders change their rates; priority flow control loses nothing, and
// without it the receiver takes packets in order only and has the sender go back.
//
// The paper's values are for links of 40 Gb/s. A default that is a size or a rate grows in
// proportion to the rate of the link ("at 40 Gb/s"); a value that is given is taken as it is.
//
//   key            default               meaning (section of the paper)
//   pfc            true                  priority flow control
//   kmin, kmax     5 KB, 200 KB at 40 Gb/s  waiting data that begins to be marked, and that always
//                                        is (3.1, 5.2; here and below the deployed values)
//   pmax           0.01                  probability of a mark just below kmax
//   cnp_interval   50us                  least time between two notifications to a flow (3.1)
//   g              0.00390625            weight of a notification in alpha, 1/256 (3.1)
//   alpha_timer    55us                  without a notification for so long, alpha falls (3.1)
//   rate_timer     55us                  a step of increase after each (5.2)
//   byte_counter   10MB                  … and after so many bytes (5.2)
//   fast_recovery  5                     steps of either kind towards the old rate (3.1)
//   rate_ai        40 Mb/s at 40 Gb/s    additive increase of a step (3.1)
//   rate_hai       5 rate_ai             hyper increase of a step, once both kinds are past fast
//                                        recovery (from QCN; the paper names no value)
//   min_rate       line rate / 1000      the least rate
//   shared_buffer  196 KB at 40 Gb/s     of a switch for each port: 12 MB for 32, without headroom
//                                        (4: B, n, t_flight)
//   pfc_share      1                     of the free shared buffer that a port may hold (4: beta/8)
//   headroom       auto                  of a port; auto: what can come after a pause (4)
//   ack_every      16                    packets that one acknowledgement covers
//   buffer (of network.packet)           without pfc; default: shared_buffer
//
// Simplified: every message begins at line rate with alpha 1, as a new flow; the rates of a flow
// are brought up to date when it sends and when a notification comes, so that the gap after a
// packet has the rate of its start; the timeout acts for packets that were really lost.
#include <algorithm>

#include "astra/core/types.h"
#include "network/backend/packet/fabric.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kReferenceBitsPerS = 40'000'000'000;
constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  // 1 in alpha, g and pmax
constexpr std::uint64_t kMostTicks = 4096;  // after so many idle timers a flow is at line rate

struct DcqcnSettings {
    bool pfc = true;
    std::uint64_t kmin_bytes = 0;  // 0: by the rate of the link, here and below
    std::uint64_t kmax_bytes = 0;
    std::uint64_t pmax = 0;
    std::uint64_t cnp_interval_ps = 0;
    std::uint64_t g = 0;
    std::uint64_t alpha_timer_ps = 0;
    std::uint64_t rate_timer_ps = 0;
    std::uint64_t byte_counter = 0;
    std::uint64_t fast_recovery = 0;
    std::uint64_t rate_ai_bits_per_s = 0;
    std::uint64_t rate_hai_bits_per_s = 0;
    std::uint64_t min_rate_bits_per_s = 0;
    std::uint64_t shared_bytes = 0;
    std::uint64_t share_permille = 1000;
    std::uint64_t headroom_bytes = kNever;
    std::uint32_t ack_every = 0;
};

// An amount that is right at 40 Gb/s, for another rate; a link without a limit counts as 2^60 b/s.
std::uint64_t by_rate(std::uint64_t amount, std::uint64_t bits_per_s) {
    using Wide = unsigned __int128;
    const std::uint64_t rate = bits_per_s == 0 ? std::uint64_t{1} << 60 : bits_per_s;
    return static_cast<std::uint64_t>(
        std::min<Wide>(static_cast<Wide>(amount) * rate / kReferenceBitsPerS, kNever / 4));
}

std::uint64_t probability(const ConfigView& section, const char* key, double fallback) {
    const double value = section.number_or(key, fallback);
    if (value < 0 || value > 1) {
        section.at(key).fail("expected a number from 0 to 1");
    }
    return static_cast<std::uint64_t>(value * static_cast<double>(kOne));
}

std::uint64_t interval_ps(const ConfigView& section, const char* key, std::uint64_t fallback_us) {
    const Duration value = section.duration_or(key, {fallback_us * 1'000'000});
    if (value.ps == 0) {
        section.at(key).fail("expected more than 0");
    }
    return value.ps;
}

// 0, the mark of "by the rate", when the key is absent.
std::uint64_t bytes_if_given(const ConfigView& section, const char* key, std::uint64_t least) {
    if (!section.has(key)) {
        return 0;
    }
    const std::uint64_t bytes = section.at(key).as_bytes().count;
    if (bytes < least) {
        section.at(key).fail("expected at least " + std::to_string(least) + " bytes");
    }
    return bytes;
}

std::uint64_t rate_if_given(const ConfigView& section, const char* key) {
    if (!section.has(key)) {
        return 0;
    }
    const std::uint64_t rate = section.at(key).as_bandwidth().bits_per_s;
    if (rate == 0) {
        section.at(key).fail("expected more than 0");
    }
    return rate;
}

void read_ports(DcqcnSettings& settings, const Settings& common, const ConfigView& section) {
    settings.pfc = section.bool_or("pfc", true);
    settings.kmin_bytes = bytes_if_given(section, "kmin", 1);
    settings.kmax_bytes = bytes_if_given(section, "kmax", 1);
    if ((settings.kmin_bytes == 0) != (settings.kmax_bytes == 0)) {
        section.at(settings.kmin_bytes == 0 ? "kmax" : "kmin")
            .fail("expected kmin and kmax, or none");
    }
    if (settings.kmax_bytes < settings.kmin_bytes) {
        section.at("kmax").fail("expected at least kmin");
    }
    settings.pmax = probability(section, "pmax", 0.01);
    settings.shared_bytes = bytes_if_given(section, "shared_buffer", common.full_bytes());
    const double share = section.number_or("pfc_share", 1);
    if (share < 0.001 || share > 1000) {
        section.at("pfc_share").fail("expected a number from 0.001 to 1000");
    }
    settings.share_permille = static_cast<std::uint64_t>(share * 1000);
    if (section.string_or("headroom", "auto") != "auto") {
        settings.headroom_bytes = section.at("headroom").as_bytes().count;
    }
}

DcqcnSettings read(const Settings& common, const ConfigView& section) {
    DcqcnSettings settings;
    read_ports(settings, common, section);
    settings.cnp_interval_ps = section.duration_or("cnp_interval", {50'000'000}).ps;
    settings.g = probability(section, "g", 1.0 / 256);
    settings.alpha_timer_ps = interval_ps(section, "alpha_timer", 55);
    settings.rate_timer_ps = interval_ps(section, "rate_timer", 55);
    settings.byte_counter = section.bytes_or("byte_counter", {10'000'000}).count;
    if (settings.byte_counter == 0) {
        section.at("byte_counter").fail("expected more than 0");
    }
    settings.fast_recovery = section.integer_or("fast_recovery", 5, 0, 1'000);
    settings.rate_ai_bits_per_s = rate_if_given(section, "rate_ai");
    settings.rate_hai_bits_per_s = rate_if_given(section, "rate_hai");
    settings.min_rate_bits_per_s = rate_if_given(section, "min_rate");
    settings.ack_every =
        static_cast<std::uint32_t>(section.integer_or("ack_every", 16, 1, 1'000'000));
    return settings;
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
        limits.mark_least_bytes =
            settings_.kmin_bytes != 0 ? settings_.kmin_bytes : by_rate(5'000, rate);
        limits.mark_most_bytes =
            settings_.kmax_bytes != 0 ? settings_.kmax_bytes : by_rate(200'000, rate);
        limits.most_mark = settings_.pmax;
        if (!settings_.pfc) {
            limits.when_full = PortLimits::WhenFull::Drop;
            limits.buffer_bytes = common_.buffer_bytes.value_or(
                settings_.shared_bytes != 0
                    ? settings_.shared_bytes
                    : std::max<std::uint64_t>(by_rate(kSharedBytes, rate), common_.full_bytes()));
        }
        return limits;
    }

    void begin(std::uint32_t id) override {
        if (id >= states_.size()) {
            states_.resize(id + 1);
        }
        State& state = states_[id];
        state = {};
        state.line_bits_per_s = fabric_.line_bits_per_s(id);
        state.rate_bits_per_s = state.target_bits_per_s = state.line_bits_per_s;
        state.alpha_tick_ps = state.rate_tick_ps = fabric_.now_ps();
    }

    Sending next(std::uint32_t id, std::uint64_t start_ps) override {
        Flow& flow = fabric_.flow(id);
        State& state = states_[id];
        if (flow.sent == flow.packets) {
            return {};
        }
        if (state.next_ps > start_ps) {
            return {state.next_ps, kNone, false};
        }
        if (state.rate_bits_per_s != state.line_bits_per_s) {
            pass_time(state, start_ps);
        }
        const std::uint32_t sequence = flow.sent++;
        const bool last = sequence + 1 == flow.packets;
        const std::uint32_t bytes =
            common_.header_bytes + (last ? flow.last_bytes : common_.mtu_bytes);
        state.next_ps = saturating_add(start_ps, gap_ps(state, bytes));
        state.counted_bytes += bytes;
        if (state.counted_bytes >= settings_.byte_counter) {
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
                go_back(id, arrived.sequence);
                break;
            case PacketKind::Congestion:
                fabric_.settle(id);
                decrease(states_[id]);
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
        if (flow.received <= lost.sequence && lost.sequence < flow.sent) {
            go_back(lost.flow, flow.received);
        }
    }

  private:
    // Shared buffer of a port at 40 Gb/s: (12 MB - 32 ports · 8 priorities · 22.4 KB) / 32.
    static constexpr std::uint64_t kSharedBytes = 195'800;

    struct State {
        std::uint64_t line_bits_per_s = 0;
        std::uint64_t rate_bits_per_s = 0;    // R_C
        std::uint64_t target_bits_per_s = 0;  // R_T
        std::uint64_t alpha = kOne;
        std::uint64_t next_ps = 0;  // the next packet may start
        std::uint64_t alpha_tick_ps = 0;
        std::uint64_t rate_tick_ps = 0;
        std::uint64_t counted_bytes = 0;
        std::uint64_t gap_rate_bits_per_s = 0;  // of the gap after a full packet, below
        std::uint64_t gap_ps = 0;
        std::uint64_t next_cnp_ps = 0;  // of the receiver
        std::uint32_t time_steps = 0;
        std::uint32_t byte_steps = 0;
        bool notified = false;  // the timers run
        bool asked = false;     // of the receiver: for the packet that it waits for
    };

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
        State& state = states_[id];
        Flow& flow = fabric_.flow(id);
        if (arrived.marked() && fabric_.now_ps() >= state.next_cnp_ps) {
            state.next_cnp_ps = saturating_add(fabric_.now_ps(), settings_.cnp_interval_ps);
            fabric_.answer(PacketKind::Congestion, id, 0, 0);
        }
        if (arrived.sequence != flow.received) {
            refuse(packet);
            return;
        }
        state.asked = false;
        const bool done = ++flow.received == flow.packets;
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
        State& state = states_[arrived.flow];
        const Flow& flow = fabric_.flow(arrived.flow);
        if (arrived.sequence > flow.received && !state.asked) {
            state.asked = true;
            fabric_.answer(PacketKind::Nack, arrived.flow, flow.received, 0);
        }
        if (arrived.sequence > flow.received && arrived.sequence + 1 == flow.packets) {
            fabric_.lose(packet);
        } else {
            fabric_.release(packet);
        }
    }

    void go_back(std::uint32_t id, std::uint32_t sequence) {
        fabric_.settle(id);
        Flow& flow = fabric_.flow(id);
        if (sequence < flow.sent) {
            flow.sent = sequence;
            fabric_.wake(id);
        }
    }

    Fabric& fabric_;
    const Settings common_;
    const DcqcnSettings settings_;
    std::vector<State> states_;  // by flow
};

}  // namespace

extern const TransportInfo kDcqcnTransport;
const TransportInfo kDcqcnTransport = {
    "dcqcn",
    "marks, notifications and rates over lossless links (Zhu et al., SIGCOMM 2015)",
    true,
    [](Fabric& fabric,
       const Settings& common,
       const ConfigView& section) -> std::unique_ptr<Transport> {
        return std::make_unique<Dcqcn>(fabric, common, read(common, section));
    },
    [](const Settings& common, const ConfigView& section) { read(common, section); }};

}  // namespace astra::packet
