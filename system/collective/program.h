// A collective as a value: what every member of a group sends and receives, in order. No clock, no
// network. One engine runs all programs (collective_run.h); the verifier proves them (verifier.h).
//
// Members are 0 … members-1, positions in the group. The buffer of the collective is cut into
// `blocks` equal blocks (where they do not divide it, the first ones are a byte longer). Each
// member runs one sequence of steps; a step waits for its receives, then starts its sends, which do
// not block.
//
// A program that is the same for every member up to a rotation, an XOR or a rotation of both
// coordinates of a grid is stored once: peers and blocks are then relative to the member.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "astra/core/types.h"

namespace astra {

enum class Relation : std::uint8_t {
    Rotation,  // peer = (member + p) mod members, block = (k·member + b) mod blocks, with k blocks
               // a member, or 1 where the members do not divide the blocks
    Xor,       // peer = member ^ p, block = member ^ b, or b if there is only one block
    Grid,      // members in rows of `row`: (y, x) is member y·row + x. Peers and blocks, as many
               // as members, are such pairs too, and the sum is taken coordinate by coordinate
    Absolute,  // peer = p, block = b mod blocks; each member has a sequence of its own
};

// The blocks first, first + stride, … (count of them), relative as the program says. Where a
// program counts modulo the blocks they go on from block 0 after the last.
//
// In an all_to_all a block is what a member, its origin, has for the member of the block's number;
// origins are relative too. With `origins` above 1 each block stands for what that many have:
// origin, origin + origin_stride, … (modulo the members), and `count` counts pairs of block and
// origin, origins first; the last block need not have all of its origins.
struct Payload {
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    std::uint32_t count = 1;
    std::uint32_t origin = 0;
    std::uint32_t origins = 1;
    std::uint32_t origin_stride = 1;
    bool operator==(const Payload&) const = default;

    // Of the i-th element; the origin before it is taken modulo the members.
    std::uint32_t block(std::uint32_t i) const {
        return first + (origins == 1 ? i : i / origins) * stride;
    }
    std::uint64_t origin_of(std::uint32_t i) const {
        return origins == 1 ? origin : origin + std::uint64_t{i % origins} * origin_stride;
    }
};

// Broadcast, reduce, gather and scatter.
bool has_root(CollectiveKind kind);

// What a program is wanted for.
struct ProgramShape {
    CollectiveKind kind{};
    std::uint32_t members = 2;
    std::uint32_t parameter = 0;  // the number behind the name: direct4; 0 = none
    std::uint32_t variant = 0;    // chunks alternate between an algorithm's variants
    std::uint32_t root = 0;       // member
    bool reversed = false;        // the other way round, where the algorithm has a direction
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const ProgramShape&) const = default;
};

class Program {
  public:
    struct Send {
        std::uint32_t peer = 0;
        std::uint32_t wave = 0;    // of the receiver's steps, in which it is waited for
        Payload payload;           // relative to the sender
        bool reduce = false;       // the receiver adds it to what it has
        std::uint32_t urgent = 0;  // blocks to be reduced before the receiver goes on
    };
    struct Receive {
        std::uint32_t peer = 0;
        std::uint32_t send = 0;  // its counterpart, an index into sends()
        Payload payload;         // relative to the receiver
        bool reduce = false;
        std::uint32_t urgent = 0;
    };
    // Steps of one wave take each other's messages, in the order in which they come.
    struct Step {
        std::uint32_t wave = 0;
        std::uint32_t first_receive = 0;
        std::uint32_t receives = 0;
        std::uint32_t first_send = 0;
        std::uint32_t sends = 0;
    };

    std::uint32_t members() const { return members_; }
    std::uint32_t blocks() const { return blocks_; }
    Relation relation() const { return relation_; }
    // The steps of a member.
    std::span<const Step> steps(std::uint32_t member) const {
        const std::size_t role = relation_ == Relation::Absolute ? member : 0;
        return {steps_.data() + first_step_[role], first_step_[role + 1] - first_step_[role]};
    }
    const Send& send(std::uint32_t i) const { return sends_[i]; }
    const Receive& receive(std::uint32_t i) const { return receives_[i]; }
    std::size_t stored_sends() const { return sends_.size(); }

    std::uint32_t peer_of(std::uint32_t member, std::uint32_t peer) const {
        switch (relation_) {
            case Relation::Rotation: {
                const std::uint32_t sum = member + peer;
                return sum >= members_ ? sum - members_ : sum;
            }
            case Relation::Xor:
                return member ^ peer;
            case Relation::Grid:
                return sum_in_grid(member, peer);
            case Relation::Absolute:
                break;
        }
        return peer;
    }
    // The peer that sees `peer_of(member, peer)` there as `member`; `member` itself if absolute.
    std::uint32_t mirrored(std::uint32_t member, std::uint32_t peer) const;
    std::uint32_t block_of(std::uint32_t member, std::uint32_t block) const {
        switch (relation_) {
            case Relation::Rotation:
                return (member * blocks_a_member_ + block) % blocks_;
            case Relation::Xor:
                return blocks_ == 1 ? block : member ^ block;
            case Relation::Grid:
                return sum_in_grid(member, block);
            case Relation::Absolute:
                break;
        }
        return block % blocks_;
    }
    // Of the i-th element of an all_to_all's payload.
    std::uint32_t origin_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const {
        const std::uint64_t origin = payload.origin_of(i);
        return peer_of(
            member, static_cast<std::uint32_t>(payload.origins == 1 ? origin : origin % members_));
    }
    // A buffer cut into the program's blocks, as part_of cuts it.
    struct BlockSizes {
        std::uint64_t base = 0;
        std::uint64_t longer = 0;  // so many blocks, the first ones, have a byte more
    };
    BlockSizes cut(Bytes size) const { return {size.count / blocks_, size.count % blocks_}; }
    // Bytes of a payload of `member`.
    Bytes bytes_of(const Payload& payload, std::uint32_t member, const BlockSizes& sizes) const {
        return {sizes.base * payload.count +
                (sizes.longer == 0 ? 0 : longer_blocks(payload, member, sizes.longer))};
    }
    Bytes bytes_of(const Payload& payload, std::uint32_t member, Bytes size) const {
        return bytes_of(payload, member, cut(size));
    }

  private:
    friend class ProgramBuilder;
    std::uint64_t longer_blocks(const Payload& payload,
                                std::uint32_t member,
                                std::uint64_t longer) const;
    std::uint32_t sum_in_grid(std::uint32_t a, std::uint32_t b) const {
        const std::uint32_t x = (a % row_ + b % row_) % row_;
        return (a / row_ + b / row_) * row_ % members_ + x;
    }

    Relation relation_ = Relation::Absolute;
    std::uint32_t members_ = 0;
    std::uint32_t blocks_ = 1;
    std::uint32_t blocks_a_member_ = 1;
    std::uint32_t row_ = 1;
    std::vector<std::uint32_t> first_step_;  // a role, and one more
    std::vector<Step> steps_;
    std::vector<Send> sends_;
    std::vector<Receive> receives_;
};

// Takes down one role after the other: begin_role, then its sends and receives in order. A receive
// that follows a send begins a new step. Peers and blocks are given relative as the relation says.
class ProgramBuilder {
  public:
    // `blocks` >= 1. `row`, of a grid, divides the members.
    ProgramBuilder(Relation relation,
                   std::uint32_t members,
                   std::uint32_t blocks,
                   std::uint32_t row = 1);

    void begin_role();
    void send(std::uint32_t peer, const Payload& payload);
    void receive(std::uint32_t peer, const Payload& payload, bool reduce);
    // A reducing receive of which only the first `urgent` blocks hold up the next step: the others
    // are reduced while what follows is on the way.
    void receive_partly(std::uint32_t peer, const Payload& payload, std::uint32_t urgent);
    // The receives between the two belong to steps of one wave.
    void begin_wave() {
        in_wave_ = true;
        wave_has_step_ = false;
    }
    void end_wave() { in_wave_ = false; }

    // Pairs the k-th send from one member to another with the k-th receive there. Throws InputError
    // that names members and steps where the counts differ.
    Program finish();

  private:
    void begin_step();
    Program program_;
    bool in_wave_ = false;
    bool wave_has_step_ = false;
    bool last_in_wave_ = false;  // the last step
};

}  // namespace astra
