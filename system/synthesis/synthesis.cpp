#include "system/synthesis/synthesis.h"

#include <algorithm>
#include <compare>
#include <tuple>

#include <fmt/format.h>

#include "system/algorithms/algorithm.h"
#include "system/program/program_builder.h"

namespace astra {

namespace {

constexpr std::uint32_t kUsualBlocks = 4;
constexpr std::uint32_t kManyBlocks = 1024;  // of a whole group
// More would only cost time.
constexpr std::uint64_t kMostBlocks = 1U << 16U;

// Backwards: the last arrival becomes the first start. What a member handles before it can send a
// block on, it handles here after the block has come.
void play_backwards(std::vector<Transfer>& transfers) {
    std::uint64_t last_ps = 0;
    for (const Transfer& transfer : transfers) {
        last_ps = std::max(last_ps, transfer.end_ps);
    }
    for (Transfer& transfer : transfers) {
        const std::uint64_t handling_ps = transfer.ready_ps - transfer.end_ps;
        const std::uint64_t end_ps = last_ps - transfer.start_ps;
        transfer = {last_ps - transfer.end_ps,
                    end_ps,
                    end_ps + handling_ps,
                    transfer.to,
                    transfer.from,
                    transfer.block,
                    true};
    }
    std::stable_sort(transfers.begin(), transfers.end(), [](const Transfer& a, const Transfer& b) {
        return a.start_ps < b.start_ps;
    });
}

// The channels of members' messages: what leaves over the same link is on one channel, in the order
// of the plan, and links work beside each other.
class FirstLinks {
  public:
    explicit FirstLinks(const GroupGraph& graph) {
        edges_.reserve(graph.edges().size());
        std::uint32_t channel = 0;
        const GroupGraph::Edge* previous = nullptr;
        // Edges are sorted by member and first link.
        for (const GroupGraph::Edge& edge : graph.edges()) {
            if (previous == nullptr || previous->from != edge.from) {
                channel = 0;
            } else if (graph.path(*previous)[0] != graph.path(edge)[0]) {
                channel = (channel + 1) % ProgramBuilder::kMostChannels;
            }
            edges_.push_back({edge.from, edge.to, channel});
            previous = &edge;
        }
        std::sort(edges_.begin(), edges_.end());
    }

    // Requires an edge from `member` to `peer`.
    std::uint32_t channel(std::uint32_t member, std::uint32_t peer) const {
        return std::lower_bound(edges_.begin(), edges_.end(), Edge{member, peer, 0})->channel;
    }

  private:
    struct Edge {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t channel = 0;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
        auto operator<=>(const Edge&) const = default;
    };
    std::vector<Edge> edges_;
};

}  // namespace

std::uint32_t synthesised_blocks(const ProgramShape& shape) {
    if (shape.parameter > 0) {
        return shape.parameter;
    }
    return std::clamp(kManyBlocks / shape.members, 1U, kUsualBlocks);
}

std::string synthesis_refusal(const ProgramShape& shape) {
    std::string refusal = refuse_unless(
        shape,
        {CollectiveKind::AllGather, CollectiveKind::ReduceScatter, CollectiveKind::AllReduce});
    if (!refusal.empty()) {
        return refusal;
    }
    const std::uint64_t members = shape.members;
    const std::uint64_t blocks = members * synthesised_blocks(shape);
    if (blocks > kMostBlocks) {
        return fmt::format(
            "it would cut the buffer into {} blocks, at most {} are possible", blocks, kMostBlocks);
    }
    const std::uint64_t halves = shape.kind == CollectiveKind::AllReduce ? 2 : 1;
    return refuse_too_long_by_number(halves * blocks * (members - 1));
}

std::vector<Transfer> synthesise(const GroupGraph& graph,
                                 const ProgramShape& shape,
                                 const SynthesisSettings& settings) {
    SpreadSettings spreading;
    spreading.blocks_a_member = synthesised_blocks(shape);
    const std::uint64_t blocks = std::uint64_t{graph.members()} * spreading.blocks_a_member;
    spreading.block = {std::max<std::uint64_t>(settings.size.count / blocks, 1)};
    spreading.seed = settings.seed;
    std::vector<Transfer> transfers;
    std::uint64_t begin_ps = 0;
    if (shape.kind != CollectiveKind::AllGather) {
        const Duration reduction = 3 * transfer_time(spreading.block, settings.memory);
        spreading.handling = settings.endpoint_delay + reduction;
        transfers = spread(graph.reversed(), spreading);
        play_backwards(transfers);
        for (const Transfer& transfer : transfers) {
            begin_ps = std::max(begin_ps, transfer.ready_ps);
        }
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        spreading.handling = settings.endpoint_delay;
        for (Transfer transfer : spread(graph, spreading)) {
            transfer.start_ps = transfer.start_ps + begin_ps;
            transfer.end_ps = transfer.end_ps + begin_ps;
            transfer.ready_ps = transfer.ready_ps + begin_ps;
            transfers.push_back(transfer);
        }
    }
    return transfers;
}

Program program_of(const std::vector<Transfer>& transfers,
                   const ProgramShape& shape,
                   const GroupGraph& graph) {
    // One end of a transfer, at the member where it is.
    struct End {
        std::uint32_t member = 0;
        std::uint64_t at_ps = 0;
        bool sends = false;
        std::uint32_t transfer = 0;
        bool operator<(const End& other) const {
            return std::tie(member, at_ps, sends, transfer) <
                   std::tie(other.member, other.at_ps, other.sends, other.transfer);
        }
    };
    std::vector<End> ends;
    ends.reserve(2 * transfers.size());
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
        const Transfer& transfer = transfers[i];
        ends.push_back({transfer.from, transfer.start_ps, true, i});
        ends.push_back({transfer.to, transfer.ready_ps, false, i});
    }
    std::sort(ends.begin(), ends.end());
    ProgramBuilder builder(
        Relation::Absolute, shape.members, shape.members * synthesised_blocks(shape));
    const FirstLinks links(graph);
    std::size_t next = 0;
    for (std::uint32_t member = 0; member < shape.members; ++member) {
        builder.begin_role();
        for (; next < ends.size() && ends[next].member == member; ++next) {
            const Transfer& transfer = transfers[ends[next].transfer];
            const Payload payload{transfer.block};
            if (ends[next].sends) {
                builder.use_channel(links.channel(member, transfer.to));
                builder.send(transfer.to, payload);
            } else {
                builder.receive(transfer.from, payload, transfer.reduce);
            }
        }
    }
    return builder.finish();
}

}  // namespace astra
