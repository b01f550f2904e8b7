#include "workload/replay/transfer_windows.h"

#include <algorithm>
#include <optional>

namespace astra {

namespace {

// When the first op of a later iteration begins that is reached from `from` through ops of the same
// iteration.
std::optional<SimTime> first_reader(const ExecutionGraph& graph,
                                    std::uint32_t from,
                                    const std::vector<SimTime>& starts,
                                    std::vector<std::uint32_t>& seen_by) {
    std::optional<SimTime> first;
    std::vector<std::uint32_t> stack{from};
    while (!stack.empty()) {
        const std::uint32_t op = stack.back();
        stack.pop_back();
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            const std::uint32_t child = graph.child[i];
            if (graph.iteration[child] > graph.iteration[from]) {
                first = std::min(first.value_or(starts[child]), starts[child]);
            } else if (seen_by[child] != from) {
                seen_by[child] = from;
                stack.push_back(child);
            }
        }
    }
    return first;
}

// What became of the tensors of an iteration, by communicator and transfer.
using Fates = std::vector<std::vector<const TensorRecord*>>;

Fates fates_of(const std::vector<TensorRecord>& tensors,
               std::uint32_t iteration,
               std::size_t communicators,
               const TransferQueue& transfers) {
    Fates fates(communicators);
    for (const TensorRecord& tensor : tensors) {
        auto& fates_there = fates[tensor.communicator];
        fates_there.resize(transfers.forecast(tensor.communicator).transfers.size());
        if (tensor.iteration == iteration) {
            fates_there[tensor.transfer] = &tensor;
        }
    }
    return fates;
}

WindowRecord window_of(const TensorRecord& fate, const TransferQueue& transfers, SimTime began) {
    const TransferForecast& forecast =
        transfers.forecast(fate.communicator).transfers[fate.transfer];
    WindowRecord record;
    record.communicator = fate.communicator;
    record.transfer = fate.transfer;
    record.bytes = fate.bytes;
    record.priority = forecast.priority;
    record.free_start = forecast.ready;
    record.free_end = forecast.needed;
    record.cost = transfers.cost(fate.communicator).at(fate.bytes);
    record.ready = fate.ready - began;
    record.start = fate.start - began;
    record.end = fate.end - began;
    return record;
}

}  // namespace

std::vector<WindowRecord> transfer_windows(const ReplayedJob& job,
                                           std::uint32_t iteration,
                                           const std::vector<ReplayedRank>& ranks,
                                           const std::vector<std::uint32_t>& first_ranks,
                                           const OpTimes& times,
                                           const TransferQueue& transfers,
                                           const std::vector<TensorRecord>& tensors) {
    const Fates fates = fates_of(tensors, iteration, first_ranks.size(), transfers);
    const SimTime began = job.iterations.times()[iteration].start;
    std::vector<WindowRecord> records;
    for (std::uint32_t c = 0; c < first_ranks.size(); ++c) {
        const ReplayedRank& rank = ranks[first_ranks[c]];
        if (rank.job != &job) {
            continue;
        }
        const ExecutionGraph& graph = rank.graph();
        const std::vector<SimTime> starts = times.starts(RankId{rank.fabric_rank}, graph.size());
        std::vector<std::uint32_t> seen_by(graph.size(), kNoOp);
        for (const std::uint32_t op : rank.outline->collectives) {
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            if (!graph.is_transfer(OpId{op}) || detail.iteration != iteration ||
                transfers.communicator(rank.group_of(detail).group) != c) {
                continue;
            }
            const TensorRecord& fate = *fates[c][detail.transfer];
            WindowRecord& record = records.emplace_back(window_of(fate, transfers, began));
            record.name = graph.name_of(OpId{op});
            record.read = first_reader(graph, op, starts, seen_by).value_or(fate.end) - began;
        }
    }
    std::sort(records.begin(), records.end(), [](const WindowRecord& a, const WindowRecord& b) {
        return a.communicator != b.communicator ? a.communicator < b.communicator
                                                : a.transfer < b.transfer;
    });
    return records;
}

}  // namespace astra
