// The gradient transfers of training between the ranks that ask for them and the collective engine:
// merged, cut and put into order by a policy.
//
// A transfer is ready when every member of its group has asked for it, as a coordinator would find
// out; finding out and agreeing cost no time. What is launched joins all members at that instant.
// An op of a member has finished when the member has got all bytes of its tensor.
// Cost of a transfer: O(members) beside the collective. Memory: 40 bytes a member and transfer that
// waits or runs.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/records.h"
#include "system/engine/collective_engine.h"
#include "system/engine/collective_timer.h"
#include "system/transfer/policy.h"

namespace astra {

// What was launched together; kept only on demand.
struct LaunchRecord {
    GroupId group{};
    std::vector<TransferPiece> pieces;
    SimTime start;
    SimTime end;
};

class TransferQueue {
  public:
    // All outlive the queue.
    TransferQueue(EventQueue& queue,
                  CollectiveEngine& collectives,
                  const TransferPolicy& policy,
                  CollectiveTimer& timer);

    // Whether transfers wait here. If not they go to the engine at once, and are only recorded.
    bool waits() const { return policy_.queues(); }

    // Keeps what became of each tensor, 64 bytes each. Before the run.
    void record_tensors() { record_tensors_ = true; }

    // Keeps what was launched together. Before the run.
    void record_launches() { record_launches_ = true; }

    // Tells the recorder of transfers and of waiting; null for none. Before the run.
    void record(Recorder* recorder) { recorder_ = recorder; }

    // Transfers of this group of a job will be asked for; `like` is one of them. What is launched
    // takes the numbers of the group's collectives from `first_launch` on. Measures what transfers
    // cost. Throws ConfigError.
    void add_group(std::uint32_t job,
                   GroupId id,
                   const GroupForecast& forecast,
                   const CollectiveRequest& like,
                   std::uint64_t first_launch);

    // The rank at `position` has the gradient of a transfer of this iteration; `done` runs when it
    // is reduced. Once for each. Throws InputError when it asks for another kind or size than the
    // other members.
    void request(GroupId id,
                 std::uint32_t position,
                 const TransferPiece& transfer,
                 const CollectiveRequest& request,
                 Callback done);

    // Of the member whose `done` runs: it waits for the last member to have the gradient, and what
    // is launched with it. From then on, also while the policy holds it back, it is transferred.
    const PeerWait& wait() const { return wait_; }
    // Of those that have not finished.
    void add_unfinished(std::vector<UnfinishedWait>& waits) const;

    // Launches in the order in which they ended.
    const std::vector<TransferRecord>& records() const { return records_; }
    const std::vector<LaunchRecord>& launch_records() const { return launch_records_; }
    const std::vector<TensorRecord>& tensor_records() const { return tensor_records_; }
    // In the order of add_group().
    std::vector<CommunicatorRecord> communicators() const;
    // Its number there.
    std::uint32_t communicator(GroupId id) const { return by_group_[index(id)]; }
    const GroupForecast& forecast(std::uint32_t communicator) const {
        return groups_[communicator].forecast;
    }
    const TransferCost& cost(std::uint32_t communicator) const {
        return groups_[communicator].cost;
    }

    // For the report of a run that cannot finish.
    std::string describe_waiting(GroupId id,
                                 std::uint32_t position,
                                 const TransferPiece& transfer) const;

  private:
    // A transfer of an iteration that some member has asked for and not every one has got.
    struct Tensor {
        std::uint32_t group = 0;  // index into `groups_`
        TransferPiece whole;
        CollectiveRequest request;  // of the first member
        std::uint32_t first_rank = 0;
        std::uint32_t asked = 0;
        std::uint32_t finished = 0;  // members
        std::uint32_t pieces = 0;
        Bytes launched;
        SimTime ready;
        SimTime start;
        RankId last{};                    // who made it ready
        Cause cause{};                    // on whose behalf it got ready
        std::vector<SimTime> asked_at;    // by position
        std::vector<Callback> done;       // by position
        std::vector<std::uint64_t> left;  // bytes to come, by position
    };
    struct Group {
        std::uint32_t job = 0;
        GroupId id{};
        GroupForecast forecast;
        TransferCost cost;
        std::unique_ptr<TransferSchedule> schedule;  // none if nothing waits
        std::unordered_map<std::uint64_t, std::uint32_t> tensors;
        TransferLoad load;
        std::uint64_t next_launch = 0;
        SimTime wake{kMaxPs};  // the earliest that is planned
        bool serial = false;   // a measured cost holds for one collective at a time
        bool asking = false;   // its schedule is going to be asked
    };
    struct Started {
        std::uint32_t group = 0;
        std::vector<TransferPiece> pieces;
        std::vector<std::uint32_t> tensors;  // of the pieces
        Duration after;
        std::uint32_t members_left = 0;
        Bytes bytes;
        SimTime start;
        PeerArrival last;  // that made one of its pieces ready
        Cause span{};
    };

    std::uint32_t tensor_for(std::uint32_t group,
                             std::uint32_t position,
                             const TransferPiece& transfer,
                             const CollectiveRequest& request);
    void check_same(const Group& group,
                    const Tensor& tensor,
                    std::uint32_t rank,
                    const CollectiveRequest& request) const;
    void record_asking(Tensor& tensor, std::uint32_t position);
    Span span_of(std::uint32_t group, Bytes bytes) const;
    void passed(std::uint64_t argument);
    void plan_asking(std::uint32_t group);
    void plan_waking(std::uint32_t group, SimTime when);
    void ask(std::uint64_t group);
    void wake(std::uint64_t group);
    void start(std::uint32_t group, Launch launch);
    void join_all(std::uint64_t launch);
    void reduced(std::uint64_t argument);
    void finish_member(std::uint64_t argument);
    void record_launch(std::uint32_t group,
                       const std::vector<TransferPiece>& pieces,
                       SimTime start);
    void finish_launch(std::uint32_t number);
    void finish_tensor(std::uint32_t number);

    EventQueue& queue_;
    CollectiveEngine& collectives_;
    const TransferPolicy& policy_;
    CollectiveTimer& timer_;
    std::vector<std::uint32_t> by_group_;  // by GroupId: index into `groups_`
    std::deque<Group> groups_;             // addresses must stay
    std::deque<Tensor> tensors_;           // a pool
    std::vector<std::uint32_t> free_tensors_;
    std::deque<Started> launches_;  // a pool
    std::vector<std::uint32_t> free_launches_;
    Recorder* recorder_ = nullptr;
    PeerWait wait_;
    std::vector<TransferRecord> records_;
    std::vector<TensorRecord> tensor_records_;
    std::vector<LaunchRecord> launch_records_;
    bool record_tensors_ = false;
    bool record_launches_ = false;
};

}  // namespace astra
