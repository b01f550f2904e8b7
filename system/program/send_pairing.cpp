#include "system/program/send_pairing.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/core/error.h"

namespace astra {

void SendPairing::pair() {
    const std::uint32_t roles = program_.relation() == Relation::Absolute ? program_.members() : 1;
    for (std::uint32_t role = 0; role < roles; ++role) {
        for (std::uint32_t sequence = 0; sequence < program_.sequences_of(role); ++sequence) {
            list_ends(role, static_cast<std::uint16_t>(sequence));
        }
    }
    const auto by_channel = [](const End& a, const End& b) {
        return a.pair != b.pair ? a.pair < b.pair : a.channel < b.channel;
    };
    std::stable_sort(sends_.begin(), sends_.end(), by_channel);
    std::stable_sort(receives_.begin(), receives_.end(), by_channel);
    for (std::size_t i = 0; i < std::max(sends_.size(), receives_.size()); ++i) {
        if (i >= sends_.size() || i >= receives_.size() || !sends_[i].same_channel(receives_[i])) {
            const bool send =
                i >= receives_.size() || (i < sends_.size() && by_channel(sends_[i], receives_[i]));
            refuse_lonely(send ? sends_[i] : receives_[i], send);
        }
        Program::Send& send = program_.sends_[sends_[i].op];
        Program::Receive& receive = program_.receives_[receives_[i].op];
        send.tag = receives_[i].tag;
        send.sequence = receives_[i].sequence;
        send.reduce = receive.reduce;
        send.urgent = receive.urgent;
        receive.send = sends_[i].op;
    }
    if (send_channels_ != nullptr) {
        refuse_shared_channels(sends_, true);
        refuse_shared_channels(receives_, false);
    }
}

void SendPairing::list_ends(std::uint32_t role, std::uint16_t sequence) {
    const auto channel = [](const std::vector<std::uint32_t>* channels, std::uint32_t op) {
        return channels == nullptr ? 0 : (*channels)[op];
    };
    const bool absolute = program_.relation() == Relation::Absolute;
    const auto steps = program_.steps(role, sequence);
    for (std::uint32_t s = 0; s < steps.size(); ++s) {
        const Program::Step& step = steps[s];
        for (std::uint32_t op = step.first_receive; op < step.first_receive + step.receives; ++op) {
            receives_.push_back({(std::uint64_t{role} << 32) | program_.receive(op).peer,
                                 channel(receive_channels_, op),
                                 op,
                                 step.tag,
                                 s,
                                 sequence});
        }
        for (std::uint32_t op = step.first_send; op < step.first_send + step.sends; ++op) {
            const std::uint32_t peer = program_.send(op).peer;
            const std::uint64_t receiver = absolute ? peer : 0;
            sends_.push_back({(receiver << 32) | program_.mirrored(role, peer),
                              channel(send_channels_, op),
                              op,
                              0,
                              s,
                              sequence});
        }
    }
}

void SendPairing::refuse_lonely(const End& end, bool send) const {
    const std::string channel =
        send_channels_ != nullptr ? fmt::format(" on channel {}", end.channel) : "";
    throw InputError(fmt::format("program: {}: a {} at member {}{}",
                                 step_name(send ? end.sender() : end.receiver(), end),
                                 send ? "send without its receive" : "receive without its send",
                                 send ? end.receiver() : end.sender(),
                                 channel));
}

// Ends are in the order of channels.
void SendPairing::refuse_shared_channels(const std::vector<End>& ends, bool sends) const {
    for (std::size_t i = 1; i < ends.size(); ++i) {
        const End& a = ends[i - 1];
        const End& b = ends[i];
        if (a.same_channel(b) && a.sequence != b.sequence) {
            const std::uint32_t here = sends ? a.sender() : a.receiver();
            throw InputError(fmt::format(
                "program: {} and {}: both {} member {} on channel {}, and which comes first is "
                "not defined",
                step_name(here, a),
                step_name(here, b),
                sends ? "send to" : "receive from",
                sends ? a.receiver() : a.sender(),
                a.channel));
        }
    }
}

}  // namespace astra
