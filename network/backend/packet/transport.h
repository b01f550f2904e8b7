// How a flow is sent: when its packets may leave, what the other end answers, what ports do with
// packets that wait, how losses are repaired. To add one: a .cpp in this folder that defines
// `const TransportInfo k<Name>Transport`, and one line in builtins.def.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "astra/config/config_view.h"
#include "astra/core/registry.h"
#include "astra/core/warnings.h"
#include "network/backend/packet/link.h"
#include "network/backend/packet/packet.h"
#include "network/backend/packet/settings.h"

namespace astra::packet {

class Fabric;

// The answer of a flow that is asked for its next packet.
struct Sending {
    std::uint64_t later_ps = kNever;  // without a packet: ask again then; kNever: until it is woken
    std::uint32_t sequence = kNone;   // the packet
    bool more = false;                // after it, ask again
};

// One virtual call a packet at either end, none in a switch.
class Transport {
  public:
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;
    virtual ~Transport() = default;

    // What ports before links of that class do; asked once a class.
    virtual PortLimits limits(const LinkClass& link_class) const = 0;

    // A connection is there; its number may have been used before. What flows of it find out about
    // the network (rate, window) lives as long as it does.
    virtual void open(std::uint32_t /*connection*/) {}
    // False: nothing has to be remembered of a connection between its messages.
    virtual bool remembers() const { return true; }
    // A flow of a connection begins at `start_ps`, which may lie in the past; its number may have
    // been used before. The flow before it in the connection has been sent, once at least. It is
    // woken afterwards.
    virtual void begin(std::uint32_t flow, std::uint64_t start_ps) = 0;
    // What the flow sends on a link that is free at `start_ps`, which may lie in the past: all that
    // changes what a flow may send calls Fabric::settle first.
    virtual Sending next(std::uint32_t flow, std::uint64_t start_ps) = 0;
    // A packet is at its destination; to be released, or sent on.
    virtual void arrive(std::uint32_t packet) = 0;
    // A data packet was lost (the transport may know it at once from what arrives behind it) …
    virtual void lose(std::uint32_t /*packet*/) {}
    // … and its timeout is over. Neither releases it.
    virtual void time_out(std::uint32_t packet) = 0;
};

struct TransportInfo {
    std::string_view name;
    std::string_view summary;
    bool in_order;   // works badly when packets overtake each other: wants one path a flow
    bool goes_back;  // … as it sends everything again from the packet on that was overtaken
    // Reads the transport's own section. The fabric outlives the transport.
    std::unique_ptr<Transport> (*build)(Fabric& fabric,
                                        const Settings& settings,
                                        const ConfigView& section);
    // Throws what build() would throw about the section; for studies that carry several.
    void (*check)(const Settings& settings, const ConfigView& section);
    // Whether the key `buffer` has an effect.
    bool (*limits_buffers)(const ConfigView& section);
    // Warns of what its section holds without effect. nullptr: everything has one.
    void (*warn)(const Settings& settings, const ConfigView& section, Warnings& warnings) = nullptr;
};

const Registry<TransportInfo>& transports();

}  // namespace astra::packet
