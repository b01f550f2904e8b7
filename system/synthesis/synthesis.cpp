#include "system/synthesis/synthesis.h"

#include <algorithm>
#include <compare>
#include <tuple>

#include <fmt/format.h>

#include "system/algorithms/algorithm.h"
#include "system/program/program_builder.h"
#include "system/synthesis/link_times.h"

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

Bytes block_of(const ProgramShape& shape, Bytes size) {
    const std::uint64_t blocks = std::uint64_t{shape.members} * synthesised_blocks(shape);
    return {std::max<std::uint64_t>(size.count / blocks, 1)};
}

// The links of members' messages. What leaves over the same link is on one channel, in the order of
// the plan, and what comes over the same link takes turns; links work beside each other.
class Ports {
  public:
    Ports(const GroupGraph& graph, Bytes block) {
        const LinkTimes times(graph, block);
        edges_.reserve(graph.edges().size());
        std::vector<Number> channels(graph.members());
        std::vector<Number> turns(graph.members());
        std::vector<std::uint32_t> channel_of(graph.links(), kNone);
        std::vector<std::uint32_t> turns_of(graph.links(), kNone);
        for (const GroupGraph::Edge& edge : graph.edges()) {
            const std::uint32_t first = graph.path(edge).front();
            const std::uint32_t last = graph.path(edge).back();
            number(channel_of[first], channels[edge.from]);
            number(turns_of[last], turns[edge.to]);
            edges_.push_back({edge.from,
                              edge.to,
                              channel_of[first] % ProgramBuilder::kMostChannels,
                              turns_of[last],
                              times.wire_ps(first)});
        }
        std::sort(edges_.begin(), edges_.end());
    }

    struct Edge {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t channel = 0;  // of `from`
        std::uint32_t turns = 0;    // of `to`
        std::uint64_t leaving_ps = 0;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
        auto operator<=>(const Edge&) const = default;
    };
    // Requires that there is one.
    const Edge& edge(std::uint32_t from, std::uint32_t to) const {
        return *std::lower_bound(edges_.begin(), edges_.end(), Edge{from, to, 0, 0, 0});
    }

  private:
    static constexpr std::uint32_t kNone = 0xffffffffU;
    using Number = std::uint32_t;  // the next one of a member

    static void number(std::uint32_t& of_link, Number& next) {
        if (of_link == kNone) {
            of_link = next++;
        }
    }

    std::vector<Edge> edges_;
};

// By transfer: how many that come over the same link have left, in the plan, before it starts.
std::vector<std::uint32_t> left_before(const std::vector<Transfer>& transfers, const Ports& ports) {
    struct End {
        std::uint32_t to = 0;
        std::uint32_t turns = 0;
        std::uint64_t at_ps = 0;
        bool starts = false;  // what leaves at that moment comes first
        std::uint32_t transfer = 0;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
        auto operator<=>(const End&) const = default;
    };
    std::vector<End> ends;
    ends.reserve(2 * transfers.size());
    for (std::uint32_t i = 0; i < transfers.size(); ++i) {
        const Transfer& transfer = transfers[i];
        const Ports::Edge& edge = ports.edge(transfer.from, transfer.to);
        ends.push_back({edge.to, edge.turns, transfer.start_ps, true, i});
        ends.push_back({edge.to, edge.turns, transfer.start_ps + edge.leaving_ps, false, i});
    }
    std::sort(ends.begin(), ends.end());
    std::vector<std::uint32_t> before(transfers.size());
    std::uint32_t left = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        const bool same =
            i > 0 && ends[i - 1].to == ends[i].to && ends[i - 1].turns == ends[i].turns;
        left = same ? left : 0;
        if (ends[i].starts) {
            before[ends[i].transfer] = left;
        } else {
            ++left;
        }
    }
    return before;
}

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
    spreading.block = block_of(shape, settings.size);
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
                   const GroupGraph& graph,
                   Bytes size) {
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
    const Ports ports(graph, block_of(shape, size));
    const std::vector<std::uint32_t> left = left_before(transfers, ports);
    std::size_t next = 0;
    for (std::uint32_t member = 0; member < shape.members; ++member) {
        builder.begin_role();
        for (; next < ends.size() && ends[next].member == member; ++next) {
            const Transfer& transfer = transfers[ends[next].transfer];
            const Payload payload{transfer.block};
            const Ports::Edge& edge = ports.edge(transfer.from, transfer.to);
            if (ends[next].sends) {
                builder.use_channel(edge.channel);
                builder.send(transfer.to, payload);
            } else {
                builder.take_turns(edge.turns, left[ends[next].transfer]);
                builder.receive(transfer.from, payload, transfer.reduce);
            }
        }
    }
    return builder.finish();
}

}  // namespace astra
