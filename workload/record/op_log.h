// When the ops of a replay ran; kept only on demand.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"

namespace astra {

class OpLog {
  public:
    // When each op began: 8 bytes an op and rank. Before the run.
    void keep_starts() { keeps_starts_ = true; }
    // When each op began and ended: 32 bytes an op and rank. Before the run.
    void keep_ops() {
        keeps_ops_ = true;
        keeps_starts_ = true;
    }

    // Ranks are numbers among those that are replayed.
    void open(std::uint32_t rank, std::uint32_t ops) {
        if (keeps_starts_) {
            starts_.resize(rank + 1 > starts_.size() ? rank + 1 : starts_.size());
            starts_[rank].resize(ops);
        }
    }
    void begin(std::uint32_t rank, std::uint32_t op, SimTime now) {
        if (keeps_starts_) {
            starts_[rank][op] = now;
        }
    }
    void end(std::uint32_t rank, std::uint32_t op, SimTime now) {
        if (keeps_ops_) {
            ran_.push_back({rank, op, starts_[rank][op], now});
        }
    }

    // The starts of a rank's ops. Requires keep_starts().
    const std::vector<SimTime>& starts(std::uint32_t rank) const { return starts_[rank]; }
    // The ops that are kept, by rank, in the order in which they began.
    std::vector<std::vector<std::uint32_t>> by_start(std::uint32_t ranks) const;

  private:
    struct Ran {
        std::uint32_t rank = 0;
        std::uint32_t op = 0;
        SimTime start;
        SimTime end;
    };

    bool keeps_starts_ = false;
    bool keeps_ops_ = false;
    std::vector<std::vector<SimTime>> starts_;  // by rank and op
    std::vector<Ran> ran_;
};

}  // namespace astra
