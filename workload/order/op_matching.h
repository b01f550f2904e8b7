// Which collectives and messages of the ranks of a job belong together.
//
// A meeting is a collective as all members of its group share it: the number-th of the group, or,
// where transfers wait for a policy, the number-th transfer. A message is the number-th of its
// source, destination and tag. Who numbers otherwise than programs do (collective_matching.h,
// message_matching.h) says so with renumber_*.
//
// Memory: what a GraphProgram takes for each distinct graph, 8 bytes a rank and group; 8 bytes a
// communication op of ranks that are numbered otherwise.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "workload/graph/execution_graph.h"
#include "workload/order/graph_program.h"

namespace astra {

// An op of a rank of the job.
struct RankOp {
    std::uint32_t rank = 0;
    std::uint32_t op = kNoOp;
    bool operator==(const RankOp&) const = default;
};

struct GroupUse {
    std::uint32_t rank = 0;
    std::uint32_t role = 0;  // of the rank for the group
};

struct Meeting {
    std::uint32_t group = 0;  // index into Workload::groups
    bool waits = false;       // a transfer that a policy launches
    std::uint32_t number = 0;
    std::uint32_t id = 0;  // among all meetings of the job
};

class OpMatching {
  public:
    // As the programs number them. The workload outlives it.
    OpMatching(const Workload& workload, const CollectiveNaming& naming);

    const Workload& workload() const { return workload_; }
    const GraphProgram& program(std::uint32_t rank) const { return *program_of_[rank]; }
    std::uint32_t ranks() const { return static_cast<std::uint32_t>(program_of_.size()); }

    // Collectives that are numbered, without transfers that wait.
    std::uint32_t collectives_of(std::uint32_t group) const {
        return first_[2 * std::size_t{group} + 1] - first_[2 * std::size_t{group}];
    }
    std::uint32_t meetings() const { return first_.back(); }
    // Whether the collective is a transfer that a policy launches.
    bool waits_elsewhere(const RankOp& at) const {
        const ExecutionGraph& graph = program(at.rank).graph();
        const CollectiveDetail& detail = graph.collectives[graph.detail[at.op]];
        return detail.transfer != kNoTransfer &&
               !program(at.rank).role(detail.group_role).transfers.empty();
    }
    // Of a collective.
    Meeting meeting_of(const RankOp& at) const;
    // The collective, send or receive among those of its group, or of its source, destination and
    // tag.
    std::uint32_t number_of(const RankOp& at) const;
    // The other side of a send or receive; kNoOp if there is none.
    RankOp partner_of(const RankOp& at) const;

    // Ranks that use the group, ascending.
    const std::vector<GroupUse>& uses_of(std::uint32_t group) const { return uses_[group]; }
    // The op of a member in a meeting; kNoOp if it has none.
    std::uint32_t op_in(const GroupUse& use, const Meeting& meeting) const;
    // Calls `visit` with the op of each member that has one.
    template <typename Visit>
    void for_members(const Meeting& meeting, const Visit& visit) const {
        for (const GroupUse& use : uses_[meeting.group]) {
            const std::uint32_t op = op_in(use, meeting);
            if (op != kNoOp) {
                visit(RankOp{use.rank, op});
            }
        }
    }
    // The role in which `rank` has `peer`; kNoRole if in none.
    std::uint32_t role_for(std::uint32_t rank, std::uint32_t peer) const;

    // The group has so many collectives.
    void count_collectives(const std::vector<std::uint32_t>& counts);
    // ops[i] of the rank, on this group, has the number numbers[i].
    void renumber_collectives(std::uint32_t rank,
                              const std::vector<std::uint32_t>& ops,
                              const std::vector<std::uint32_t>& numbers);
    // As above, of the messages of a channel.
    void renumber_messages(std::uint32_t rank,
                           const Channel& channel,
                           const std::vector<std::uint32_t>& numbers);
    // Collectives are numbered as programs do.
    void reset_collectives();

  private:
    struct RankNumbers {
        std::vector<std::uint32_t> collectives;                  // by index into the graph's table
        std::vector<std::vector<std::uint32_t>> ops;             // by group role, by number
        std::vector<std::uint32_t> points;                       // as `collectives`
        std::map<Channel, std::vector<std::uint32_t>> messages;  // by number
    };
    RankNumbers& numbers_for(std::uint32_t rank);

    const Workload& workload_;
    std::deque<GraphProgram> programs_;
    std::vector<const GraphProgram*> program_of_;       // by rank
    std::vector<std::vector<GroupUse>> uses_;           // by group
    std::vector<std::vector<std::uint32_t>> by_peer_;   // by rank: peer roles, by their peers
    std::vector<std::unique_ptr<RankNumbers>> others_;  // by rank; null: as the program
    std::vector<std::uint32_t> first_;  // by 2 · group + waits: id of the first meeting
};

}  // namespace astra
