// What messages cost on an empty network: alpha (latencies) and beta (bandwidths) of the links on
// their paths, and how many of the messages that members send at the same time share a link.
//
// The α-β model with sharing: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of collective
// communication operations in MPICH" (2005), section 3; shared links as in their section 4.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "astra/core/transfer_clock.h"
#include "network/backend/backend.h"
#include "network/routing/routing.h"

namespace astra {

// One message of every member at once, each to the peer that is the same in relation to it: the
// most expensive one of them. Loads are numbers of messages.
struct PatternCost {
    struct Crossing {
        std::uint32_t link_class = 0;
        std::uint32_t links = 0;
        bool operator==(const Crossing&) const = default;
    };
    std::uint64_t latency_ps = 0;          // of all links of the path; the mean of all paths
    std::vector<Crossing> crossings;       // links of the slowest path
    std::vector<Path::Stretch> stretches;  // the same by their rates
    // Where most come to a link at the same time, and where it has most to carry in all.
    std::uint32_t meeting_class = 0;
    std::uint32_t meeting = 1;
    std::uint32_t busiest_class = 0;
    std::uint32_t load = 1;
    std::uint32_t first_link = 0;  // of member 0
    std::uint32_t first_class = 0;
    bool one_switch = true;  // every path has two links
    bool alike = true;       // all paths have the same links, and all links the same load
};

class MessagePaths {
  public:
    // The routing outlives this.
    MessagePaths(Routing& routing, const BackendInfo& backend);

    // The cost of a pattern of pairs, of which it gets all or the first ones; not empty. O(links of
    // them).
    PatternCost pattern(std::span<const std::pair<std::uint32_t, std::uint32_t>> pairs);

    // When a message of a pattern arrives that leaves at `at_ps`, and from when on its sender's
    // first link takes another one.
    struct Passage {
        std::uint64_t arrival_ps = 0;
        std::uint64_t free_ps = 0;
    };
    Passage pass(const PatternCost& pattern, Bytes wire, std::uint64_t at_ps);

  private:
    // How long a message keeps a link of the class busy, as the backend says: what it takes over
    // that link alone, beyond one without bytes.
    std::uint64_t busy_ps(std::uint32_t link_class, Bytes bytes) const;
    // The links of a pair of ranks, which differ; valid until the next call.
    std::span<const std::uint32_t> links(std::uint32_t source, std::uint32_t destination);
    std::uint64_t weight(std::uint32_t link_class, std::uint32_t messages) const;

    Routing& routing_;
    const BackendInfo& backend_;
    std::vector<TransferClock> clocks_;  // a class
    std::vector<std::uint32_t> links_;
    std::uint32_t longest_run_ = 1;  // of the last path: links of one chain
    std::uint32_t run_class_ = 0;
};

}  // namespace astra
