#include "astra/app/inspect/workload_report.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "astra/config/units.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::size_t kListedStreams = 12;
constexpr std::size_t kListedGroups = 8;
constexpr std::size_t kKinds = 8;  // of ops

struct Sizes {
    std::uint64_t count = 0;
    std::uint64_t least = ~std::uint64_t{0};
    std::uint64_t most = 0;
    std::uint64_t sum = 0;

    void add(std::uint64_t bytes) {
        ++count;
        least = std::min(least, bytes);
        most = std::max(most, bytes);
        sum = saturating_add(sum, bytes);
    }
    std::string text() const {
        const std::string range = least == most
                                      ? to_text(Bytes{most})
                                      : to_text(Bytes{least}) + " … " + to_text(Bytes{most});
        return fmt::format("{:>9}   {}, {} in all", count, range, to_text(Bytes{sum}));
    }
};

struct Totals {
    std::array<std::uint64_t, kKinds> ops{};
    std::uint64_t compute_ps = 0;
    std::uint64_t without_duration = 0;
    Sizes sends;
    std::map<CollectiveKind, Sizes> collectives;
};

void add(const ExecutionGraph& graph, Totals& totals) {
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        const OpKind kind = graph.kind[op];
        ++totals.ops[static_cast<std::size_t>(kind)];
        if (kind == OpKind::Compute) {
            totals.compute_ps = saturating_add(totals.compute_ps, graph.duration_ps[op]);
            const bool instant = graph.computes[graph.detail[op]].is_instant();
            totals.without_duration += graph.duration_ps[op] == 0 && !instant ? 1 : 0;
        } else if (kind == OpKind::Send) {
            totals.sends.add(graph.points[graph.detail[op]].bytes.count);
        } else if (kind == OpKind::Collective) {
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            totals.collectives[detail.kind].add(detail.bytes.count);
        }
    }
}

// A message in the order of its kind between two ranks under a tag.
using Channel =
    std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // source, destination, tag

struct Ends {
    std::vector<std::uint64_t> sent;  // bytes, in the order of the ops
    std::vector<std::uint64_t> received;
};

std::map<Channel, Ends> channels_of(const Workload& workload) {
    std::map<Channel, Ends> channels;
    for (std::uint32_t r = 0; r < workload.ranks.size(); ++r) {
        const RankTrace& rank = workload.ranks[r];
        const ExecutionGraph& graph = *rank.graph;
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (graph.kind[op] != OpKind::Send && graph.kind[op] != OpKind::Recv) {
                continue;
            }
            const PointDetail& point = graph.points[graph.detail[op]];
            const std::uint32_t peer = rank.peers[point.peer_role];
            if (graph.kind[op] == OpKind::Send) {
                channels[{r, peer, point.tag}].sent.push_back(point.bytes.count);
            } else {
                channels[{peer, r, point.tag}].received.push_back(point.bytes.count);
            }
        }
    }
    return channels;
}

void check_channels(const Workload& workload, std::vector<std::string>& lines) {
    for (auto& [channel, ends] : channels_of(workload)) {
        const auto& [source, destination, tag] = channel;
        // The order in which ops run is not known here: sizes are compared as sets.
        std::sort(ends.sent.begin(), ends.sent.end());
        std::sort(ends.received.begin(), ends.received.end());
        if (ends.sent.size() != ends.received.size()) {
            lines.push_back(fmt::format("rank {} -> rank {}, tag {}: {} sends, {} receives",
                                        source,
                                        destination,
                                        tag,
                                        ends.sent.size(),
                                        ends.received.size()));
        } else if (ends.sent != ends.received) {
            lines.push_back(
                fmt::format("rank {} -> rank {}, tag {}: sends and receives differ in size",
                            source,
                            destination,
                            tag));
        }
    }
}

// What a member of a group asks for, kind and bytes; sorted, as the order is not known here.
using Asks = std::vector<std::pair<CollectiveKind, std::uint64_t>>;

void check_groups(const Workload& workload, std::vector<std::string>& lines) {
    std::vector<std::map<std::uint32_t, Asks>> asks(workload.groups.size());
    for (std::uint32_t r = 0; r < workload.ranks.size(); ++r) {
        const RankTrace& rank = workload.ranks[r];
        for (std::uint32_t op = 0; op < rank.graph->size(); ++op) {
            if (rank.graph->kind[op] == OpKind::Collective) {
                const auto& detail = rank.graph->collectives[rank.graph->detail[op]];
                // With a size for each pair every rank may send another sum.
                const std::uint64_t bytes =
                    detail.pairs == kNoRole ? detail.bytes.count : ~std::uint64_t{0};
                asks[rank.groups[detail.group_role]][r].emplace_back(detail.kind, bytes);
            }
        }
    }
    for (std::size_t g = 0; g < workload.groups.size(); ++g) {
        const auto& group = workload.groups[g];
        for (auto& [rank, asked] : asks[g]) {
            std::sort(asked.begin(), asked.end());
        }
        const std::uint32_t first = group.ranks.front();
        for (const std::uint32_t rank : group.ranks) {
            if (asks[g][rank] != asks[g][first]) {
                lines.push_back(
                    fmt::format("group '{}': rank {} comes to {} collectives, rank {} to {}, or to "
                                "other kinds or sizes",
                                group.name,
                                first,
                                asks[g][first].size(),
                                rank,
                                asks[g][rank].size()));
                break;
            }
        }
    }
}

}  // namespace

namespace {

// Of the first rank whose trace names streams; "" if none does.
std::string streams_text(const Workload& workload) {
    for (std::size_t rank = 0; rank < workload.ranks.size(); ++rank) {
        const ExecutionGraph& graph = *workload.ranks[rank].graph;
        if (graph.streams.empty()) {
            continue;
        }
        std::vector<std::uint64_t> ops(graph.streams.size(), 0);
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (graph.in_named_stream(op)) {
                ++ops[graph.stream[op]];
            }
        }
        std::string text = fmt::format("streams          of rank {}:", rank);
        for (std::size_t s = 0; s < std::min(ops.size(), kListedStreams); ++s) {
            fmt::format_to(Out(text),
                           "{} {} {} ({} ops)",
                           s == 0 ? "" : ",",
                           graph.streams[s].is_thread ? "thread" : "stream",
                           graph.streams[s].number,
                           ops[s]);
        }
        return text + (ops.size() > kListedStreams ? ", …\n" : "\n");
    }
    return "";
}

}  // namespace

std::string describe_workload(const Workload& workload) {
    Totals totals;
    std::set<const ExecutionGraph*> graphs;
    for (const RankTrace& rank : workload.ranks) {
        add(*rank.graph, totals);
        graphs.insert(rank.graph.get());
    }
    std::string text;
    fmt::format_to(Out(text),
                   "ranks            {}, with {} different graphs\n",
                   workload.ranks.size(),
                   graphs.size());
    for (std::size_t k = 0; k < kKinds; ++k) {
        if (totals.ops[k] > 0) {
            fmt::format_to(
                Out(text), "{:<16} {:>9}\n", name_of(static_cast<OpKind>(k)), totals.ops[k]);
        }
    }
    fmt::format_to(
        Out(text),
        "durations        {} of compute recorded over all ranks, {} compute ops without\n",
        to_text(Duration{totals.compute_ps}),
        totals.without_duration);
    text += streams_text(workload);
    for (const auto& [kind, sizes] : totals.collectives) {
        fmt::format_to(Out(text), "{:<16} {}\n", name_of(kind), sizes.text());
    }
    if (totals.sends.count > 0) {
        fmt::format_to(Out(text), "{:<16} {}\n", "messages", totals.sends.text());
    }
    for (std::size_t g = 0; g < std::min(workload.groups.size(), kListedGroups); ++g) {
        fmt::format_to(Out(text),
                       "group '{}'{} {} ranks\n",
                       workload.groups[g].name,
                       workload.groups[g].name.size() < 8
                           ? std::string(8 - workload.groups[g].name.size(), ' ')
                           : "",
                       workload.groups[g].ranks.size());
    }
    if (workload.groups.size() > kListedGroups) {
        fmt::format_to(Out(text), "and {} more groups\n", workload.groups.size() - kListedGroups);
    }
    return text;
}

std::vector<std::string> find_contradictions(const Workload& workload) {
    std::vector<std::string> lines;
    check_channels(workload, lines);
    check_groups(workload, lines);
    return lines;
}

}  // namespace astra
