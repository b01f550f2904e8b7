// The windows of gradient transfers as they were in a run.
#include <algorithm>
#include <optional>

#include "workload/replay/replayer.h"

namespace astra {

namespace {

// When the first op of a later iteration begins that is reached from `from` through ops of its own.
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

}  // namespace

std::vector<WindowRecord> Replayer::windows(std::uint32_t job,
                                            std::uint32_t iteration,
                                            const std::vector<TensorRecord>& tensors) const {
    std::vector<std::vector<const TensorRecord*>> fates(first_ranks_.size());
    for (const TensorRecord& tensor : tensors) {
        auto& of_group = fates[tensor.communicator];
        of_group.resize(transfers_.forecast(tensor.communicator).transfers.size());
        if (tensor.iteration == iteration) {
            of_group[tensor.transfer] = &tensor;
        }
    }
    const SimTime began = iterations_[job].times()[iteration].start;
    std::vector<WindowRecord> records;
    for (std::uint32_t c = 0; c < first_ranks_.size(); ++c) {
        const Rank& rank = ranks_[first_ranks_[c]];
        const ExecutionGraph& graph = *rank.graph;
        std::vector<std::uint32_t> seen_by(graph.size(), ~0U);
        for (std::uint32_t op = 0; op < graph.size() && rank.job == &jobs_[job]; ++op) {
            if (!is_transfer(graph, op)) {
                continue;
            }
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            const bool of_it = detail.iteration == iteration &&
                               transfers_.communicator(rank.groups[detail.group_role].group) == c;
            if (!of_it) {
                continue;
            }
            const TensorRecord& fate = *fates[c][detail.transfer];
            const TransferForecast& forecast = transfers_.forecast(c).transfers[detail.transfer];
            WindowRecord& record = records.emplace_back();
            record.communicator = c;
            record.transfer = detail.transfer;
            record.name = graph.name_of(OpId{op});
            record.bytes = fate.bytes;
            record.priority = forecast.priority;
            record.free_start = forecast.ready;
            record.free_end = forecast.needed;
            record.cost = transfers_.cost(c).at(fate.bytes);
            record.ready = fate.ready - began;
            record.start = fate.start - began;
            record.end = fate.end - began;
            record.read = first_reader(graph, op, rank.starts, seen_by).value_or(fate.end) - began;
        }
    }
    std::sort(records.begin(), records.end(), [](const WindowRecord& a, const WindowRecord& b) {
        return a.communicator != b.communicator ? a.communicator < b.communicator
                                                : a.transfer < b.transfer;
    });
    return records;
}

}  // namespace astra
