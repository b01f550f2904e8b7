// Traffic of others on the same fabric: messages between pairs of ranks with Poisson arrivals.
//
// Open loop: a message comes whether or not those before it have arrived. Every rank offers the
// rate on average; the arrivals of all ranks together are drawn as one Poisson process, whose
// messages then choose their source. A seed gives the same traffic on every machine: only integers
// are computed with.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/event_queue.h"
#include "astra/core/types.h"
#include "network/backend/backend.h"
#include "workload/flows/offered_load.h"

namespace astra {

struct BackgroundConfig {
    Bandwidth rate;  // that each rank offers on average
    Bytes size;      // of a message
    bool permutation = false;
    std::uint64_t seed = 1;
    SimTime start;
    SimTime end{kMaxPs};  // no message comes from then on

    // Throws ConfigError; also when fewer than two ranks are there to send.
    static BackgroundConfig from_config(const ConfigView& section, std::uint32_t ranks);
};

class BackgroundTraffic {
  public:
    // A rank sends to any other (random), or always to the next one on a random circle through all
    // ranks (permutation).
    BackgroundTraffic(EventQueue& queue,
                      NetworkBackend& network,
                      const BackgroundConfig& config,
                      std::uint32_t ranks);

    // What the traffic plainly offers beyond what the fabric carries, on a network whose messages
    // share links; from then on a pile of messages ends the run early.
    const std::optional<Overload>& find_overload(Routing& routing);

    // Schedules the first message.
    void start();
    // Tells that the workload has moved. Traffic pauses when that was a second ago, so that a
    // workload that is stuck leaves the queue empty; it goes on with the next move.
    void workload_moved();

    // Sent so far.
    std::uint64_t messages() const { return messages_; }

  private:
    void arrive(std::uint64_t);
    void schedule_next(SimTime from);
    bool piles_up(const Overload& overload) const;
    void on_delivered(std::uint64_t) { ++delivered_; }
    // Uniform in 0 … limit-1.
    std::uint32_t below(std::uint32_t limit);
    Message draw_message();

    EventQueue& queue_;
    NetworkBackend& network_;
    BackgroundConfig config_;
    std::uint32_t ranks_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> next_rank_;  // of a permutation
    unsigned __int128 mean_ = 0;            // between arrivals, in 2^-32 ps
    std::uint32_t fraction_ = 0;            // of the next arrival's time, in 2^-32 ps
    std::optional<Overload> overload_;
    std::uint64_t most_in_flight_;
    SimTime last_move_;
    bool paused_ = false;
    std::uint64_t messages_ = 0;
    std::uint64_t delivered_ = 0;
};

}  // namespace astra
