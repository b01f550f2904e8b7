#include "workload/training/training.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "workload/generate/generator.h"
#include "workload/graph/messages.h"
#include "workload/training/compute_order.h"
#include "workload/training/durations.h"
#include "workload/training/rules.h"
#include "workload/training/unroll.h"

namespace astra {

namespace {

// One of the graphs that ranks share, while it is being prepared.
struct Shared {
    explicit Shared(const RankTrace& trace)
        : source(trace.graph), base(*trace.graph), file(trace.file) {}
    std::shared_ptr<const ExecutionGraph> source;
    ExecutionGraph base;  // with transfers marked, and with changed edges if it is ordered
    std::string file;
    std::unique_ptr<Dependencies> edges;  // of `base`
    std::vector<Join> joins;              // of iteration 0, or of all
};

class Preparation {
  public:
    Preparation(Workload& workload,
                const TrainingOptions& options,
                const PolicyTraits& policy,
                const SystemTimes& system,
                Warnings& warnings)
        : workload_(workload),
          options_(options),
          policy_(policy),
          system_(system),
          warnings_(warnings),
          rules_(options.rule_file.empty() ? TrainingRules()
                                           : TrainingRules::from_file(options.rule_file)) {}

    TrainingReport run() {
        find_structures();
        if (!any_transfers()) {
            return {};
        }
        settle_iterations();
        prepare_graphs();
        WindowResult found = analyse();
        if (policy_.compute_order != nullptr) {
            found = order_compute(found);
        }
        finish(found);
        return std::move(report_);
    }

  private:
    void find_structures() {
        std::unordered_map<const ExecutionGraph*, std::uint32_t> numbers;
        for (std::uint32_t rank = 0; rank < workload_.ranks.size(); ++rank) {
            const RankTrace& trace = workload_.ranks[rank];
            const auto [known, added] =
                numbers.try_emplace(trace.graph.get(), static_cast<std::uint32_t>(shared_.size()));
            graph_of_.push_back(known->second);
            if (!added) {
                continue;
            }
            Shared& shared = shared_.emplace_back(trace);
            shared.edges = std::make_unique<Dependencies>(*shared.source);
            TrainedGraph& trained = trained_.emplace_back();
            trained.rank = rank;
            trained.structure = find_structure(
                *shared.source, *shared.edges, rules_, options_.barrier_op, trace.file);
        }
    }

    bool any_transfers() const {
        return std::any_of(trained_.begin(), trained_.end(), [](const TrainedGraph& trained) {
            return !trained.structure.transfers.empty();
        });
    }

    void settle_iterations() {
        const TrainedGraph* first = nullptr;
        for (const TrainedGraph& trained : trained_) {
            if (trained.structure.iterations.of_op.empty()) {
                continue;  // a rank without ops
            }
            first = first == nullptr ? &trained : first;
            const std::uint32_t count = trained.structure.iterations.count;
            if (count != first->structure.iterations.count) {
                throw TraceError(
                    fmt::format("{}: {} iterations (rank {}), but rank {} has {}: {}; {}",
                                workload_.ranks[trained.rank].file,
                                count,
                                trained.rank,
                                first->rank,
                                first->structure.iterations.count,
                                trained.structure.iterations.how,
                                first->structure.iterations.how));
            }
        }
        const TraceIterations& found = first->structure.iterations;
        recorded_ = found.count;
        if (recorded_ > 1 && options_.iterations != 0 && options_.iterations != recorded_) {
            throw ConfigError(fmt::format(
                "iterations: the trace has {} iterations already ({}); only one can be unrolled",
                recorded_,
                found.how));
        }
        copies_ = recorded_ > 1 ? 1 : std::max(options_.iterations, 1U);
        barrier_ = options_.barrier.value_or(policy_.barrier && (recorded_ == 1 || policy_.queues));
        report_.recorded_iterations = recorded_;
        report_.told_apart = found.how;
        report_.iterations = recorded_ * copies_;
        report_.barrier = barrier_;
    }

    void prepare_graphs() {
        std::uint64_t ops = 0;
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            for (const GradientTransfer& transfer : trained_[g].structure.transfers) {
                // Any number marks it; find_windows() gives the right ones.
                shared_[g].base.collectives[shared_[g].base.detail[transfer.op]].transfer = 0;
            }
            make_joins(g);
            ops += std::uint64_t{copies_} * joined_size(shared_[g].base, shared_[g].joins);
        }
        if (ops > kMostGeneratedNodes) {
            throw ConfigError(fmt::format(
                "iterations: {} iterations are {} ops of all distinct traces together; at most {}",
                copies_,
                ops,
                kMostGeneratedNodes));
        }
    }

    void make_joins(std::size_t g) {
        Shared& shared = shared_[g];
        const TrainingStructure& structure = trained_[g].structure;
        shared.joins.clear();
        const bool as_recorded = recorded_ > 1 && !options_.barrier && !policy_.queues;
        if (as_recorded) {
            return;
        }
        shared.joins =
            joins_of(shared.base,
                     *shared.edges,
                     structure,
                     barrier_ ? IterationStart::AfterAll : IterationStart::AfterComputation,
                     options_.barrier_op);
    }

    WindowResult analyse() {
        std::vector<FreeRank> free_ranks(shared_.size());
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            TrainedGraph& trained = trained_[g];
            const Shared& shared = shared_[g];
            trained.graph = whole_graph(g, std::max(copies_, 2U));
            trained.readers.clear();
            const std::uint32_t size = joined_size(shared.base, shared.joins);
            for (std::uint32_t op = 0; recorded_ == 1 && op < shared.base.size(); ++op) {
                trained.readers.push_back(size + op);
            }
            FreeRank& rank = free_ranks[g];
            rank.graph = &trained.graph;
            rank.durations = expected_durations(trained.graph, system_);
            for (const std::uint32_t peer : workload_.ranks[trained.rank].peers) {
                rank.peer_ranks.push_back(graph_of_[peer]);
            }
        }
        StreamRules rules = system_.replay.streams;
        rules.transfers_take_one = false;
        rules.iterations = 2;
        std::vector<FreeTimes> times = run_free(free_ranks, rules);
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            trained_[g].times = std::move(times[g]);
        }
        return find_windows(workload_, trained_, graph_of_, barrier_, warnings_);
    }

    // Iterations as far as the trace has them, or copies.
    ExecutionGraph whole_graph(std::size_t g, std::uint32_t copies) const {
        const Shared& shared = shared_[g];
        ExecutionGraph graph =
            recorded_ > 1 ? join(shared.base, shared.joins, trained_[g].structure.iterations.of_op)
                          : unroll(shared.base, shared.joins, copies);
        if (!shared.base.order.empty()) {
            const std::uint32_t stride =
                recorded_ > 1 ? graph.size() : joined_size(shared.base, shared.joins);
            graph.order =
                order_of_copies(shared.base.order, trained_[g].structure, stride, graph.size());
        }
        return graph;
    }

    // The order that the windows found suggest, unless iterations are expected to become longer.
    WindowResult order_compute(const WindowResult& found);
    std::vector<std::int64_t> slack_of(std::size_t g, const WindowResult& found) const;
    Duration expected(const WindowResult& found) const;
    struct Change {
        ExecutionGraph base;
        TrainingStructure structure;
    };

    void finish(const WindowResult& found) {
        std::vector<std::shared_ptr<const ExecutionGraph>> graphs;
        for (std::size_t g = 0; g < shared_.size(); ++g) {
            ExecutionGraph graph =
                copies_ >= 2 || recorded_ > 1 ? std::move(trained_[g].graph) : whole_graph(g, 1);
            set_numbers(graph, g, found.numbers[g]);
            graphs.push_back(std::make_shared<const ExecutionGraph>(std::move(graph)));
            describe(g, found.numbers[g]);
        }
        for (std::uint32_t rank = 0; rank < workload_.ranks.size(); ++rank) {
            workload_.ranks[rank].graph = graphs[graph_of_[rank]];
        }
        workload_.iterations = report_.iterations;
        workload_.forecasts = found.forecasts;
        report_.windows = found.windows;
        for (const GroupDefinition& group : workload_.groups) {
            report_.groups.push_back(group.name);
        }
        for (TransferWindow& window : report_.windows) {
            const Duration cost =
                measured_cost({.kind = window.kind, .bytes = window.bytes}, system_);
            window.cost = cost.ps > 0 ? std::optional(cost) : std::nullopt;
        }
        for (const GroupForecast& forecast : found.forecasts) {
            report_.iteration = std::max(report_.iteration, forecast.iteration);
        }
    }

    void set_numbers(ExecutionGraph& graph,
                     std::size_t g,
                     const std::vector<std::uint32_t>& numbers) const {
        const auto& transfers = trained_[g].structure.transfers;
        const std::uint32_t stride = joined_size(shared_[g].base, shared_[g].joins);
        for (std::uint32_t copy = 0; copy < copies_; ++copy) {
            for (std::size_t i = 0; i < transfers.size(); ++i) {
                const std::uint32_t op = copy * stride + transfers[i].op;
                graph.collectives[graph.detail[op]].transfer = numbers[i];
            }
        }
    }

    void describe(std::size_t g, const std::vector<std::uint32_t>& numbers) {
        const TrainingStructure& structure = trained_[g].structure;
        const ExecutionGraph& base = shared_[g].base;
        report_.other_collectives += structure.other_collectives;
        for (std::size_t i = 0; i < structure.transfers.size(); ++i) {
            const GradientTransfer& transfer = structure.transfers[i];
            if (transfer.iteration != 0 || numbers[i] == kNoTransfer) {
                continue;
            }
            const bool ends = base.child_begin[transfer.op] == base.child_begin[transfer.op + 1];
            report_.without_update += ends ? 1 : 0;
            if (transfer.readers.empty()) {
                ++report_.readers_unknown;
                if (report_.without_reader.size() < kMostNamed) {
                    report_.without_reader.push_back(printable(base.name_of(OpId{transfer.op})));
                }
            }
        }
    }

    Workload& workload_;
    const TrainingOptions& options_;
    const PolicyTraits& policy_;
    const SystemTimes& system_;
    Warnings& warnings_;
    TrainingRules rules_;
    std::vector<Shared> shared_;
    std::vector<TrainedGraph> trained_;    // beside them
    std::vector<std::uint32_t> graph_of_;  // by rank
    std::uint32_t recorded_ = 1;
    std::uint32_t copies_ = 1;
    bool barrier_ = false;
    TrainingReport report_;
};

// Durations from a transfer's start boundary to its end boundary, less its cost, beside
// structure.transfers.
std::vector<std::int64_t> Preparation::slack_of(std::size_t g, const WindowResult& found) const {
    std::vector<std::int64_t> slack;
    const auto& transfers = trained_[g].structure.transfers;
    const auto& groups = workload_.ranks[trained_[g].rank].groups;
    for (std::size_t i = 0; i < transfers.size(); ++i) {
        const ExecutionGraph& base = shared_[g].base;
        const CollectiveDetail& detail = base.collectives[base.detail[transfers[i].op]];
        const std::uint32_t number = found.numbers[g][i];
        if (number == kNoTransfer) {
            slack.push_back(ComputeGraph::kNoSlack);
            continue;
        }
        const TransferForecast& forecast =
            found.forecasts[groups[detail.group_role]].transfers[number];
        slack.push_back(static_cast<std::int64_t>(forecast.needed.ps) -
                        static_cast<std::int64_t>(forecast.ready.ps) -
                        static_cast<std::int64_t>(measured_cost(detail, system_).ps));
    }
    return slack;
}

// What an iteration takes, by the slowest of the groups of which a rank is described.
Duration Preparation::expected(const WindowResult& found) const {
    std::vector<std::vector<Duration>> cost(found.forecasts.size());
    for (const TransferWindow& window : found.windows) {
        cost[window.group].resize(found.forecasts[window.group].transfers.size());
        cost[window.group][window.transfer] =
            measured_cost({.kind = window.kind, .bytes = window.bytes}, system_);
    }
    Duration slowest;
    for (std::size_t group = 0; group < cost.size(); ++group) {
        if (!cost[group].empty()) {
            slowest = std::max(slowest, expected_iteration(found.forecasts[group], cost[group]));
        }
    }
    return slowest;
}

WindowResult Preparation::order_compute(const WindowResult& found) {
    const Duration before = expected(found);
    std::vector<Change> kept;
    for (std::size_t g = 0; g < shared_.size(); ++g) {
        Shared& shared = shared_[g];
        const std::vector<std::int64_t> slack = slack_of(g, found);
        kept.push_back({shared.base, trained_[g].structure});
        if (free_updates(shared.base, trained_[g].structure) > 0) {
            shared.edges = std::make_unique<Dependencies>(shared.base);
            trained_[g].structure = find_structure(
                shared.base, *shared.edges, rules_, options_.barrier_op, shared.file);
        }
        shared.base.order = policy_.compute_order(
            compute_graph(shared.base, *shared.edges, trained_[g].structure, slack));
        ASTRA_CHECK(shared.base.order.size() == shared.base.size(), "an order ranks every op");
        make_joins(g);
    }
    WindowResult ordered = analyse();
    if (expected(ordered) <= before) {
        report_.ordered = true;
        return ordered;
    }
    for (std::size_t g = 0; g < shared_.size(); ++g) {
        shared_[g].base = std::move(kept[g].base);
        trained_[g].structure = std::move(kept[g].structure);
        shared_[g].edges = std::make_unique<Dependencies>(shared_[g].base);
        make_joins(g);
    }
    return analyse();
}

}  // namespace

TrainingReport prepare_training(Workload& workload,
                                const TrainingOptions& options,
                                const PolicyTraits& policy,
                                const SystemTimes& system,
                                Warnings& warnings) {
    return Preparation(workload, options, policy, system, warnings).run();
}

}  // namespace astra
