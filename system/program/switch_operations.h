// Extension of a program: what switches do with its messages on their path, message by message.
//
// The messages stay what they are to whoever runs, predicts or counts the program, one from each
// sender to each receiver, and their data are the same with and without a switch that can do this.
// So the extension says which of them a switch may make one of on a link:
//   multicast   sends of one step with one payload: one message from the sender up to the switch
//               that copies it
//   reduction   receives of one step with one payload, all of which add: one message from the
//               switch that sums them up to the receiver
// The verifier holds both to that (switch_check.h). No backend shares a link between such messages
// yet: an algorithm gives the bytes that its links carry as a whole
// (CollectiveAlgorithm::in_switch).
#pragma once

#include <cstdint>
#include <vector>

namespace astra {

struct SwitchOperations {
    // Consecutive sends of one step, or receives of one step, of the program.
    struct Messages {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        bool operator==(const Messages&) const = default;
    };
    std::vector<Messages> multicasts;  // sends, ascending
    std::vector<Messages> reductions;  // receives, ascending

    bool empty() const { return multicasts.empty() && reductions.empty(); }
};

}  // namespace astra
