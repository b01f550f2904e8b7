#include "workload/order/message_matching.h"

#include <algorithm>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "workload/order/equal_lists.h"

namespace astra {

namespace {

class MessageMatcher {
  public:
    MessageMatcher(OpMatching& matching, const OrderNames& names)
        : matching_(matching), names_(names) {}

    void match_receives_of(std::uint32_t rank);

  private:
    struct Side {
        std::uint32_t rank = 0;
        std::span<const std::uint32_t> ops;
    };

    // False where sizes are not equal one by one.
    bool match(std::uint32_t rank, const Channel& receives, std::uint32_t back_role);
    std::uint64_t size_of(std::uint32_t rank, std::uint32_t op) const;
    std::vector<std::uint64_t> sizes_of(const Side& side) const;
    std::vector<std::uint32_t> numbers_by_size(const Side& sends, const Side& receives) const;
    [[noreturn]] void fail(const Side& sends, const Side& receives) const;

    OpMatching& matching_;
    const OrderNames& names_;
    // Receiving program, its role for the sender, sending program, its role for the receiver: what
    // is known to be equal one by one.
    std::set<std::tuple<const GraphProgram*, std::uint32_t, const GraphProgram*, std::uint32_t>>
        equal_;
};

std::uint64_t MessageMatcher::size_of(std::uint32_t rank, std::uint32_t op) const {
    const ExecutionGraph& graph = matching_.program(rank).graph();
    return graph.points[graph.detail[op]].bytes.count;
}

std::vector<std::uint64_t> MessageMatcher::sizes_of(const Side& side) const {
    std::vector<std::uint64_t> sizes;
    sizes.reserve(side.ops.size());
    for (const std::uint32_t op : side.ops) {
        sizes.push_back(size_of(side.rank, op));
    }
    return sizes;
}

void MessageMatcher::fail(const Side& sends, const Side& receives) const {
    std::size_t first = 0;
    while (size_of(sends.rank, sends.ops[first]) == size_of(receives.rank, receives.ops[first])) {
        ++first;
    }
    const std::uint32_t send = sends.ops[first];
    const std::uint32_t receive = receives.ops[first];
    throw InputError(fmt::format(
        "sizes differ: rank {} (node {}) sends {} B to rank {} under tag {}, which expects {} B "
        "(node {})",
        names_.ranks[sends.rank],
        matching_.program(sends.rank).graph().node_id[send],
        size_of(sends.rank, send),
        names_.ranks[receives.rank],
        channel_of(matching_.program(sends.rank).graph(), send).tag,
        size_of(receives.rank, receive),
        matching_.program(receives.rank).graph().node_id[receive]));
}

// The numbers of the receives. What has no partner takes the numbers that are left, beyond those
// of the sends if there are more receives.
std::vector<std::uint32_t> MessageMatcher::numbers_by_size(const Side& sends,
                                                           const Side& receives) const {
    const bool fewer_sends = sends.ops.size() < receives.ops.size();
    const Side& longer = fewer_sends ? receives : sends;
    const Side& shorter = fewer_sends ? sends : receives;
    std::vector<std::uint32_t> partners = partners_in(sizes_of(longer), sizes_of(shorter));
    if (std::find(partners.begin(), partners.end(), kNoPartner) != partners.end()) {
        fail(sends, receives);
    }
    if (!fewer_sends) {
        return partners;
    }
    std::vector<std::uint32_t> numbers(receives.ops.size(), kNoPartner);
    for (std::uint32_t send = 0; send < partners.size(); ++send) {
        numbers[partners[send]] = send;
    }
    auto next = static_cast<std::uint32_t>(sends.ops.size());
    for (std::uint32_t& number : numbers) {
        number = number == kNoPartner ? next++ : number;
    }
    return numbers;
}

bool MessageMatcher::match(std::uint32_t rank, const Channel& receives, std::uint32_t back_role) {
    const std::uint32_t peer = matching_.workload().ranks[rank].peers[receives.peer_role];
    const Side here{rank, matching_.program(rank).channel(receives)};
    const Side there{peer, matching_.program(peer).channel({back_role, receives.tag, true})};
    const std::size_t both = std::min(here.ops.size(), there.ops.size());
    std::size_t equal = 0;
    while (equal < both && size_of(rank, here.ops[equal]) == size_of(peer, there.ops[equal])) {
        ++equal;
    }
    if (equal == both) {
        return true;
    }
    matching_.renumber_messages(rank, receives, numbers_by_size(there, here));
    return false;
}

void MessageMatcher::match_receives_of(std::uint32_t rank) {
    const GraphProgram& program = matching_.program(rank);
    const std::vector<std::uint32_t>& peers = matching_.workload().ranks[rank].peers;
    for (std::uint32_t role = 0; role < peers.size(); ++role) {
        const std::uint32_t back_role = matching_.role_for(peers[role], rank);
        const std::tuple pair(&program, role, &matching_.program(peers[role]), back_role);
        if (back_role == kNoRole || equal_.contains(pair)) {
            continue;
        }
        bool equal = true;
        for (const Channel& channel : program.receiving_from(role)) {
            equal = match(rank, channel, back_role) && equal;
        }
        if (equal) {
            equal_.insert(pair);
        }
    }
}

}  // namespace

void match_messages(OpMatching& matching, const OrderNames& names) {
    MessageMatcher matcher(matching, names);
    for (std::uint32_t rank = 0; rank < matching.ranks(); ++rank) {
        matcher.match_receives_of(rank);
    }
}

}  // namespace astra
