// A collective as a value: what every member of a group sends and receives, in order. No clock, no
// network. One engine runs all programs (collective_run.h); the verifier proves them (verifier.h);
// builders make them (program_builder.h, thread_block_builder.h).
//
// Members are 0 … members-1, positions in the group. The buffer of the collective is cut into
// `blocks` equal blocks (where they do not divide it, the first ones are a byte longer). A block is
// what MSCCL's files call a chunk; a chunk is here what ASTRA-sim calls so, the part of a
// collective that goes through its phases as one, and that a program runs on. Each member runs one
// sequence of steps; a step waits for its receives, then starts its sends, which do not block.
//
// A program that is the same for every member up to a rotation, an XOR, or either of them in each
// coordinate of a grid is stored once: peers and blocks are then relative to the member.
//
// That is the core. What only some programs have is in extensions, and a program without one of
// them stores nothing of it:
//   thread_blocks()      several sequences a member, which wait for one another, and work within a
//                        member; absolute programs only                       (thread_blocks.h)
//   memory()             positions beyond the blocks, from and to which data move (buffer_layout.h)
//   levels()             programs within the program, run by groups of members (program_levels.h)
//   switch_operations()  messages that a switch copies or sums up          (switch_operations.h)
//   Payload::origins     whose data a block of an all_to_all is                (program_shape.h)
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "system/program/buffer_layout.h"
#include "system/program/program_levels.h"
#include "system/program/program_shape.h"
#include "system/program/switch_operations.h"
#include "system/program/thread_blocks.h"

namespace astra {

// Messages of a connection that its receiver has not taken, at most: NCCL's slots of a channel. The
// default of system.run_ahead, under which programs are proved.
inline constexpr std::uint32_t kUsualRunAhead = 8;

class Program {
  public:
    struct Send {
        std::uint32_t peer = 0;
        std::uint32_t tag = 0;       // of the receiver's steps that may take it
        Payload payload;             // relative to the sender
        bool reduce = false;         // the receiver adds it to what it has
        std::uint16_t sequence = 0;  // the receiver's
        std::uint32_t urgent = 0;    // blocks to be reduced before the receiver goes on
        std::uint32_t channel = 0;   // messages to a peer on a channel are one connection
        // Numbers within the sender: what is in a queue leaves in the order of the program.
        std::uint32_t queue = 0;
        std::uint32_t connection = 0;
        std::uint32_t sender = 0;  // in an absolute program
        bool is_last = false;      // of its connection
        // At the receiver: of these, `turn` leave before it (ProgramBuilder::take_turns).
        std::uint32_t turns = kNoTurns;
        std::uint32_t turn = 0;
    };
    static constexpr std::uint32_t kNoTurns = 0xffffffffU;
    // The channel of messages that leave beside all others of their member; a connection a peer.
    static constexpr std::uint32_t kConcurrent = 0xffffffffU;
    // What an engine has to keep for each member, and whether it has to do so at all.
    struct Order {
        std::uint32_t queues = 0;         // at most, of a member
        std::uint32_t connections = 0;    // at most, of a member
        std::uint32_t most_messages = 0;  // of a connection
        bool fans_out = false;            // some queue has messages to several peers
        std::uint32_t turns = 0;          // at most, that are taken at a member
        bool takes_turns = false;         // some of them by messages of several peers
    };
    struct Receive {
        std::uint32_t peer = 0;
        std::uint32_t send = 0;  // its counterpart, an index into sends()
        Payload payload;         // relative to the receiver
        bool reduce = false;
        std::uint32_t urgent = 0;
    };
    // A message is taken by a step of its tag. Steps that follow each other and have the same tag
    // take each other's messages, in the order in which they come.
    struct Step {
        std::uint32_t tag = 0;
        std::uint32_t first_receive = 0;
        std::uint32_t receives = 0;
        std::uint32_t first_send = 0;
        std::uint32_t sends = 0;
    };

    std::uint32_t members() const { return members_; }
    std::uint32_t blocks() const { return blocks_; }
    Relation relation() const { return relation_; }

    // Null for a program without the extension.
    const ThreadBlocks* thread_blocks() const {
        return thread_blocks_ ? &*thread_blocks_ : nullptr;
    }
    const BufferLayout* memory() const { return memory_ ? &*memory_ : nullptr; }
    const ProgramLevels* levels() const { return levels_.empty() ? nullptr : &levels_; }
    const SwitchOperations* switch_operations() const {
        return switch_operations_.empty() ? nullptr : &switch_operations_;
    }
    // What a member can name: positions of its memory, or blocks.
    std::uint32_t positions() const { return memory_ ? memory_->positions : blocks_; }

    // Sequences have numbers over all members; each member has one unless it has thread blocks.
    std::size_t sequences() const {
        return first_sequence_.empty() ? members_ : first_sequence_.back();
    }
    std::uint32_t sequences_of(std::uint32_t member) const {
        return first_sequence_.empty() ? 1 : first_sequence_[member + 1] - first_sequence_[member];
    }
    std::size_t sequence_at(std::size_t member, std::uint32_t sequence) const {
        return sequence + (first_sequence_.empty() ? member : first_sequence_[member]);
    }
    // Steps of a sequence by its number, and of one of a member's sequences.
    std::span<const Step> steps_at(std::size_t sequence) const {
        const std::size_t at = relation_ == Relation::Absolute ? sequence : 0;
        return {steps_.data() + first_step_[at], first_step_[at + 1] - first_step_[at]};
    }
    std::span<const Step> steps(std::uint32_t member, std::uint32_t sequence = 0) const {
        return steps_at(sequence_at(member, sequence));
    }
    // Steps that are stored, and the number of one of them.
    std::size_t stored_steps() const { return steps_.size(); }
    std::size_t number_of(const Step& step) const {
        return static_cast<std::size_t>(&step - steps_.data());
    }
    // For messages: "member 3, step 1", "member 3, thread block 2, step 1".
    std::string step_name(std::uint32_t member, std::uint32_t sequence, std::size_t step) const;

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
                return levels_.sum(member, peer);
            case Relation::Absolute:
                break;
        }
        return peer;
    }
    // The peer that sees `peer_of(member, peer)` there as `member`; `member` itself if absolute.
    std::uint32_t mirrored(std::uint32_t member, std::uint32_t peer) const;
    // A member that sees the payload of a message to `receiver` as its sender does.
    std::uint32_t sender_of(std::uint32_t receiver, std::uint32_t send) const;

    const Order& order() const { return order_; }
    // The member that sends a message to `receiver`.
    std::uint32_t sending_member(std::uint32_t receiver, std::uint32_t send) const {
        return relation_ == Relation::Absolute ? sends_[send].sender : sender_of(receiver, send);
    }

    // The receives (indices) whose turn it is at `receiver` once `left` messages have left.
    std::span<const std::uint32_t> in_turn(std::uint32_t receiver,
                                           std::uint32_t turns,
                                           std::uint32_t left) const;

    // How many blocks, or pairs of block and origin, a payload is of.
    std::uint32_t elements(const Payload& payload) const {
        return payload.level == 0 ? payload.count : levels_.elements(payload);
    }
    // The block that is the i-th element of a payload, as `member` sees it.
    std::uint32_t block_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const {
        return payload.level == 0 ? block_at(member, payload.block(i))
                                  : levels_.block_of(member, payload, i);
    }
    // The origin of the i-th element, in an all_to_all.
    std::uint32_t origin_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const {
        if (payload.level != 0) {
            return levels_.origin_of(member, payload, i);
        }
        const std::uint64_t origin = payload.origin_of(i);
        return peer_of(
            member,
            static_cast<std::uint32_t>(payload.origins.count == 1 ? origin : origin % members_));
    }

    // A buffer cut into the program's blocks, as part_of cuts it.
    struct BlockSizes {
        std::uint64_t base = 0;
        std::uint64_t longer = 0;  // so many blocks, the first ones, have a byte more
    };
    BlockSizes cut(Bytes size) const { return {size.count / blocks_, size.count % blocks_}; }
    // Bytes of a payload as `member` sees it.
    Bytes bytes_of(const Payload& payload, std::uint32_t member, const BlockSizes& sizes) const {
        return {sizes.base * elements(payload) +
                (sizes.longer == 0 ? 0 : longer_blocks(payload, member, sizes.longer))};
    }
    Bytes bytes_of(const Payload& payload, std::uint32_t member, Bytes size) const {
        return bytes_of(payload, member, cut(size));
    }

  private:
    friend class ProgramBuilder;
    friend class ThreadBlockBuilder;
    friend class SendPairing;
    friend class SendOrder;
    friend class TurnOrder;

    std::uint64_t longer_blocks(const Payload& payload,
                                std::uint32_t member,
                                std::uint64_t longer) const;
    std::uint32_t block_at(std::uint32_t member, std::uint32_t block) const {
        switch (relation_) {
            case Relation::Rotation:
                return (member * blocks_a_member_ + block) % blocks_;
            case Relation::Xor:
                return blocks_ == 1 ? block : member ^ block;
            case Relation::Grid:
            case Relation::Absolute:
                break;
        }
        return block % positions();
    }

    Relation relation_ = Relation::Absolute;
    std::uint32_t members_ = 0;
    std::uint32_t blocks_ = 1;
    std::uint32_t blocks_a_member_ = 1;
    std::vector<std::uint32_t> first_step_;  // by stored sequence, and one more
    std::vector<Step> steps_;
    std::vector<Send> sends_;
    std::vector<Receive> receives_;
    Order order_;
    std::vector<std::uint32_t> turns_;       // receives, by role, turns and turn
    std::vector<std::uint32_t> first_turn_;  // by role and turns, and one more

    std::vector<std::uint32_t> first_sequence_;  // by member, and one more; empty: one a member
    std::optional<ThreadBlocks> thread_blocks_;
    std::optional<BufferLayout> memory_;
    ProgramLevels levels_;
    SwitchOperations switch_operations_;
};

}  // namespace astra
