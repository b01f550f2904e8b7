// Keeps the ranks of a job from waiting for each other for want of streams.
//
// A rank that has come to a collective holds a stream until the others have come (a send under
// rendezvous: until its receive has). If two ranks hold all of theirs in two collectives that both
// must come to, neither can end, though both could have begun one after the other. So all
// communication has one order for all ranks: at first that of JobOrder. A rank begins what comes
// first in it, and, as long as another stream stays free, anything. What else is ready is put first
// of all, together with what must end before it, unless one of the ranks that have to come to it
// holds all of its streams in what waits: then it could not end in any case before that does, and
// is held until then.
//
// Why everything ends: no rank holds its last stream in something that comes after what it has not
// begun. So every rank has, or gets, a stream for the first of all in the order; what must end
// before it comes before it, so there is nothing.
//
// Where ranks come to what is first in the order there is nothing to do. Cost of an op that is put
// first: O(members + edges of what must end before it). Memory: 4 bytes a collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "workload/order/job_order.h"
#include "workload/replay/replayed_job.h"

namespace astra {

class IssueOrder {
  public:
    // `ranks`: all that are replayed, those of the job from `first_rank` on; `streams`: for
    // communication, of each. All outlive it. Ranks below are those of the job.
    IssueOrder(const JobOrder& order,
               std::vector<ReplayedRank>& ranks,
               std::uint32_t first_rank,
               std::uint32_t streams);

    // Whether the op, which is ready and has a free stream, may begin.
    bool may_begin(std::uint32_t rank, std::uint32_t op);
    // Of every op that sends, receives, is a collective or accesses memory.
    void began(std::uint32_t rank, std::uint32_t op);
    void ended(std::uint32_t rank, std::uint32_t op);

    // Ranks of which something is no longer held, since the last call.
    std::vector<std::uint32_t> take_released() { return std::exchange(released_, {}); }
    bool has_released() const { return !released_.empty(); }
    // An op that was held as another rank had come to a later one first; "" if there was none.
    const std::string& example() const { return example_; }

  private:
    // A collective or a message, as all its ranks share it: a meeting, or a send by rank and op.
    using Shared = std::uint64_t;

    // What a rank holds a stream in while others have not come.
    struct Waiting {
        Shared shared = 0;
        std::uint32_t op = kNoOp;
    };
    struct Rank {
        std::size_t next = 0;                                 // into JobOrder::communication
        std::map<std::int64_t, std::uint32_t> first;          // ops that were put first, by key
        std::unordered_map<std::uint32_t, std::int64_t> key;  // of those
        std::vector<Waiting> waiting;
        // What was first when an op was last held, and whether one waits for an op of this rank.
        std::uint32_t first_when_held = kNoOp;
        bool held_for_itself = false;
    };
    // The edges of a graph turned round.
    struct Parents {
        explicit Parents(const ExecutionGraph& graph);
        std::vector<std::uint32_t> begin;
        std::vector<std::uint32_t> parent;
    };
    struct Visit {
        RankOp at;
        bool leaves = false;  // all before it have been visited
    };

    RankStreams& streams(std::uint32_t rank) const { return ranks_[first_rank_ + rank].streams; }
    const ExecutionGraph& graph(std::uint32_t rank) const {
        return matching_.program(rank).graph();
    }
    bool has_begun(const RankOp& at) const { return streams(at.rank).has_begun(at.op); }
    bool takes_stream(const RankOp& at) const;
    // Whether it holds its stream until others have come.
    bool waits_for_others(const RankOp& at) const;
    Shared shared_of(const RankOp& at) const;
    std::uint32_t first_of(std::uint32_t rank);

    bool put_first(const RankOp& at);
    void enter(const RankOp& at);
    void leave(const RankOp& at);
    void visit_parents(const RankOp& at);
    void needs(const RankOp& at);
    void hold_for(const RankOp& held, std::uint32_t full);
    void complete(Shared shared);
    void stop_waiting(std::uint32_t rank, Shared shared);
    void release(std::uint32_t rank);
    const Parents& parents_of(const ExecutionGraph& graph);

    const JobOrder& order_;
    const OpMatching& matching_;
    std::vector<ReplayedRank>& ranks_;
    std::uint32_t first_rank_;
    std::uint32_t streams_;
    std::vector<Rank> states_;         // by rank
    std::vector<std::uint32_t> came_;  // by meeting: members
    std::int64_t lowest_ = 0;          // key of what was put first last
    std::unordered_map<Shared, std::set<std::uint32_t>> held_for_;  // ranks to be released
    std::unordered_map<const ExecutionGraph*, Parents> parents_;
    std::vector<std::uint32_t> released_;
    std::string example_;
    // Of one search for what must end before an op.
    std::vector<Visit> stack_;
    std::unordered_set<std::uint64_t> seen_;
    std::vector<RankOp> before_;  // what is found, parents first
    std::uint32_t full_ = 0;      // a rank that holds all of its streams, or kNoOp
};

}  // namespace astra
