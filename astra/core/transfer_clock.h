// Transfer times at one rate, with the last few sizes remembered: a division of 128 bits costs as
// much as the rest of a message, and simulated messages have few distinct sizes.
#pragma once

#include <array>
#include <cstdint>

#include "astra/core/types.h"

namespace astra {

class TransferClock {
  public:
    TransferClock() = default;
    explicit TransferClock(Bandwidth rate) : rate_(rate) {}

    Bandwidth rate() const { return rate_; }
    // transfer_time(size, rate()).
    Duration operator()(Bytes size) {
        Entry& entry = entries_[(size.count ^ (size.count >> 7)) % entries_.size()];
        if (entry.bytes != size.count) {
            entry = {size.count, transfer_time(size, rate_).ps};
        }
        return {entry.ps};
    }

  private:
    struct Entry {
        std::uint64_t bytes = 0;
        std::uint64_t ps = 0;
    };
    Bandwidth rate_;
    std::array<Entry, 8> entries_{};
};

}  // namespace astra
