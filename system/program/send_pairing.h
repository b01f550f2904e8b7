// The last step of building a program: which receive takes which send.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/program/program.h"

namespace astra {

// Pairs the k-th send from one member to another over a channel with the k-th receive of that
// channel there, and writes into each what it has to know of the other.
class SendPairing {
  public:
    // All steps, sends and receives are there. One channel between two members.
    explicit SendPairing(Program& program) : program_(program) {}
    // A channel for each send and each receive, by number. A channel has one thread block at either
    // end. The channels outlive this.
    SendPairing(Program& program,
                const std::vector<std::uint32_t>& send_channels,
                const std::vector<std::uint32_t>& receive_channels)
        : program_(program), send_channels_(&send_channels), receive_channels_(&receive_channels) {}

    // Throws InputError that names members and steps of a send or receive without its counterpart,
    // and of two thread blocks that share the end of a channel.
    void pair();

  private:
    // One end of a transfer.
    struct End {
        std::uint64_t pair = 0;  // role of the receiver, peer as the receiver sees it
        std::uint32_t channel = 0;
        std::uint32_t op = 0;
        std::uint32_t tag = 0;
        std::uint32_t step = 0;
        std::uint16_t sequence = 0;  // of the member

        std::uint32_t receiver() const { return static_cast<std::uint32_t>(pair >> 32); }
        std::uint32_t sender() const { return static_cast<std::uint32_t>(pair); }
        bool same_channel(const End& other) const {
            return pair == other.pair && channel == other.channel;
        }
    };

    void list_ends(std::uint32_t role, std::uint16_t sequence);
    void refuse_shared_channels(const std::vector<End>& ends, bool sends) const;
    [[noreturn]] void refuse_lonely(const End& end, bool send) const;
    std::string step_name(std::uint32_t member, const End& end) const {
        return program_.step_name(member, end.sequence, end.step);
    }

    Program& program_;
    const std::vector<std::uint32_t>* send_channels_ = nullptr;
    const std::vector<std::uint32_t>* receive_channels_ = nullptr;
    std::vector<End> sends_;
    std::vector<End> receives_;
};

}  // namespace astra
