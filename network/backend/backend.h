// A network backend moves messages over a topology. To add one: a .cpp in this folder that defines
// `const BackendInfo k<Name>Backend`, and one line in builtins.def. The conformance tests walk the
// table.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "astra/core/callback.h"
#include "astra/core/event_queue.h"
#include "astra/core/records.h"
#include "astra/core/registry.h"
#include "astra/core/types.h"
#include "network/routing/routing.h"

namespace astra {

struct Message {
    RankId source{};
    RankId destination{};  // another rank than the source
    Bytes size;            // zero is allowed: latency only
};

// A link as it stands at an instant.
struct LinkSample {
    std::uint64_t carried_bytes = 0;  // since the start
    std::uint64_t queued_bytes = 0;   // that wait for it
};

// How messages move along a way, as far as a prediction needs to know.
enum class PathLaw : std::uint8_t {
    Unshared,         // all of it at the slowest link's rate, whoever else is there
    StoreAndForward,  // one whole message after the other over every link
    Shared,           // at the slowest link's rate, which those that use the link share
};

// The queue and the routing outlive the backend.
class NetworkBackend {
  public:
    NetworkBackend() = default;
    NetworkBackend(const NetworkBackend&) = delete;
    NetworkBackend& operator=(const NetworkBackend&) = delete;
    virtual ~NetworkBackend() = default;

    // Injects a message at time `at`, which is now or later, and runs `delivered` when its last
    // byte has arrived. One virtual call a message.
    virtual void send(const Message& message, SimTime at, Callback delivered) = 0;

    // Takes a link out of the fabric, or back into it, from now on; what is on its way finds
    // another. Requires `links_may_fail`. Throws SimulationError where no path is left.
    virtual void set_link(std::uint32_t link, bool up);

    // Every link as of now, in the order of the links. Requires `shares_links`.
    virtual void sample(std::vector<LinkSample>& links);

    // What each link carried, in the order of the links; idle links are left out.
    virtual std::vector<LinkRecord> link_records() const = 0;
};

struct BackendInfo {
    std::string_view name;
    std::string_view summary;
    PathLaw law = PathLaw::Shared;
    bool can_split = false;  // knows the routing policies that send a message on several paths
    bool links_may_fail = false;
    bool has_packets = false;  // its link records tell of queues, marks and losses
    // What `routing: auto` means on a fabric of several paths.
    RoutePolicy (*usual_routing)(const ConfigView& network) = nullptr;
    // Reads the section of its own name. Throws ConfigError.
    std::unique_ptr<NetworkBackend> (*build)(EventQueue& queue,
                                             Routing& routing,
                                             const ConfigView& network) = nullptr;
    // Reads that section without building, so that a study may hold those of several backends.
    // nullptr: has none.
    void (*check)(const ConfigView& network) = nullptr;

    // false: concurrent messages never meet, so that links may carry more than they can.
    bool shares_links() const { return law != PathLaw::Unshared; }
};

const Registry<BackendInfo>& backends();
// network.backend; congestion_unaware by default. Throws ConfigError.
const BackendInfo& read_backend(const ConfigView& network);
// The sections of all backends but `chosen` that the study has, each by its backend's name.
void check_other_sections(const BackendInfo& chosen, const ConfigView& network);

}  // namespace astra
