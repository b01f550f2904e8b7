// Makes the programs of algorithms: one sequence a member, written down once where the members'
// sequences are the same up to a relation.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "system/program/program.h"
#include "system/program/turn_order.h"

namespace astra {

// Takes down one role after the other: begin_role, then its sends and receives in order. A receive
// that follows a send begins a new step. Peers and blocks are given relative as the relation says.
class ProgramBuilder {
  public:
    // `blocks` >= 1.
    ProgramBuilder(Relation relation, std::uint32_t members, std::uint32_t blocks);

    // The members are a grid of the levels' coordinates, the first varies fastest. `blocks` is a
    // multiple of the members, and the blocks for a group's members one of the level's blocks.
    // `pairs`: the program is an all_to_all.
    void add_levels(const std::vector<ProgramLevel>& levels, bool pairs);
    // From here on peers, payloads and channels are those of the program of a level, from 1 on.
    void enter_level(std::uint32_t level) { level_ = level; }

    // From here on sends are on that channel, below kMostChannels; a role begins with channel 0.
    // `variant` keeps the channels of one program of an algorithm apart from those of another.
    void use_channel(std::uint32_t channel) { channel_ = channel; }
    void set_variant(std::uint32_t variant) { variant_ = variant; }
    // From here on each send leaves beside all others of its member.
    void send_concurrently() { channel_ = Program::kConcurrent; }
    static constexpr std::uint32_t kMostChannels = 64;
    // What a channel is called in the programs of all levels.
    static constexpr std::uint32_t without_level(std::uint32_t channel) {
        return channel % (kMostVariants * kMostChannels);
    }
    // From here on messages that the member receives take turns, with all that it receives under
    // that number: one leaves its sender when the one before, in the order of the receives, has
    // left its own. Members so meet in pairs, as in MPI's sendrecv, and do not share the receiver's
    // link when they are out of step. A role begins without.
    void take_turns(std::uint32_t number) { turns_ = {number, kInOrder}; }
    // The same, and the messages leave when `after` of that number have left.
    void take_turns(std::uint32_t number, std::uint32_t after) { turns_ = {number, after}; }
    void take_no_turns() { turns_ = {}; }

    void begin_role();
    void send(std::uint32_t peer, const Payload& payload);
    void receive(std::uint32_t peer, const Payload& payload, bool reduce);
    // A reducing receive of which only the first `urgent` blocks hold up the next step: the others
    // are reduced while what follows is in flight.
    void receive_partly(std::uint32_t peer, const Payload& payload, std::uint32_t urgent);
    // The steps between the two take each other's messages, in the order in which they come.
    void begin_any_order() {
        in_any_order_ = true;
        tag_has_step_ = false;
    }
    void end_any_order() { in_any_order_ = false; }

    // Sends of one payload to several peers, which a switch copies; each peer has a
    // receive. To one peer it is a plain send.
    void multicast(std::span<const std::uint32_t> peers, const Payload& payload);
    // Reducing receives of one payload from several peers, which a switch sums up; each peer has a
    // send. From one peer it is a plain receive.
    void receive_reduced(std::span<const std::uint32_t> peers, const Payload& payload);

    // Pairs the k-th send from one member to another with the k-th receive there. Throws InputError
    // that names members and steps where the counts differ.
    Program finish();

  private:
    static constexpr std::uint32_t kMostVariants = 4;
    static constexpr std::uint32_t kInOrder = TurnOrder::kInOrder;
    using Turn = TurnOrder::Turn;

    void begin_step();
    std::uint32_t peer_in_level(std::uint32_t peer) const;
    std::uint32_t full_channel() const {
        return channel_ == Program::kConcurrent
                   ? channel_
                   : (level_ * kMostVariants + variant_) * kMostChannels + channel_;
    }
    Payload in_level(Payload payload) const {
        payload.level = level_;
        return payload;
    }

    Program program_;
    std::uint32_t level_ = 0;
    std::uint32_t channel_ = 0;
    std::uint32_t variant_ = 0;
    Turn turns_;
    std::vector<Turn> turns_of_receives_;
    bool in_any_order_ = false;
    bool tag_has_step_ = false;       // of the region in any order that is open
    bool last_in_any_order_ = false;  // the last step
};

}  // namespace astra
