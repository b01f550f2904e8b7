// Programs of messages whose content is not known.
#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/program/thread_block_builder.h"
#include "workload/custom_collective/chakra_collective.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 24U;

// The thread blocks into which a member's nodes are put: a node follows a parent that is the last
// of its thread block, and waits for the others.
struct Arrangement {
    std::vector<std::vector<std::uint32_t>> nodes;  // by thread block, in order
    std::vector<ThreadBlocks::Wait> steps;          // by node: what waiting for it means
    std::vector<std::vector<std::uint32_t>> parents;
    std::vector<std::uint32_t> order;  // parents first
};

class TrafficProgram {
  public:
    TrafficProgram(const RecordedTraffic& traffic, std::uint64_t total)
        : traffic_(traffic), unit_(unit_of(traffic, total)), total_(total) {}

    Program make() {
        const std::uint64_t blocks = total_ / unit_;
        if (blocks > kMostBlocks) {
            throw TraceError(fmt::format(
                "{}: its messages and the {} of the buffer have no larger common unit than {}",
                traffic_.file,
                total_,
                unit_));
        }
        ThreadBlockBuilder builder(static_cast<std::uint32_t>(traffic_.members.size()),
                                   static_cast<std::uint32_t>(blocks),
                                   {static_cast<std::uint32_t>(blocks), true, 0, 0});
        builder.set_as_recorded();
        std::vector<Arrangement> all;
        for (std::uint32_t member = 0; member < traffic_.members.size(); ++member) {
            all.push_back(arrange(member));
        }
        for (std::uint32_t member = 0; member < all.size(); ++member) {
            number_channels(member, all[member].order);
            add(member, all[member], builder);
        }
        return builder.finish();
    }

  private:
    static std::uint64_t unit_of(const RecordedTraffic& traffic, std::uint64_t total) {
        std::uint64_t unit = total;
        for (const auto& nodes : traffic.members) {
            for (const RecordedNode& node : nodes) {
                unit = std::gcd(unit, node.size);
            }
        }
        return std::max<std::uint64_t>(unit, 1);
    }

    [[noreturn]] void fail(std::uint32_t member, const std::string& what) const {
        throw TraceError(fmt::format("{}.{}.et: {}", traffic_.file, member, what));
    }

    Arrangement arrange(std::uint32_t member) const {
        const std::vector<RecordedNode>& nodes = traffic_.members[member];
        const auto count = static_cast<std::uint32_t>(nodes.size());
        std::unordered_map<std::uint64_t, std::uint32_t> index;
        for (std::uint32_t i = 0; i < count; ++i) {
            if (!index.emplace(nodes[i].id, i).second) {
                fail(member, fmt::format("two nodes have the id {}", nodes[i].id));
            }
        }
        Arrangement all;
        all.parents.resize(count);
        all.steps.resize(count);
        std::vector<std::vector<std::uint32_t>> children(count);
        std::vector<std::uint32_t> missing(count, 0);
        for (std::uint32_t i = 0; i < count; ++i) {
            for (const std::uint64_t id : nodes[i].parents) {
                const auto parent = index.find(id);
                if (parent == index.end()) {
                    fail(member,
                         fmt::format(
                             "node {} depends on node {}, which is not there", nodes[i].id, id));
                }
                all.parents[i].push_back(parent->second);
                children[parent->second].push_back(i);
                ++missing[i];
            }
        }
        for (std::uint32_t i = 0; i < count; ++i) {
            if (missing[i] == 0) {
                all.order.push_back(i);
            }
        }
        for (std::size_t at = 0; at < all.order.size(); ++at) {
            append(all.order[at], all);
            for (const std::uint32_t child : children[all.order[at]]) {
                if (--missing[child] == 0) {
                    all.order.push_back(child);
                }
            }
        }
        if (all.order.size() < count) {
            const auto stuck = std::find_if(
                missing.begin(), missing.end(), [](std::uint32_t left) { return left > 0; });
            fail(member,
                 fmt::format("the dependencies of node {} run in a circle",
                             nodes[static_cast<std::size_t>(stuck - missing.begin())].id));
        }
        if (all.nodes.size() > ThreadBlocks::kMostOfMember) {
            fail(member,
                 fmt::format("{} chains of nodes run at once; at most {} can be",
                             all.nodes.size(),
                             ThreadBlocks::kMostOfMember));
        }
        return all;
    }

    static void append(std::uint32_t node, Arrangement& all) {
        for (const std::uint32_t parent : all.parents[node]) {
            const auto [block, step] = all.steps[parent];
            if (step + 1 == all.nodes[block].size()) {
                all.steps[node] = {block, step + 1};
                all.nodes[block].push_back(node);
                return;
            }
        }
        all.steps[node] = {static_cast<std::uint32_t>(all.nodes.size()), 0};
        all.nodes.push_back({node});
    }

    // The k-th send and the k-th receive of a tag between two members are one message.
    void number_channels(std::uint32_t member, const std::vector<std::uint32_t>& order) {
        channels_.assign(order.size(), 0);
        std::map<std::pair<std::pair<bool, std::uint32_t>, std::uint32_t>, std::uint32_t> used;
        for (const std::uint32_t i : order) {
            const RecordedNode& node = traffic_.members[member][i];
            if (node.type == RecordedNode::Type::Compute) {
                continue;
            }
            if (node.peer >= traffic_.members.size() || node.peer == member) {
                fail(member,
                     fmt::format("node {}: its peer is {}; the others are 0 to {} without {}",
                                 node.id,
                                 node.peer,
                                 traffic_.members.size() - 1,
                                 member));
            }
            const bool send = node.type == RecordedNode::Type::Send;
            const std::uint32_t number = used[{{send, node.peer}, node.tag}]++;
            const auto next = static_cast<std::uint32_t>(numbers_.size());
            channels_[i] = numbers_.emplace(std::pair{node.tag, number}, next).first->second;
        }
    }

    void add(std::uint32_t member, const Arrangement& all, ThreadBlockBuilder& builder) {
        builder.begin_member();
        for (std::uint32_t block = 0; block < all.nodes.size(); ++block) {
            builder.begin_thread_block(block);
            for (const std::uint32_t i : all.nodes[block]) {
                builder.begin_step();
                for (const std::uint32_t parent : all.parents[i]) {
                    if (all.steps[parent].thread_block != block) {
                        builder.wait(all.steps[parent]);
                    }
                }
                add_node(member, i, builder);
            }
        }
    }

    void add_node(std::uint32_t member, std::uint32_t i, ThreadBlockBuilder& builder) const {
        const RecordedNode& node = traffic_.members[member][i];
        const Payload payload{0, 1, static_cast<std::uint32_t>(node.size / unit_)};
        if (node.size > total_) {
            fail(
                member,
                fmt::format(
                    "node {}: a message of {}, but the buffer has {}", node.id, node.size, total_));
        }
        switch (node.type) {
            case RecordedNode::Type::Send:
                builder.send(node.peer, channels_[i], payload);
                break;
            case RecordedNode::Type::Receive:
                builder.receive(node.peer, channels_[i], payload, std::nullopt);
                break;
            case RecordedNode::Type::Compute:
                builder.local({0, 0, 0, false, node.duration_ps});
                break;
        }
    }

    const RecordedTraffic& traffic_;
    std::uint64_t unit_;
    std::uint64_t total_;
    std::vector<std::uint32_t> channels_;  // of a member's nodes
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
};

}  // namespace

std::optional<std::uint64_t> recorded_bytes(const RecordedTraffic& traffic, CollectiveKind kind) {
    const std::uint64_t members = traffic.members.size();
    std::optional<std::uint64_t> each;
    for (const auto& nodes : traffic.members) {
        std::uint64_t sum = 0;
        for (const RecordedNode& node : nodes) {
            sum = saturating_add(sum, node.type == RecordedNode::Type::Receive ? node.size : 0);
        }
        if (each.value_or(sum) != sum) {
            return std::nullopt;
        }
        each = sum;
    }
    // An all_reduce receives at least (n-1)/n of the buffer twice, the others once.
    const std::uint64_t halves = kind == CollectiveKind::AllReduce ? 2 : 1;
    const bool known = kind == CollectiveKind::AllReduce || kind == CollectiveKind::AllGather ||
                       kind == CollectiveKind::ReduceScatter || kind == CollectiveKind::AllToAll;
    const std::uint64_t least = halves * (members - 1);
    const std::uint64_t product = saturating_multiply(each.value_or(0), members);
    return known && least > 0 && product > 0 && product % least == 0
               ? std::optional(product / least)
               : std::nullopt;
}

Program program_of(const RecordedTraffic& traffic, std::uint64_t bytes) {
    return TrafficProgram(traffic, traffic.chunks > 0 ? traffic.chunks : bytes).make();
}

}  // namespace astra
