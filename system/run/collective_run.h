// One program in execution: a chunk in one phase, over one sub-group of its ranks.
//
// Times are arithmetic, not events: a message that arrives at t is dealt with at t + endpoint
// delay, plus the reduction; what it sets free is sent at that later time. A message costs the
// events of the network only.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/transfer_clock.h"
#include "astra/core/types.h"
#include "network/backend/backend.h"
#include "system/program/program.h"
#include "system/run/message_costs.h"
#include "system/run/pair_sizes.h"
#include "system/run/rendezvous.h"
#include "system/run/send_queues.h"
#include "system/run/step_costs.h"
#include "system/run/thread_block_run.h"

namespace astra {

class CollectiveRun;

// What all runs of a simulation share.
struct RunContext {
    EventQueue& queue;
    NetworkBackend& network;
    Duration endpoint_delay;
    TransferClock memory;  // one access of local memory; a reduction takes three
    // Whether messages wait for each other at all: if not, a member's leave at once.
    bool in_order = true;
    // Messages of a connection that its receiver has not taken, at most; 0: any number.
    std::uint32_t run_ahead = 0;
    bool rendezvous = false;
    Recorder* recorder = nullptr;  // null if nobody listens to phases
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

// Told when a member has finished its part.
class RunOwner {
  public:
    RunOwner() = default;
    RunOwner(const RunOwner&) = delete;
    RunOwner& operator=(const RunOwner&) = delete;
    virtual ~RunOwner() = default;
    // `left`: all that it sends has left, too; otherwise member_left() is still to come.
    virtual void member_finished(CollectiveRun& run, std::uint32_t member, bool left) = 0;
    virtual void member_left(CollectiveRun& run, std::uint32_t member) = 0;
    // CollectiveRun::follow(): what the member does next depends on what the sender of a message
    // has done; what it sends, that it leaves, on what the receiver has done.
    virtual void member_hears(CollectiveRun&, std::uint32_t /*member*/, std::uint32_t /*sender*/) {}
    virtual void member_held(CollectiveRun&, std::uint32_t /*member*/, std::uint32_t /*receiver*/) {
    }
    // What the member sends leaves after what another one has sent.
    virtual void member_follows(CollectiveRun&, std::uint32_t /*member*/, std::uint32_t /*other*/) {
    }
};

class CollectiveRun {
  public:
    // `id` is the owner's; `ranks` of the fabric, a member each; `size` the whole buffer.
    void begin(RunContext& context,
               RunOwner& owner,
               std::uint64_t id,
               const Program& program,
               std::vector<std::uint32_t> ranks,
               Bytes size,
               const MessageCosts& costs = {},
               std::uint32_t communicator = 0);

    // A chunk of an all_to_all that has a size for each pair of members.
    struct Pairs {
        const PairSizes* sizes = nullptr;
        std::uint32_t chunk = 0;
        std::uint32_t chunks = 1;
    };
    // Before anyone starts. A message carries what its pairs have in this chunk; one of no bytes is
    // not sent, and a member that knows of it does not wait for it.
    void set_pairs(const Pairs& pairs) {
        pairs_ = pairs;
        send_queues_.forget_run_ahead();
    }

    // Tells the owner who depends on whom, from the moment on at which `wanted` is true.
    void follow(const bool& wanted) { follow_ = &wanted; }

    // Lets a member take part. It pays the endpoint delay and the startup first.
    void start(std::uint32_t member);

    std::uint64_t id() const { return id_; }
    bool everyone_started() const { return started_ == ranks_.size(); }
    bool everyone_finished() const { return finished_ == ranks_.size(); }
    // Nothing of it is to come.
    bool is_over() const { return everyone_finished() && leaving_ == 0; }

  private:
    friend class ThreadBlockRun;
    static constexpr std::uint32_t kNotStarted = 0xffffffffU;
    static constexpr std::uint32_t kNone = 0xffffffffU;
    static constexpr bool kUnwanted = false;
    // `waiting`: for something else than messages, before which it takes none.
    static constexpr std::uint32_t kHeldUp = 0xffffffffU;

    // How far a sequence of steps has come.
    struct Sequence {
        StepClock clock;
        std::uint32_t step = kNotStarted;  // the one it waits in
        std::uint32_t waiting = 0;         // receives of the step still to come
        std::uint32_t parked = kNone;      // arrivals for steps to come, oldest first
        std::uint32_t parked_last = kNone;
    };
    struct Parked {
        std::uint64_t come_ps = 0;
        std::uint32_t send = 0;
        std::uint32_t next = kNone;
    };

    // How far a member is with what it sends.
    struct Departure {
        std::uint64_t left_ps = 0;  // all whose departure is known have left
        std::uint32_t unknown = 0;  // last messages of connections that are still to leave
        bool finished = false;      // its steps are done
    };

    void deliver(std::uint64_t argument);
    void finish_member(std::uint64_t argument);
    // `at`: the sequence's number among all (Program::sequence_at).
    void begin_sequence(std::size_t at, SimTime begin);
    void advance(std::uint32_t member, std::size_t at);
    bool enter_step(std::uint32_t member, std::size_t at);
    bool complete_step(std::uint32_t member, std::size_t at);
    void finish_soon(std::uint32_t member, std::uint64_t at_ps);
    void issue(std::uint32_t member, const Sequence& sequence, std::uint32_t send);
    void ask_for(std::uint32_t member, const Sequence& sequence, const Program::Step& step);
    void asked(std::uint64_t message);
    void sender_ready(std::uint64_t message);
    void transmit_now(std::uint64_t message);
    // Why the member does what it does now: a message, or that it takes part.
    Cause cause_at(std::uint32_t member) const {
        const Cause now = context_->recorder->current();
        return now == kNoCause ? causes_[member] : now;
    }
    // A message without bytes comes as an event of its own, which no network delivers.
    void transmit_nothing(std::uint32_t member,
                          std::uint32_t receiver,
                          std::uint32_t send,
                          SimTime at);
    void deliver_nothing(std::uint64_t argument);
    void send_from_queue(std::uint32_t member, std::uint32_t queue);
    SimTime depart(std::uint32_t member, std::uint32_t send, SimTime at);
    // When the message will have left, if that is known; otherwise left() is called.
    SimTime transmit(std::uint32_t member, std::uint32_t send, SimTime at);
    void left(std::uint64_t message);
    // Whether the member waits for the departure of the message before it has finished: those of
    // its connection leave before the last one. With sizes by pair any of them may have no bytes,
    // and so nothing that leaves.
    bool is_told(std::uint32_t member, const Program::Send& send) const;
    void note_departure(std::uint32_t member, std::uint64_t at_ps);
    void leave(std::uint64_t argument);
    ChannelKey channel_of(const Program::Send& send) const;
    void park(Sequence& sequence, std::uint32_t send);
    void take_parked(std::uint32_t member, Sequence& sequence, std::uint32_t tag);
    void take(std::uint32_t member, Sequence& sequence, std::uint32_t send, std::uint64_t come_ps);
    std::uint32_t awaited(std::uint32_t member, const Program::Step& step) const;
    bool goes_without(std::uint32_t receiver, std::uint32_t seen_by, const Payload& payload) const;
    Bytes bytes_of(const Payload& payload, std::uint32_t member) const {
        return pairs_.sizes == nullptr ? program_->bytes_of(payload, member, sizes_)
                                       : pair_bytes(payload, member);
    }
    Bytes pair_bytes(const Payload& payload, std::uint32_t member) const;
    static std::uint64_t pack(std::uint32_t member, std::uint32_t send) {
        return (std::uint64_t{member} << 32) | send;
    }

    RunContext* context_ = nullptr;
    RunOwner* owner_ = nullptr;
    const bool* follow_ = &kUnwanted;
    const Program* program_ = nullptr;
    StepCosts costs_;
    std::vector<std::uint64_t> copied_ps_;  // by member: when all that it has sent is handed over
    std::uint64_t id_ = 0;
    Program::BlockSizes sizes_;
    Pairs pairs_;
    std::vector<Cause> causes_;  // by member: on whose behalf it takes part; if it is recorded
    // On whose behalf messages without bytes come, by receiver and send; if it is recorded.
    std::unordered_map<std::uint64_t, Cause> empty_causes_;
    std::uint32_t started_ = 0;
    std::uint32_t finished_ = 0;
    std::uint32_t leaving_ = 0;  // members that have finished and are still sending
    std::vector<std::uint32_t> ranks_;
    std::vector<Sequence> sequences_;
    std::unique_ptr<ThreadBlockRun> thread_blocks_;  // null for a program without them
    std::vector<Parked> parked_;
    std::uint32_t free_parked_ = kNone;
    SendQueues send_queues_;
    std::vector<Departure> departures_;  // by member
    std::uint32_t communicator_ = 0;
    Rendezvous gates_;  // empty without rendezvous
};

}  // namespace astra
