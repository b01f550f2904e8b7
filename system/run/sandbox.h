// An idle network apart from the one that is simulated, with another clock: made from the same
// configuration, asked how long something takes there alone, and thrown away.
//
// What is asked about is a program, or anything that can be started on the sandbox's queue and
// backend, a collective engine for one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/callback.h"
#include "astra/core/event_queue.h"
#include "astra/core/types.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"
#include "system/run/message_costs.h"

namespace astra {

class Program;

class Sandbox {
  public:
    // The network of the section `network`, undisturbed. All outlive the sandbox.
    Sandbox(const Topology& topology, const BackendInfo& backend, const ConfigView& network);
    // A network that shares routes, and with them the links that are down.
    Sandbox(Routing& routing, const BackendInfo& backend, const ConfigView& network);
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;
    ~Sandbox();

    EventQueue& queue() { return queue_; }
    Routing& routing() { return routing_; }
    NetworkBackend& backend() { return *backend_; }
    const BackendInfo& info() const { return info_; }
    const ConfigView& keys() const { return keys_; }  // the section `network`

    // From now until the last call of the callback that `start` is given, once nothing is left to
    // happen. `start` lets begin what is to be timed. Afterwards the network is idle again.
    template <class Start>
    Duration time(const Start& start) {
        const SimTime begin = queue_.now();
        last_ = begin;
        start(Callback::to<&Sandbox::finished>(*this));
        queue_.run();
        return last_ - begin;
    }

    // From the common start of all members of a program to the end of the last one. `ranks` of the
    // fabric, a member each; `size` is the whole buffer.
    Duration time(const Program& program,
                  const std::vector<std::uint32_t>& ranks,
                  Bytes size,
                  const MessageCosts& costs,
                  const EndpointCosts& endpoint);

  private:
    void finished(std::uint64_t) { last_ = queue_.now(); }

    const BackendInfo& info_;
    ConfigView keys_;
    EventQueue queue_;
    std::optional<Routing> its_routing_;  // unless it shares routes
    Routing& routing_;
    std::unique_ptr<NetworkBackend> backend_;
    SimTime last_;
};

}  // namespace astra
