// What the replayer does before and after a run: groups and plans, and the report of a run that
// cannot finish.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "workload/replayer.h"

namespace astra {

namespace {

// Of a collective: 64 PiB. What all messages of a run carry must fit 64 bits.
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 56;

}  // namespace

void Replayer::add_job(Job added) {
    jobs_.push_back(std::move(added));
    const Job& job = jobs_.back();
    const auto& traces = job.workload.ranks;
    ASTRA_CHECK(traces.size() == job.fabric_ranks.size(),
                "a job has a trace for each of its ranks");
    first_rank_of_job_.push_back(ranks());
    const auto places = register_groups(job);
    ranks_.reserve(ranks_.size() + traces.size());
    for (std::uint32_t r = 0; r < traces.size(); ++r) {
        Rank& rank = ranks_.emplace_back();
        rank.job = &job;
        rank.trace = &traces[r];
        rank.graph = traces[r].graph.get();
        rank.fabric_rank = job.fabric_ranks[r];
        rank.ops_left = rank.graph->size();
        rank.parents_left = rank.graph->parent_count;
        rank.free_streams = {
            config_.cpu_streams, config_.compute_streams, config_.communication_streams, 1};
        rank.groups = places[r];
        counts_.ops += rank.graph->size();
        const bool same_as_before = r > 0 && traces[r - 1].graph == traces[r].graph &&
                                    traces[r - 1].groups == traces[r].groups;
        if (!same_as_before) {
            prepare_ops(rank);
        }
        check_memory(rank);
        counts_.communication_ops += static_cast<std::uint64_t>(
            std::count_if(rank.graph->kind.begin(), rank.graph->kind.end(), [](OpKind kind) {
                return kind == OpKind::Send || kind == OpKind::Recv || kind == OpKind::Collective;
            }));
    }
}

// By rank of the job: where it stands in the group of each of its roles.
std::vector<std::vector<Replayer::GroupPlace>> Replayer::register_groups(const Job& job) {
    const auto& groups = job.workload.groups;
    std::vector<GroupId> ids;
    std::vector<std::unordered_map<std::uint32_t, std::uint32_t>> positions(groups.size());
    for (std::uint32_t g = 0; g < groups.size(); ++g) {
        std::vector<std::uint32_t> fabric_ranks;
        for (const std::uint32_t rank : groups[g].ranks) {
            positions[g].emplace(rank, static_cast<std::uint32_t>(fabric_ranks.size()));
            fabric_ranks.push_back(job.fabric_ranks[rank]);
        }
        const std::string prefix = job.name.empty() ? "" : job.name + "/";
        ids.push_back(collectives_.add_group(prefix + groups[g].name, std::move(fabric_ranks)));
    }
    std::vector<std::vector<GroupPlace>> places;
    for (std::uint32_t r = 0; r < job.workload.ranks.size(); ++r) {
        auto& roles = places.emplace_back();
        for (const std::uint32_t group : job.workload.ranks[r].groups) {
            roles.push_back({ids[group], positions[group].at(r)});
        }
    }
    return places;
}

void Replayer::prepare_ops(const Rank& rank) {
    const ExecutionGraph& graph = *rank.graph;
    if (config_.replay_only) {
        return;
    }
    std::set<std::pair<std::uint32_t, PlanKey>> known;
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (graph.kind[op] != OpKind::Collective) {
            continue;
        }
        const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
        const CollectiveRequest request = request_for(rank, op);
        const GroupId group = rank.groups[detail.group_role].group;
        const auto complaint = [&](const std::string& what) {
            return fmt::format("{}: rank {}, node {} ({}): {}",
                               rank.trace->file,
                               rank.fabric_rank,
                               graph.node_id[op],
                               graph.name_of(OpId{op}),
                               what);
        };
        if (request.root >= collectives_.group(group).size()) {
            throw TraceError(complaint("the root is not in the group"));
        }
        const std::uint64_t factor =
            request.bytes_are_a_shard ? collectives_.group(group).size() : 1;
        if (saturating_multiply(request.bytes.count, factor) > kMostBufferBytes) {
            throw TraceError(
                complaint(fmt::format("a buffer of {} B is beyond the {} B that can be simulated",
                                      saturating_multiply(request.bytes.count, factor),
                                      kMostBufferBytes)));
        }
        if (!known.insert({index(group), request.plan_key()}).second) {
            continue;
        }
        try {
            collectives_.prepare(group, request);
        } catch (const ConfigError& error) {
            throw ConfigError(std::string(error.what()) + "\n  needed by " +
                              complaint(name_of(request.kind)));
        }
    }
}

void Replayer::check_memory(const Rank& rank) const {
    if (memory_.kind() != MemoryModel::Kind::None || rank.graph->memories.empty() ||
        config_.replay_only) {
        return;
    }
    for (std::uint32_t op = 0; op < rank.graph->size(); ++op) {
        if (rank.graph->kind[op] == OpKind::MemoryLoad ||
            rank.graph->kind[op] == OpKind::MemoryStore) {
            throw TraceError(
                fmt::format("{}: rank {}, node {} ({}): accesses remote memory, but the memory "
                            "configuration has none",
                            rank.trace->file,
                            rank.fabric_rank,
                            rank.graph->node_id[op],
                            rank.graph->name_of(OpId{op})));
        }
    }
}

std::string Replayer::describe_op(const Rank& rank, std::uint32_t op) const {
    const ExecutionGraph& graph = *rank.graph;
    const std::string node = fmt::format(
        "rank {}: node {} ({})", rank.fabric_rank, graph.node_id[op], graph.name_of(OpId{op}));
    switch (graph.kind[op]) {
        case OpKind::Recv: {
            const PointRequest request = point_for(rank, op);
            std::string text = fmt::format("{} waits for a message from rank {}, tag {}, {} B",
                                           node,
                                           request.source,
                                           request.tag,
                                           request.bytes.count);
            for (const Rank& other : ranks_) {
                if (other.fabric_rank == request.source && other.started && other.ops_left == 0) {
                    text += fmt::format("; rank {} has finished", request.source);
                }
            }
            const std::string near = points_.near_match(request);
            return near.empty() ? text : text + "; " + near;
        }
        case OpKind::Send: {
            const PointRequest request = point_for(rank, op);
            return fmt::format("{} waits until rank {} asks for its message, tag {}, {} B",
                               node,
                               request.destination,
                               request.tag,
                               request.bytes.count);
        }
        case OpKind::Collective: {
            const GroupPlace& place = rank.groups[graph.collectives[graph.detail[op]].group_role];
            return fmt::format(
                "{} waits in {}", node, collectives_.describe_waiting(place.group, place.position));
        }
        default:
            return node + " has not finished";
    }
}

std::vector<std::string> Replayer::describe_stuck(std::size_t most) const {
    std::vector<std::string> lines;
    std::uint64_t more = 0;
    for (const Rank& rank : ranks_) {
        if (rank.ops_left == 0) {
            continue;
        }
        if (!rank.started) {
            lines.push_back(fmt::format("rank {}: its job has not started", rank.fabric_rank));
        }
        for (std::uint32_t op = 0; op < rank.graph->size(); ++op) {
            if (rank.parents_left[op] != kRunning) {
                continue;
            }
            if (lines.size() < most) {
                lines.push_back(describe_op(rank, op));
            } else {
                ++more;
            }
        }
    }
    if (more > 0) {
        lines.push_back(fmt::format("and {} more ops", more));
    }
    return lines;
}

}  // namespace astra
