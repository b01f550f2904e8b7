// A network backend moves messages over a topology. To add one: a .cpp in this folder that defines
// `const BackendInfo k<Name>Backend`, and one line in builtins.def. The conformance tests walk the
// table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/callback.h"
#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "astra/core/registry.h"
#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "network/routing/routing.h"

namespace astra {

// Which of the connections from one rank to another: the channel of a communicator. Whoever opens
// communicators gives the numbers out.
enum class ChannelKey : std::uint32_t {};
inline constexpr ChannelKey kPointToPoint{0};
// A connection of its own, which ends with the message.
inline constexpr ChannelKey kOneMessage{~std::uint32_t{0}};
constexpr std::uint32_t index(ChannelKey channel) {
    return static_cast<std::uint32_t>(channel);
}

// Messages of equal source, destination and channel belong to one connection, which works on one of
// them at a time: each leaves when the last byte of the one before has left, without waiting for
// its latency, and they arrive in the order in which they were sent. Connections share links.
struct Message {
    RankId source{};
    RankId destination{};  // another rank than the source
    Bytes size;            // zero is allowed: latency only
    ChannelKey channel = kOneMessage;
};

// A link as it stands at an instant.
struct LinkSample {
    std::uint64_t carried_bytes = 0;  // since the start
    std::uint64_t queued_bytes = 0;   // that wait for it
    PacketInterval packets{};         // since it was looked at before; nothing the first time
};

// The links that a message crosses, as far as its time on an empty network depends on them.
struct Path {
    // Links of one rate that follow each other.
    struct Stretch {
        Bandwidth rate;
        std::uint32_t links = 1;
    };
    std::span<const Stretch> stretches;  // in order; at least one
    Duration latency;                    // the sum over all links
};

// The wire time of a message on the slowest link of a path, and the sum over all its links.
Duration slowest_wire(const Path& path, Bytes size);
Duration total_wire(const Path& path, Bytes size);

// How messages that meet on a link share it.
enum class Contention : std::uint8_t {
    None,     // they do not: links may carry more than they can
    Message,  // one whole message after the other
    Fair,     // all at once, each at a share of the rate
    Packet,   // packet by packet
};

// The queue and the routing outlive the backend.
class NetworkBackend {
  public:
    NetworkBackend() = default;
    NetworkBackend(const NetworkBackend&) = delete;
    NetworkBackend& operator=(const NetworkBackend&) = delete;
    virtual ~NetworkBackend() = default;

    // Gives a message to its connection at time `at`, which is now or later. `delivered` runs when
    // the last byte has arrived. Returns when the last byte will have left the source's link, if
    // that is known already; otherwise kMaxPs, and then `sent`, unless it is empty, runs when it
    // has left, before `delivered`. Neither runs within the call. One virtual call a message.
    virtual SimTime send(const Message& message,
                         SimTime at,
                         Callback delivered,
                         Callback sent = {}) = 0;

    // Takes a link out of the fabric, or back into it, from now on; what is moving finds
    // another path. Requires `links_may_fail`. Throws SimulationError where no path is left.
    virtual void set_link(LinkId link, bool up);

    // Every link as of now, in the order of the links. The first time begins what is known of
    // packets since. Requires `shares_links`.
    virtual void sample(std::vector<LinkSample>& links);

    // What each link carried, in the order of the links; idle links are left out.
    virtual std::vector<LinkRecord> link_records() const = 0;
};

struct BackendInfo {
    std::string_view name;
    std::string_view summary;
    // The time from send() to the delivery of one message on an empty network, along one path, with
    // the defaults of the backend's keys. At least the latency of the path.
    Duration (*alone)(const Path& path, Bytes size) = nullptr;
    Contention contention = Contention::Fair;
    // The backend that answers predictions in its place, with the defaults of its keys: for one
    // whose detail costs more than it changes. nullptr: itself.
    const BackendInfo* predicted_by = nullptr;
    bool can_split = false;  // knows the routing policies that send a message on several paths
    bool links_may_fail = false;
    // What `routing: auto` means on a fabric of several paths.
    RoutePolicy (*usual_routing)(const ConfigView& network) = nullptr;
    // Reads the section of its own name. Throws ConfigError.
    std::unique_ptr<NetworkBackend> (*build)(EventQueue& queue,
                                             Routing& routing,
                                             const ConfigView& network) = nullptr;
    // Reads that section without building, so that a study may hold those of several backends.
    // nullptr: has none.
    void (*check)(const ConfigView& network) = nullptr;
    // Warns of what is written in that section and has no effect though this backend is chosen, and
    // of what does not go together. nullptr: of nothing.
    void (*warn)(const ConfigView& network, Warnings& warnings) = nullptr;

    bool shares_links() const { return contention != Contention::None; }
    // Its link records tell of payload, queues, marks and losses.
    bool has_packets() const { return contention == Contention::Packet; }
};

const Registry<BackendInfo>& backends();
// network.backend; flow by default. Throws ConfigError.
const BackendInfo& read_backend(const ConfigView& network);
// The names of the backends of which `can` is true, for messages: "flow or packet".
std::string backends_that(bool BackendInfo::*can);
// network.routing as the backend takes it (routing.h). Throws ConfigError.
Routing read_routing(const ConfigView& network,
                     const Topology& topology,
                     const BackendInfo& backend);
// The sections of all backends but `chosen` that the study has, each by its backend's name.
void check_other_sections(const BackendInfo& chosen, const ConfigView& network);
// Warns of every key of a backend's section that has no effect, as another backend or transport is
// chosen, and of keys that do not go together.
void warn_of_idle_keys(const BackendInfo& chosen, const ConfigView& network, Warnings& warnings);
// "A, B: no effect: WHY", of what is written below `section`; nothing if there is nothing.
void warn_of_idle_section(const ConfigView& section, const std::string& why, Warnings& warnings);

}  // namespace astra
