#pragma once

#include <cstdint>
#include <unordered_map>

#include "astra/core/types.h"

namespace astra {

// What a receiver sends to ask for a message under rendezvous, as in ASTRA-sim.
inline constexpr Bytes kRequestBytes{8192};

// Messages under rendezvous: one leaves once its receiver's request has arrived and its sender has
// come to it, whichever is later. Memory: a message of which one side has come.
class Rendezvous {
  public:
    // Both are told once for a message; true: the other side had come already, so that it leaves.
    bool asked(std::uint64_t message) { return meet(message, Side::Receiver); }
    bool ready(std::uint64_t message) { return meet(message, Side::Sender); }
    void clear() { waiting_.clear(); }

  private:
    enum class Side : std::uint8_t { Receiver, Sender };
    bool meet(std::uint64_t message, Side side) {
        const auto [other, first] = waiting_.try_emplace(message, side);
        if (!first && other->second != side) {
            waiting_.erase(other);
            return true;
        }
        return false;
    }
    std::unordered_map<std::uint64_t, Side> waiting_;  // the side that has come
};

}  // namespace astra
