// A collective as a value: what every member of a group sends and receives, in order. No clock, no
// network. One engine runs all programs (collective_run.h); the verifier proves them (verifier.h).
//
// Members are 0 … members-1, positions in the group. The buffer of the collective is cut into
// `blocks` equal blocks (where they do not divide it, the first ones are a byte longer). Each
// member runs one sequence of steps; a step waits for its receives, then starts its sends, which do
// not block.
//
// An absolute program may have more (begin_lane and below): several sequences a member, its lanes,
// which run at once, and whose steps wait for steps of other lanes of the member; slots beyond the
// blocks; copies and reductions within a member. A step then waits for others, for its receives,
// does its local work, and starts its sends. Without any of these nothing of it is stored.
//
// A program that is the same for every member up to a rotation, an XOR, or either of them in each
// coordinate of a grid is stored once: peers and blocks are then relative to the member.
//
// A program may be made of others, each run by groups of some of the members (ProgramLevel).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program_shape.h"

namespace astra {

// Where the data of a collective lie at its start and its end, and what other slots there are.
// Blocks and slots are of equal size; a slot beyond the blocks counts as one of the longer ones.
struct BufferLayout {
    std::uint32_t slots = 0;  // of a member, the blocks among them
    // The blocks that a member has at the start, in ascending order, from slot `input` on, and
    // those that it has at the end from slot `output` on. In place both are where the block's
    // number says.
    bool in_place = true;
    std::uint32_t input = 0;
    std::uint32_t output = 0;
    bool operator==(const BufferLayout&) const = default;
};

class Program {
  public:
    struct Send {
        std::uint32_t peer = 0;
        std::uint32_t wave = 0;    // of the receiver's steps, in which it is waited for
        Payload payload;           // relative to the sender
        bool reduce = false;       // the receiver adds it to what it has
        std::uint16_t lane = 0;    // of the receiver
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

    // A step of another lane of the member, after which a step goes on.
    struct Wait {
        std::uint32_t lane = 0;
        std::uint32_t step = 0;
        bool operator==(const Wait&) const = default;
    };
    // Work within a member: slots to, to + 1, … become the slots from, from + 1, …, or have them
    // added. Without slots it is a computation that takes `time_ps`.
    struct Local {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t count = 0;
        bool reduce = false;
        std::uint64_t time_ps = 0;
        bool operator==(const Local&) const = default;
    };
    // What a step has beyond receives and sends.
    struct Extra {
        std::uint32_t first_wait = 0;
        std::uint32_t waits = 0;
        std::uint32_t first_local = 0;
        std::uint32_t locals = 0;
        bool waited_for = false;
    };

    std::uint32_t members() const { return members_; }
    std::uint32_t blocks() const { return blocks_; }
    Relation relation() const { return relation_; }
    // The steps of a member, in one of its lanes.
    std::span<const Step> steps(std::uint32_t member, std::uint32_t lane = 0) const {
        return steps_at(lane_at(member, lane));
    }
    // Of the lane of that number (lane_at).
    std::span<const Step> steps_at(std::size_t lane) const {
        const std::size_t at = relation_ == Relation::Absolute ? lane : 0;
        return {steps_.data() + first_step_[at], first_step_[at + 1] - first_step_[at]};
    }

    // Whether there is anything but one sequence a member.
    bool has_lanes() const { return !first_lane_.empty(); }
    std::uint32_t lanes(std::uint32_t member) const {
        return has_lanes() ? first_lane_[member + 1] - first_lane_[member] : 1;
    }
    // A number for each lane of each member, dense.
    std::size_t lane_at(std::size_t member, std::uint32_t lane) const {
        return has_lanes() ? first_lane_[member] + lane : member;
    }
    std::size_t all_lanes() const { return has_lanes() ? first_lane_.back() : members_; }
    // What the author of the program calls a lane: the number of a thread block.
    std::uint32_t lane_name(std::uint32_t member, std::uint32_t lane) const {
        return has_lanes() ? lane_names_[lane_at(member, lane)] : 0;
    }
    // Of a program with lanes.
    const Extra& extra(const Step& step) const { return extras_[step_at(step)]; }
    std::size_t step_at(const Step& step) const {
        return static_cast<std::size_t>(&step - steps_.data());
    }
    std::size_t all_steps() const { return steps_.size(); }
    std::span<const Wait> waits(const Extra& extra) const {
        return {waits_.data() + extra.first_wait, extra.waits};
    }
    std::span<const Local> locals(const Extra& extra) const {
        return {locals_.data() + extra.first_local, extra.locals};
    }
    // The slot from which on the i-th receive takes what it adds, if it reduces: the slots that it
    // changes are `addend + k` plus what came.
    std::uint32_t addend(std::uint32_t i) const {
        return addends_.empty() ? receives_[i].payload.first : addends_[i];
    }
    // For messages: "member 3, lane 2, step 1".
    std::string place(std::uint32_t member, std::uint32_t lane, std::size_t step) const;
    // Where the slots of a program are memory, a message may be received into other slots than it
    // was sent from; otherwise slots are the blocks that data belong to.
    bool has_memory() const { return layout_.slots > 0; }
    const BufferLayout& layout() const { return layout_; }
    std::uint32_t slots() const { return has_memory() ? layout_.slots : blocks_; }
    // Its times are recorded ones: nothing is added to them at an endpoint.
    bool as_recorded() const { return as_recorded_; }

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
    // A member that sees the payload of a message to `receiver` as its sender does.
    std::uint32_t sender_of(std::uint32_t receiver, std::uint32_t send) const;
    // How many blocks, or pairs of block and origin, a payload is of.
    std::uint32_t elements(const Payload& payload) const {
        return payload.level == 0 ? payload.count : payload.count * views_[payload.level].elements;
    }
    // Of the i-th element of a payload of `member`.
    std::uint32_t block_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const {
        return payload.level == 0 ? block_at(member, payload.block(i))
                                  : block_in_level(member, payload, i);
    }
    // Of an all_to_all's payload.
    std::uint32_t origin_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const {
        if (payload.level != 0) {
            return origin_in_level(member, payload, i);
        }
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
        return {sizes.base * elements(payload) +
                (sizes.longer == 0 ? 0 : longer_blocks(payload, member, sizes.longer))};
    }
    Bytes bytes_of(const Payload& payload, std::uint32_t member, Bytes size) const {
        return bytes_of(payload, member, cut(size));
    }
    // Bytes that a local work moves.
    Bytes bytes_of(const Local& local, const BlockSizes& sizes) const {
        return bytes_of(Payload{local.to, 1, local.count}, 0, sizes);
    }

  private:
    friend class ProgramBuilder;
    std::uint64_t longer_blocks(const Payload& payload,
                                std::uint32_t member,
                                std::uint64_t longer) const;
    // A level, and what follows from it.
    struct View {
        ProgramLevel level;
        std::uint32_t span = 1;      // blocks of the whole that a block is, of each group above
        std::uint32_t above = 1;     // groups that differ in the coordinates above
        std::uint32_t elements = 1;  // that a block, or a pair, stands for
    };
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
        return block % slots();
    }
    std::uint32_t block_in_level(std::uint32_t member,
                                 const Payload& payload,
                                 std::uint32_t i) const;
    std::uint32_t origin_in_level(std::uint32_t member,
                                  const Payload& payload,
                                  std::uint32_t i) const;
    std::uint64_t longer_in_level(const Payload& payload,
                                  std::uint32_t member,
                                  std::uint64_t longer) const;
    std::uint32_t first_in_level(std::uint32_t member,
                                 const View& view,
                                 std::uint32_t block,
                                 std::uint32_t part) const;
    std::uint32_t coordinate(std::uint32_t member, const View& view, std::uint32_t place) const;
    std::uint32_t sum_in_grid(std::uint32_t a, std::uint32_t b) const;

    Relation relation_ = Relation::Absolute;
    std::uint32_t members_ = 0;
    std::uint32_t blocks_ = 1;
    std::uint32_t blocks_a_member_ = 1;
    bool pairs_ = false;       // its elements are pairs, within levels
    std::vector<View> views_;  // of the levels, from 1 on
    bool as_recorded_ = false;
    BufferLayout layout_;
    std::vector<std::uint32_t> first_step_;  // a lane of a role, and one more
    std::vector<Step> steps_;
    std::vector<Send> sends_;
    std::vector<Receive> receives_;
    // Of programs with lanes only.
    std::vector<std::uint32_t> first_lane_;  // a member, and one more
    std::vector<std::uint32_t> lane_names_;
    std::vector<Extra> extras_;  // a step
    std::vector<Wait> waits_;
    std::vector<Local> locals_;
    std::vector<std::uint32_t> addends_;  // a receive
};

// Takes down one role after the other: begin_role, then its sends and receives in order. A receive
// that follows a send begins a new step. Peers and blocks are given relative as the relation says.
class ProgramBuilder {
  public:
    // `blocks` >= 1.
    ProgramBuilder(Relation relation, std::uint32_t members, std::uint32_t blocks);

    // The members are a grid of the levels' coordinates, the first varies fastest. `blocks` is a
    // multiple of the members, and the blocks for a group's members one of the level's blocks.
    // `pairs`: of an all_to_all.
    void add_levels(const std::vector<ProgramLevel>& levels, bool pairs);
    // From here on peers and payloads are those of the program of a level, from 1 on.
    void enter_level(std::uint32_t level) { level_ = level; }

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

    // --- programs with lanes; absolute ones ---

    void set_layout(const BufferLayout& layout) { program_.layout_ = layout; }
    void set_as_recorded() { program_.as_recorded_ = true; }
    // The next member; lanes follow, each with its steps.
    void begin_member();
    void begin_lane(std::uint32_t name);
    // The step in hand has all its waits before its receives, those before its local work, and that
    // before its sends.
    void begin_lane_step();
    // Lanes are counted from 0, whatever their names; both may come later.
    void wait(std::uint32_t lane, std::uint32_t step);
    void local(const Program::Local& local);
    // Sends and receives of one channel between two members are paired in order; a channel has one
    // lane at either end.
    void lane_send(std::uint32_t peer, std::uint32_t channel, const Payload& payload);
    // With an addend the slots become what is there plus what comes.
    void lane_receive(std::uint32_t peer,
                      std::uint32_t channel,
                      const Payload& payload,
                      std::optional<std::uint32_t> addend);

    // Pairs the k-th send from one member to another with the k-th receive there. Throws InputError
    // that names members and steps where the counts differ, where two lanes share the end of a
    // channel, and where a wait is for a step that is not there.
    Program finish();

    static constexpr std::size_t kMostLanes = 0xffff;  // a member

  private:
    // One end of a transfer.
    struct End {
        std::uint64_t pair = 0;  // role of the receiver, peer as the receiver sees it
        std::uint32_t channel = 0;
        std::uint32_t op = 0;
        std::uint32_t wave = 0;
        std::uint32_t step = 0;
        std::uint16_t lane = 0;

        bool same_channel(const End& other) const {
            return pair == other.pair && channel == other.channel;
        }
    };

    void begin_step();
    std::uint32_t peer_in_level(std::uint32_t peer) const;
    Payload in_level(Payload payload) const {
        payload.level = level_;
        return payload;
    }
    void list_ends(std::vector<End>& sends, std::vector<End>& receives) const;
    void refuse_shared_channels(const std::vector<End>& ends, bool sends) const;
    [[noreturn]] void refuse_lonely(const End& end, bool send) const;
    void check_waits();
    std::string place(std::uint64_t member, const End& end) const;

    Program program_;
    std::uint32_t level_ = 0;
    std::vector<std::uint32_t> send_channels_;  // of programs with lanes
    std::vector<std::uint32_t> receive_channels_;
    bool in_wave_ = false;
    bool wave_has_step_ = false;
    bool last_in_wave_ = false;  // the last step
    std::uint32_t wave_ = 0;     // of a lane's next step
};

}  // namespace astra
