// The communication of one graph in the order of its program, shared by all ranks that have the
// graph.
//
// The order of a program is the topological order of the graph that takes the lowest op first:
// mostly that of the ids.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "workload/graph/content_hash.h"
#include "workload/graph/execution_graph.h"

namespace astra {

// Empty where it is 0, 1, 2 …
std::vector<std::uint32_t> program_order(const ExecutionGraph& graph);

// What messages of a graph have in common that are matched by their order.
struct Channel {
    std::uint32_t peer_role = 0;
    std::uint32_t tag = 0;
    bool sends = false;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const Channel&) const = default;
};
Channel channel_of(const ExecutionGraph& graph, std::uint32_t op);

// Whether the op occupies a communication stream of its rank, unless it is a transfer that waits
// elsewhere.
bool takes_communication_stream(const ExecutionGraph& graph, std::uint32_t op);

// What the matching of collectives asks of a study.
struct CollectiveNaming {
    bool transfers_wait = false;  // gradient transfers are matched by their numbers instead
    std::function<std::uint32_t(std::uint64_t node_id)> node_algorithm;  // by id in the trace
};

// The collectives of a group role.
struct RoleCollectives {
    std::vector<std::uint32_t> ops;  // in the order of the program, without transfers that wait
    std::vector<std::uint32_t> transfers;  // those that wait, by iteration and number
    ContentHash content;                   // of kinds, sizes, dimensions; roots are a rank's
    ContentHash names;
    bool has_roots = false;
};

// Memory: 8 bytes a collective, send and receive, 4 an access to memory, 16 a channel.
class GraphProgram {
  public:
    // The graph outlives it.
    GraphProgram(const ExecutionGraph& graph, const CollectiveNaming& naming);

    const ExecutionGraph& graph() const { return graph_; }
    // Where the op stands in the program.
    std::uint32_t position_of(std::uint32_t op) const {
        return positions_.empty() ? op : positions_[op];
    }
    // Collectives, sends, receives and accesses to memory, in the order of the program.
    const std::vector<std::uint32_t>& communication() const { return communication_; }
    const RoleCollectives& role(std::uint32_t group_role) const { return roles_[group_role]; }
    // The messages of a channel, in the order of the program.
    std::span<const std::uint32_t> channel(const Channel& channel) const;
    // The op of a message of a channel; kNoOp if it has fewer.
    std::uint32_t message(const Channel& channel, std::uint32_t number) const;
    // The channels that receive from a peer, ascending.
    std::vector<Channel> receiving_from(std::uint32_t peer_role) const;
    // Of a collective among those of its group role, of a message among those of its channel.
    std::uint32_t number_of(std::uint32_t op) const;

  private:
    void add_collective(std::uint32_t op, const CollectiveNaming& naming);
    void number_collectives();
    void number_messages();
    // Its index; that of the first one after it if there are no such messages.
    std::size_t index_of(const Channel& channel) const;

    const ExecutionGraph& graph_;
    std::vector<std::uint32_t> positions_;  // empty: as the ops
    std::vector<std::uint32_t> communication_;
    std::vector<RoleCollectives> roles_;
    std::vector<std::uint32_t> points_;              // sends and receives, by channel
    std::vector<Channel> channels_;                  // ascending
    std::vector<std::uint32_t> channel_begin_;       // into `points_`; one more at the end
    std::vector<std::uint32_t> collective_numbers_;  // by index into the graph's table
    std::vector<std::uint32_t> point_numbers_;
};

}  // namespace astra
