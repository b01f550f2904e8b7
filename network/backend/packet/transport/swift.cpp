// Swift (Kumar et al., "Swift: delay is simple and effective for congestion control in the
// datacenter", SIGCOMM 2020): a window a flow, that grows while round trips are shorter than a
// target and shrinks in proportion to the excess.
//
//   key             default  meaning (section of the paper)
//   base_target     25us     target delay of a round trip (3.1, 3.5)
//   hop_scale       1us      added for each link of the path (3.5)
//   fs_range        100us    most that is added for small windows (3.5)
//   fs_min_window   0.1      … at this window, in packets (3.5)
//   fs_max_window   100      … and nothing from this window on (3.5)
//   ai              1        packets that a window grows by in a round trip (3.1)
//   beta            0.8      decrease in proportion to the relative excess (3.1)
//   max_mdf         0.5      most decrease at once (3.1)
//   min_window      0.01     packets; below 1, packets are spaced out (3.1)
//   max_window      1000000  packets
//   initial_window  auto     packets; auto: what the empty path holds at line rate
//   reset_after     5        timeouts in a row that bring the least window (3.6)
//   buffer (of network.packet)  75 us at the rate of the link: 12 MB for 32 ports of 40 Gb/s
//
// The paper names the parameters and few values: base_target, ai, beta and max_mdf are the usual
// ones of published simulations, hop_scale and fs_range are ours.
//
// The window is the connection's and lives on between messages. Timeouts count as one until a round
// trip, or the timeout if that is longer, has passed: what was lost together is one event.
//
// Simplified: delay is that of the fabric only, hosts are immediate; every packet is acknowledged;
// a packet is sent again when one that was made three or more later is acknowledged, or after the
// timeout, and only packets that were really lost are.
#include <algorithm>
#include <cmath>

#include "network/backend/packet/fabric.h"

namespace astra::packet {

namespace {

constexpr std::uint32_t kWindowBits = 20;  // of a packet's fraction in a window
constexpr std::uint64_t kPacket = std::uint64_t{1} << kWindowBits;
constexpr std::uint64_t kOne = std::uint64_t{1} << 32;  // 1 in factors
constexpr std::uint64_t kLaterAcks = 3;
constexpr std::uint64_t kBufferPs = 75'000'000;

struct SwiftSettings {
    std::uint64_t base_target_ps = 0;
    std::uint64_t hop_scale_ps = 0;
    std::uint64_t fs_range_ps = 0;
    std::uint64_t fs_alpha_ps = 0;
    std::uint64_t fs_beta_ps = 0;
    std::uint64_t ai = 0;  // windows are in units of packets / 2^20
    std::uint64_t beta = 0;
    std::uint64_t max_mdf = 0;
    std::uint64_t min_window = 0;
    std::uint64_t max_window = 0;
    std::uint64_t initial_window = 0;  // 0: auto
    std::uint64_t reset_after = 0;
};

double number(
    const ConfigView& section, const char* key, double fallback, double least, double most) {
    const double value = section.number_or(key, fallback);
    if (value < least || value > most) {
        section.at(key).fail("expected a number from " + std::to_string(least) + " to " +
                             std::to_string(most));
    }
    return value;
}

std::uint64_t window(const ConfigView& section, const char* key, double fallback) {
    constexpr double least = 0.001;
    constexpr double most = 1e9;
    return static_cast<std::uint64_t>(number(section, key, fallback, least, most) *
                                      static_cast<double>(kPacket));
}

SwiftSettings read(const ConfigView& section) {
    SwiftSettings settings;
    constexpr Duration most{1'000'000'000'000};  // 1 s: keeps every product in 64 bits
    const auto delay = [&](const char* key, std::uint64_t fallback_us) {
        const Duration value = section.duration_or(key, {fallback_us * 1'000'000});
        if (value > most) {
            section.at(key).fail("expected at most 1 s");
        }
        return value.ps;
    };
    settings.base_target_ps = delay("base_target", 25);
    settings.hop_scale_ps = delay("hop_scale", 1);
    settings.fs_range_ps = delay("fs_range", 100);
    const double least = number(section, "fs_min_window", 0.1, 0.001, 1e6);
    const double full = number(section, "fs_max_window", 100, 0.001, 1e6);
    if (full <= least) {
        section.fail("expected fs_max_window above fs_min_window");
    }
    // Section 3.5: alpha / sqrt(window) - beta is fs_range at the least and 0 at the full window.
    const double alpha =
        static_cast<double>(settings.fs_range_ps) / (1 / std::sqrt(least) - 1 / std::sqrt(full));
    settings.fs_alpha_ps = static_cast<std::uint64_t>(std::min(alpha, 1e15));
    settings.fs_beta_ps =
        static_cast<std::uint64_t>(static_cast<double>(settings.fs_alpha_ps) / std::sqrt(full));
    settings.ai = static_cast<std::uint64_t>(number(section, "ai", 1, 0.001, 1000) *
                                             static_cast<double>(kPacket));
    settings.beta =
        static_cast<std::uint64_t>(number(section, "beta", 0.8, 0, 1) * static_cast<double>(kOne));
    settings.max_mdf = static_cast<std::uint64_t>(number(section, "max_mdf", 0.5, 0, 1) *
                                                  static_cast<double>(kOne));
    settings.min_window = window(section, "min_window", 0.01);
    settings.max_window = window(section, "max_window", 1e6);
    if (settings.max_window < settings.min_window) {
        section.fail("expected max_window of at least min_window");
    }
    if (section.string_or("initial_window", "auto") != "auto") {
        settings.initial_window = window(section, "initial_window", 1);
    }
    settings.reset_after = section.integer_or("reset_after", 5, 1, 1'000'000);
    return settings;
}

class Swift final : public Transport {
  public:
    Swift(Fabric& fabric, const Settings& common, const SwiftSettings& settings)
        : fabric_(fabric), common_(common), settings_(settings) {}

    PortLimits limits(const LinkClass& link_class) const override {
        using Wide = unsigned __int128;
        PortLimits limits;
        limits.when_full = PortLimits::WhenFull::Drop;
        const std::uint64_t rate = link_class.rate.bits_per_s;
        const Wide bytes = static_cast<Wide>(rate) * kBufferPs / 8'000'000'000'000ULL;
        limits.buffer_bytes = common_.buffer_bytes.value_or(
            rate == 0 ? kNever
                      : static_cast<std::uint64_t>(std::max<Wide>(bytes, common_.full_bytes())));
        return limits;
    }

    void open(std::uint32_t connection) override {
        if (connection >= states_.size()) {
            states_.resize(connection + 1);
        }
        states_[connection] = {};
    }

    void begin(std::uint32_t id, std::uint64_t /*start_ps*/) override {
        if (id >= first_packets_.size()) {
            first_packets_.resize(id + 1);
        }
        const Flow& flow = fabric_.flow(id);
        State& state = states_[flow.connection];
        first_packets_[id] = state.packets;
        state.packets += flow.packets;
        if (state.window != 0) {
            return;
        }
        const PathCost cost = fabric_.path_cost(flow.source, flow.destination);
        state.base_target_ps =
            saturating_add(settings_.base_target_ps, cost.links * settings_.hop_scale_ps);
        state.window = settings_.initial_window;
        if (state.window == 0) {
            const std::uint64_t packets = fabric_.path_packets(flow.source, flow.destination);
            state.window = saturating_multiply(packets, kPacket);
        }
        state.window = std::clamp(state.window, settings_.min_window, settings_.max_window);
        state.round_ps = saturating_add(saturating_add(cost.full_ps, cost.control_ps),
                                        saturating_multiply(2, cost.latency_ps));
    }

    Sending next(std::uint32_t id, std::uint64_t start_ps) override {
        Flow& flow = fabric_.flow(id);
        State& state = state_of(id);
        // Below one packet a window means one packet in so many round trips.
        if (flow.all_sent() ||
            state.in_flight >= std::max<std::uint64_t>(state.window >> kWindowBits, 1)) {
            return {};
        }
        if (state.window < kPacket) {
            if (state.next_ps > start_ps) {
                return {state.next_ps, kNone, false};
            }
            using Wide = unsigned __int128;
            const Wide gap_ps = static_cast<Wide>(state.round_ps) * kPacket / state.window;
            state.next_ps = saturating_add(
                start_ps, static_cast<std::uint64_t>(std::min<Wide>(gap_ps, kNever / 2)));
        }
        ++state.in_flight;
        return {kNever, fabric_.take_sequence(flow), true};
    }

    void arrive(std::uint32_t packet) override {
        const std::uint32_t id = fabric_.packet(packet).flow;
        if (!fabric_.packet(packet).is_control()) {
            Flow& flow = fabric_.flow(id);
            const bool done = fabric_.take_in(flow);
            fabric_.send_back(packet, PacketKind::Ack);
            if (done) {
                fabric_.deliver(id);
            }
            return;
        }
        fabric_.settle(id);
        State& state = state_of(id);
        --state.in_flight;
        state.timeouts = 0;
        state.round_ps = fabric_.now_ps() - fabric_.packet(packet).tag;
        adapt(state);
        if (!state.lost.empty()) {
            repair(state, number_of(packet));
        }
        fabric_.wake(id);
        for (const std::uint32_t flow : repaired_) {
            fabric_.wake(flow);
        }
        repaired_.clear();
        fabric_.release(packet);
    }

    void lose(std::uint32_t packet) override {
        fabric_.packets().append(state_of(fabric_.packet(packet).flow).lost, packet);
    }

    void time_out(std::uint32_t packet) override {
        if (fabric_.packet(packet).handled()) {
            return;
        }
        const std::uint32_t id = fabric_.packet(packet).flow;
        fabric_.settle(id);
        State& state = state_of(id);
        forget(state, packet);
        --state.in_flight;
        const std::uint64_t now = fabric_.now_ps();
        if (state.timeouts == 0 ||
            now - state.timed_out_ps >= std::max(state.round_ps, common_.timeout.ps)) {
            state.timed_out_ps = now;
            if (++state.timeouts >= settings_.reset_after) {
                state.window = settings_.min_window;
            } else {
                shrink(state, settings_.max_mdf);
            }
        }
        fabric_.send_again(id, fabric_.packet(packet).sequence);
        fabric_.wake(id);
    }

  private:
    struct State {
        std::uint64_t window = 0;
        std::uint64_t base_target_ps = 0;
        std::uint64_t round_ps = 0;      // the last round trip
        std::uint64_t shrunk_ps = 0;     // when the window last shrank
        std::uint64_t next_ps = 0;       // with a window below one packet: the next may start
        std::uint64_t timed_out_ps = 0;  // the last timeout that counted
        std::uint64_t packets = 0;       // of all flows that have begun
        PacketList lost;                 // whose loss the sender has not noticed
        std::uint32_t in_flight = 0;
        std::uint32_t timeouts = 0;  // in a row
        bool has_shrunk = false;
    };

    State& state_of(std::uint32_t flow) { return states_[fabric_.flow(flow).connection]; }
    // Of a packet in its connection.
    std::uint64_t number_of(std::uint32_t packet) const {
        return first_packets_[fabric_.packet(packet).flow] + fabric_.packet(packet).sequence;
    }

    std::uint64_t target_ps(const State& state) const {
        // The root of a window in units of 2^-20 is that of packets in units of 2^-10. It is
        // rounded correctly, the same on every machine.
        const auto root = static_cast<std::uint64_t>(std::sqrt(static_cast<double>(state.window)));
        const std::uint64_t scaled =
            (settings_.fs_alpha_ps << (kWindowBits / 2)) / std::max<std::uint64_t>(root, 1);
        const std::uint64_t extra =
            scaled > settings_.fs_beta_ps ? scaled - settings_.fs_beta_ps : 0;
        return saturating_add(state.base_target_ps, std::min(extra, settings_.fs_range_ps));
    }

    // Algorithm 1, for one acknowledged packet.
    void adapt(State& state) const {
        using Wide = unsigned __int128;
        const std::uint64_t delay_ps = state.round_ps;
        const std::uint64_t target = target_ps(state);
        if (delay_ps < target) {
            state.window +=
                state.window >= kPacket
                    ? static_cast<std::uint64_t>((static_cast<Wide>(settings_.ai) << kWindowBits) /
                                                 state.window)
                    : settings_.ai;
            state.window = std::min(state.window, settings_.max_window);
        } else if (delay_ps > 0) {
            const auto excess = static_cast<std::uint64_t>(static_cast<Wide>(settings_.beta) *
                                                           (delay_ps - target) / delay_ps);
            shrink(state, std::min(excess, settings_.max_mdf));
        }
    }

    // Happens at most once in a round trip.
    void shrink(State& state, std::uint64_t factor) const {
        const std::uint64_t now = fabric_.now_ps();
        if (state.has_shrunk && now - state.shrunk_ps < state.round_ps) {
            return;
        }
        state.has_shrunk = true;
        state.shrunk_ps = now;
        using Wide = unsigned __int128;
        state.window -=
            static_cast<std::uint64_t>((static_cast<Wide>(state.window) * factor) >> 32);
        state.window = std::max(state.window, settings_.min_window);
    }

    // Sends again what was lost well before a packet that is acknowledged now.
    void repair(State& state, std::uint64_t acknowledged) {
        PacketList unnoticed;
        bool any = false;
        while (!state.lost.empty()) {
            const std::uint32_t packet = fabric_.packets().take_first(state.lost);
            if (number_of(packet) + kLaterAcks > acknowledged) {
                fabric_.packets().append(unnoticed, packet);
                continue;
            }
            Packet& lost = fabric_.packet(packet);
            lost.set_handled();
            --state.in_flight;
            fabric_.send_again(lost.flow, lost.sequence);
            repaired_.push_back(lost.flow);
            any = true;
        }
        state.lost = unnoticed;
        if (any) {
            shrink(state, settings_.max_mdf);
        }
    }

    void forget(State& state, std::uint32_t packet) {
        PacketList others;
        while (!state.lost.empty()) {
            const std::uint32_t lost = fabric_.packets().take_first(state.lost);
            if (lost != packet) {
                fabric_.packets().append(others, lost);
            }
        }
        state.lost = others;
    }

    Fabric& fabric_;
    const Settings common_;
    const SwiftSettings settings_;
    std::vector<State> states_;                 // by connection
    std::vector<std::uint64_t> first_packets_;  // by flow: packets of its connection before it
    std::vector<std::uint32_t> repaired_;       // flows with packets to be sent again
};

}  // namespace

extern const TransportInfo kSwiftTransport;
const TransportInfo kSwiftTransport = {
    .name = "swift",
    .summary = "windows by the delay of round trips (Kumar et al., SIGCOMM 2020)",
    .in_order = true,
    .goes_back = false,
    .build = [](Fabric& fabric,
                const Settings& common,
                const ConfigView& section) -> std::unique_ptr<Transport> {
        return std::make_unique<Swift>(fabric, common, read(section));
    },
    .check = [](const Settings&, const ConfigView& section) { read(section); },
    .limits_buffers = [](const ConfigView&) { return true; }};

}  // namespace astra::packet
