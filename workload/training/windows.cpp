#include "workload/training/windows.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace astra {

namespace {

// The transfers of one group role of a graph, by iteration, each an index into structure.transfers.
using Sequence = std::vector<std::uint32_t>;
using RoleOfGraph = std::pair<std::uint32_t, std::uint32_t>;  // graph, group role

struct Span {
    SimTime ready;
    SimTime read{kMaxPs};  // by the first known reader
    std::uint32_t reader = kNoReader;
};

class WindowFinder {
  public:
    WindowFinder(const Workload& workload,
                 const std::vector<TrainedGraph>& graphs,
                 const std::vector<std::uint32_t>& graph_of,
                 bool barrier)
        : workload_(workload), graphs_(graphs), graph_of_(graph_of), barrier_(barrier) {}

    WindowResult find(Warnings& warnings) {
        result_.forecasts.resize(workload_.groups.size());
        for (std::uint32_t g = 0; g < graphs_.size(); ++g) {
            result_.numbers.emplace_back(graphs_[g].structure.transfers.size(), kNoTransfer);
            begin_.push_back(next_iteration(graphs_[g]));
            collect(g, warnings);
        }
        unite_roles();
        std::map<std::uint32_t, std::vector<RoleOfGraph>> sets;
        for (const auto& [role, sequences] : sequences_) {
            sets[root_of(set_of_[role])].push_back(role);
        }
        for (const auto& [root, roles] : sets) {
            const std::string complaint = contradiction(roles);
            if (complaint.empty()) {
                number(roles);
            } else {
                warnings.add(complaint);
            }
        }
        std::sort(result_.windows.begin(), result_.windows.end(), [](const auto& a, const auto& b) {
            return std::tie(a.group, a.transfer, a.rank) < std::tie(b.group, b.transfer, b.rank);
        });
        return std::move(result_);
    }

  private:
    static const CollectiveDetail& detail_of(const TrainedGraph& graph, std::uint32_t transfer) {
        const std::uint32_t op = graph.structure.transfers[transfer].op;
        return graph.graph.collectives[graph.graph.detail[op]];
    }

    // Where the second iteration starts; the end of all if it has nothing to do.
    static SimTime next_iteration(const TrainedGraph& trained) {
        const ExecutionGraph& graph = trained.graph;
        SimTime begin{kMaxPs};
        SimTime end;
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (graph.iteration[op] == 1 && graph.kind[op] != OpKind::Metadata) {
                begin = std::min(begin, trained.times.start[op]);
            } else if (graph.iteration[op] == 0) {
                end = std::max(end, trained.times.end[op]);
            }
        }
        return begin.ps == kMaxPs ? end : begin;
    }

    // One kind of collective a role, that of the most bytes: others cannot be merged with it.
    void collect(std::uint32_t g, Warnings& warnings) {
        const TrainedGraph& graph = graphs_[g];
        std::map<std::uint32_t, std::map<CollectiveKind, std::uint64_t>> bytes;
        for (std::uint32_t i = 0; i < graph.structure.transfers.size(); ++i) {
            const CollectiveDetail& detail = detail_of(graph, i);
            std::uint64_t& sum = bytes[detail.group_role][detail.kind];
            sum = saturating_add(sum, detail.bytes.count);
        }
        for (const auto& [role, kinds] : bytes) {
            if (kinds.size() > 1) {
                warnings.add(fmt::format(
                    "rank {}: gradients of group '{}' are reduced by {} and by {}: only those of "
                    "the most bytes are transfers, the others run as recorded",
                    graph.rank,
                    workload_.groups[workload_.ranks[graph.rank].groups[role]].name,
                    name_of(kinds.begin()->first),
                    name_of(kinds.rbegin()->first)));
            }
        }
        for (std::uint32_t i = 0; i < graph.structure.transfers.size(); ++i) {
            const GradientTransfer& transfer = graph.structure.transfers[i];
            const auto& kinds = bytes[detail_of(graph, i).group_role];
            const auto most =
                std::max_element(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
                    return a.second < b.second;
                });
            if (detail_of(graph, i).kind != most->first) {
                continue;
            }
            auto& sequences = sequences_[{g, detail_of(graph, i).group_role}];
            sequences.resize(graph.structure.iterations.count);
            sequences[transfer.iteration].push_back(i);
        }
    }

    // Roles of graphs that meet in a group are numbered alike.
    void unite_roles() {
        std::vector<std::uint32_t> of_group(workload_.groups.size(), kNoReader);
        for (const auto& [role, sequences] : sequences_) {
            set_of_[role] = static_cast<std::uint32_t>(root_.size());
            root_.push_back(set_of_[role]);
        }
        for (std::uint32_t rank = 0; rank < workload_.ranks.size(); ++rank) {
            const auto& groups = workload_.ranks[rank].groups;
            for (std::uint32_t role = 0; role < groups.size(); ++role) {
                const auto found = set_of_.find({graph_of_[rank], role});
                if (found == set_of_.end()) {
                    continue;
                }
                std::uint32_t& first = of_group[groups[role]];
                first = first == kNoReader ? found->second : first;
                root_[root_of(found->second)] = root_of(first);
            }
        }
    }
    std::uint32_t root_of(std::uint32_t set) const {
        while (root_[set] != set) {
            set = root_[set];
        }
        return set;
    }

    // Why the transfers of these roles cannot be numbered; "" if they can.
    std::string contradiction(const std::vector<RoleOfGraph>& roles) const {
        const RoleOfGraph& first = roles.front();
        const Sequence& model = sequences_.at(first).front();
        for (const RoleOfGraph& role : roles) {
            for (const Sequence& sequence : sequences_.at(role)) {
                bool same = sequence.size() == model.size();
                for (std::size_t i = 0; same && i < sequence.size(); ++i) {
                    const auto& a = detail_of(graphs_[first.first], model[i]);
                    const auto& b = detail_of(graphs_[role.first], sequence[i]);
                    same = a.kind == b.kind && a.bytes == b.bytes;
                }
                if (!same) {
                    return fmt::format(
                        "the gradient transfers of ranks {} and {}, or of their iterations, are "
                        "not the same kinds and sizes in the same order: those of their group run "
                        "as recorded",
                        graphs_[first.first].rank,
                        graphs_[role.first].rank);
                }
            }
        }
        return "";
    }

    Span span_of(const TrainedGraph& trained, std::uint32_t transfer) const {
        const GradientTransfer& found = trained.structure.transfers[transfer];
        Span span{trained.times.start[found.op], {kMaxPs}, kNoReader};
        for (const std::uint32_t op : found.readers) {
            const std::uint32_t reader = trained.readers.empty() ? op : trained.readers[op];
            if (trained.times.start[reader] < span.read) {
                span.read = trained.times.start[reader];
                span.reader = reader;
            }
        }
        return span;
    }

    void number(const std::vector<RoleOfGraph>& roles) {
        const std::size_t count = sequences_.at(roles.front()).front().size();
        std::vector<TransferForecast> merged(count);
        std::vector<std::uint64_t> read(count, kMaxPs);
        Duration iteration;
        for (std::size_t i = 0; i < count; ++i) {
            merged[i].needed = {kMaxPs};
        }
        for (const RoleOfGraph& role : roles) {
            const TrainedGraph& trained = graphs_[role.first];
            const SimTime begin = begin_[role.first];
            iteration = std::max(iteration, Duration{begin.ps});
            for (std::size_t i = 0; i < count; ++i) {
                const std::uint32_t number = sequences_.at(role).front()[i];
                const Span span = span_of(trained, number);
                const SimTime end = barrier_ || span.reader == kNoReader ? begin : span.read;
                merged[i].bytes = detail_of(trained, number).bytes;
                merged[i].ready = std::max(merged[i].ready, Duration{span.ready.ps});
                merged[i].needed = std::min(merged[i].needed, Duration{end.ps});
                read[i] = std::min(read[i], span.reader == kNoReader ? begin.ps : span.read.ps);
            }
        }
        publish(roles, merged, read, iteration);
    }

    void publish(const std::vector<RoleOfGraph>& roles,
                 const std::vector<TransferForecast>& merged,
                 const std::vector<std::uint64_t>& read,
                 Duration iteration) {
        std::vector<std::uint32_t> by_ready(merged.size());
        std::iota(by_ready.begin(), by_ready.end(), 0U);
        std::stable_sort(by_ready.begin(), by_ready.end(), [&](std::uint32_t a, std::uint32_t b) {
            return merged[a].ready < merged[b].ready;
        });
        std::vector<std::uint32_t> by_reader(by_ready.rbegin(), by_ready.rend());
        std::stable_sort(by_reader.begin(), by_reader.end(), [&](std::uint32_t a, std::uint32_t b) {
            return read[a] < read[b];
        });
        GroupForecast forecast{iteration, {}};
        std::vector<std::uint32_t> number_of(merged.size());
        std::vector<std::uint32_t> priority(merged.size());
        for (std::uint32_t i = 0; i < merged.size(); ++i) {
            number_of[by_ready[i]] = i;
            priority[by_reader[i]] = i;
        }
        for (const std::uint32_t i : by_ready) {
            forecast.transfers.push_back(merged[i]);
            forecast.transfers.back().priority = priority[i];
        }
        for (const RoleOfGraph& role : roles) {
            for (const Sequence& sequence : sequences_.at(role)) {
                for (std::size_t i = 0; i < sequence.size(); ++i) {
                    result_.numbers[role.first][sequence[i]] = number_of[i];
                }
            }
            const std::uint32_t rank = graphs_[role.first].rank;
            describe(role, workload_.ranks[rank].groups[role.second]);
        }
        for (std::uint32_t rank = 0; rank < workload_.ranks.size(); ++rank) {
            for (const RoleOfGraph& role : roles) {
                if (graph_of_[rank] != role.first) {
                    continue;
                }
                GroupForecast& agreed =
                    result_.forecasts[workload_.ranks[rank].groups[role.second]];
                if (agreed.transfers.empty()) {
                    agreed = forecast;
                }
            }
        }
    }

    void describe(const RoleOfGraph& role, std::uint32_t group) {
        const TrainedGraph& trained = graphs_[role.first];
        for (const std::uint32_t number : sequences_.at(role).front()) {
            const GradientTransfer& transfer = trained.structure.transfers[number];
            const Span span = span_of(trained, number);
            TransferWindow window;
            window.rank = trained.rank;
            window.group = group;
            window.transfer = result_.numbers[role.first][number];
            window.name = trained.graph.name_of(OpId{transfer.op});
            window.parameter = transfer.parameter;
            window.kind = detail_of(trained, number).kind;
            window.bytes = detail_of(trained, number).bytes;
            window.made_by = made_by(trained, transfer.op);
            window.start = {span.ready.ps};
            window.end = {begin_[role.first].ps};
            if (span.reader != kNoReader) {
                window.read_by = trained.graph.name_of(OpId{span.reader});
                window.end = barrier_ ? window.end : Duration{span.read.ps};
            }
            result_.windows.push_back(std::move(window));
        }
    }

    // The parent that is done last.
    std::string made_by(const TrainedGraph& trained, std::uint32_t op) {
        auto& last = last_parent_[&trained];
        const ExecutionGraph& graph = trained.graph;
        if (last.empty()) {
            last.assign(graph.size(), kNoReader);
            for (std::uint32_t parent = 0; parent < graph.size(); ++parent) {
                for (std::uint32_t i = graph.child_begin[parent]; i < graph.child_begin[parent + 1];
                     ++i) {
                    std::uint32_t& best = last[graph.child[i]];
                    if (best == kNoReader || trained.times.end[best] <= trained.times.end[parent]) {
                        best = parent;
                    }
                }
            }
        }
        return last[op] == kNoReader ? std::string() : std::string(graph.name_of(OpId{last[op]}));
    }

    const Workload& workload_;
    const std::vector<TrainedGraph>& graphs_;
    const std::vector<std::uint32_t>& graph_of_;
    bool barrier_;
    std::vector<SimTime> begin_;  // of the second iteration, by graph
    std::map<RoleOfGraph, std::vector<Sequence>> sequences_;
    std::map<RoleOfGraph, std::uint32_t> set_of_;
    std::vector<std::uint32_t> root_;  // of sets, by union and find
    std::map<const TrainedGraph*, std::vector<std::uint32_t>> last_parent_;
    WindowResult result_;
};

}  // namespace

WindowResult find_windows(const Workload& workload,
                          const std::vector<TrainedGraph>& graphs,
                          const std::vector<std::uint32_t>& graph_of,
                          bool barrier,
                          Warnings& warnings) {
    return WindowFinder(workload, graphs, graph_of, barrier).find(warnings);
}

}  // namespace astra
