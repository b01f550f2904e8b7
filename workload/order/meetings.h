// Which ops of a job can end once which ops have been reached, whatever the time they take.
//
// A collective ends when all of its members have come to it, a receive when its send has been
// reached; under rendezvous a send too waits for its receive. Nothing waits for what no rank ever
// does: a member that has no such collective, a send or receive without its other side. That is for
// the report of a run that is stuck.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "workload/order/op_matching.h"

namespace astra {

class Meetings {
  public:
    // The matching outlives it.
    Meetings(const OpMatching& matching, bool rendezvous);

    // All parents of the op have ended; once for each op. Appends what ends by it.
    void reach(const RankOp& at, std::vector<RankOp>& ended);

    // Of an op that was reached and has not ended: one that it waits for and that was not reached.
    RankOp missing_for(const RankOp& at) const;
    bool was_reached(const RankOp& at) const;

  private:
    static constexpr std::uint32_t kUncounted = 0xffffffffU;

    void reach_collective(const RankOp& at, std::vector<RankOp>& ended);
    void reach_send(const RankOp& at, std::vector<RankOp>& ended);
    void reach_receive(const RankOp& at, std::vector<RankOp>& ended);

    const OpMatching& matching_;
    bool rendezvous_;
    std::vector<std::uint32_t> missing_;      // by meeting: members that have not come
    std::vector<std::vector<bool>> reached_;  // by rank: of collectives, sends and receives, by op
    std::unordered_map<std::uint64_t, RankOp> receives_;  // that were reached, by their sends
};

}  // namespace astra
