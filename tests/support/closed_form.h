// What runs must take, worked out apart from the code under test, in whole picoseconds.
//
// Notation: d endpoint delay, C(m, h) time of a message of m bytes over h links, R(m) reduction of
// m bytes:
//   wire(m) = ceil(m · 8·10^12 / bits a second)
//   C(m, h) = h·latency + wire(m)        congestion_unaware
//           = h·(latency + wire(m))      congestion_aware, where no two messages meet on a link
//   R(m)    = 3 · ceil(m · 8·10^12 / bits a second of local memory)
#pragma once

#include <cstdint>
#include <vector>

#include "tests/support/experiment.h"

namespace astra::test {

// Of the ranks' finish times.
struct FinishRange {
    std::uint64_t earliest_ps = 0;
    std::uint64_t latest_ps = 0;
};

class ClosedForm {
  public:
    explicit ClosedForm(const Experiment& experiment);

    std::uint64_t delay() const { return delay_ps_; }
    std::uint64_t wire(std::uint64_t bytes, std::size_t dimension = 0) const;
    std::uint64_t travel(std::uint64_t bytes, std::uint64_t hops, std::size_t dimension = 0) const;
    std::uint64_t reduction(std::uint64_t bytes) const;

    // One collective of the dimension's algorithm over a row of the dimension. `bytes` is the whole
    // buffer, a multiple of the ranks; all ranks start and finish together.
    std::uint64_t phase(CollectiveKind kind, std::uint64_t bytes, std::size_t dimension = 0) const;

    // A collective over all ranks that come to it together, cut into equal chunks that queue for
    // the dimensions. `bytes` as in a trace; bit k of `dimensions`: dimension k takes part.
    std::uint64_t collective(CollectiveKind kind,
                             std::uint64_t bytes,
                             std::uint32_t dimensions = ~0U) const;

    // The root of a double binary tree is first, when what it sends down has left; its leaves are
    // last.
    FinishRange double_binary_tree(std::uint64_t bytes) const;

  private:
    struct Phase {
        std::size_t dimension = 0;
        bool returning = false;
        std::uint64_t time_ps = 0;
    };
    bool aware() const { return experiment_.backend == "congestion_aware"; }
    std::uint64_t hops(std::uint64_t distance, std::size_t dimension) const;
    std::uint64_t ring(CollectiveKind kind, std::uint64_t bytes, std::size_t dimension) const;
    std::uint64_t direct(CollectiveKind kind, std::uint64_t bytes, std::size_t dimension) const;
    std::uint64_t halving_doubling(CollectiveKind kind,
                                   std::uint64_t bytes,
                                   std::size_t dimension) const;
    std::vector<Phase> phases(CollectiveKind kind,
                              std::uint64_t bytes,
                              std::uint32_t dimensions) const;
    std::uint64_t pipeline(const std::vector<Phase>& phases) const;
    const std::string& algorithm(std::size_t dimension) const;

    Experiment experiment_;
    std::uint64_t delay_ps_ = 0;
};

// bytes · 8 · 10^12 / bits_per_s, rounded up.
std::uint64_t transfer_ps(std::uint64_t bytes, std::uint64_t bits_per_s);

}  // namespace astra::test
