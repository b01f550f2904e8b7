// The feeders of a link that must wait for their time, the earliest first and equal times in the
// order in which they came.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "network/backend/packet/packet.h"

namespace astra::packet {

class Pacer {
  public:
    bool empty() const { return heap_.empty(); }
    // Both require that it is not empty.
    std::uint64_t first_ps() const { return heap_.front().when_ps; }
    std::uint32_t take_first() {
        const std::uint32_t feeder = heap_.front().feeder;
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        heap_.pop_back();
        return feeder;
    }
    // `order` grows with every call.
    void add(std::uint64_t when_ps, std::uint64_t order, std::uint32_t feeder) {
        heap_.push_back({when_ps, order, feeder});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
    void clear() { heap_.clear(); }

  private:
    struct Paced {
        std::uint64_t when_ps = 0;
        std::uint64_t order = 0;
        std::uint32_t feeder = kNone;
    };
    struct Later {
        bool operator()(const Paced& a, const Paced& b) const {
            return a.when_ps != b.when_ps ? a.when_ps > b.when_ps : a.order > b.order;
        }
    };

    std::vector<Paced> heap_;
};

}  // namespace astra::packet
