// What the replayer does before and after a run: groups and plans, and the report of a run that
// cannot finish.
#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "workload/replay/replayer.h"

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
    IterationLog& iterations = iterations_.emplace_back(static_cast<std::uint32_t>(traces.size()),
                                                        job.workload.iterations);
    std::vector<bool> known_groups(job.workload.groups.size());
    ranks_.reserve(ranks_.size() + traces.size());
    for (std::uint32_t r = 0; r < traces.size(); ++r) {
        Rank& rank = ranks_.emplace_back();
        rank.job = &job;
        rank.number = r;
        rank.trace = &traces[r];
        rank.graph = traces[r].graph.get();
        rank.iterations = rank.graph->iteration.empty() ? nullptr : &iterations;
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
            register_transfers(rank, known_groups);
            check_transfers(rank);
        }
        check_memory(rank);
        counts_.communication_ops += static_cast<std::uint64_t>(
            std::count_if(rank.graph->kind.begin(), rank.graph->kind.end(), [](OpKind kind) {
                return kind == OpKind::Send || kind == OpKind::Recv || kind == OpKind::Collective;
            }));
    }
    jobs_with_transfers_ +=
        std::find(known_groups.begin(), known_groups.end(), true) != known_groups.end() ? 1 : 0;
}

// Groups of the job whose transfers this rank is the first to know of.
void Replayer::register_transfers(const Rank& rank, std::vector<bool>& known) {
    const ExecutionGraph& graph = *rank.graph;
    if (config_.replay_only) {
        return;
    }
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (!is_transfer(graph, op)) {
            continue;
        }
        const std::uint32_t role = graph.collectives[graph.detail[op]].group_role;
        const std::uint32_t group = rank.trace->groups[role];
        if (!known[group]) {
            known[group] = true;
            transfers_.add_group(static_cast<std::uint32_t>(jobs_.size() - 1),
                                 rank.groups[role].group,
                                 rank.job->workload.forecasts[group],
                                 request_for(rank, op));
            first_ranks_.push_back(static_cast<std::uint32_t>(&rank - ranks_.data()));
        }
    }
}

// Who finds the transfers of a trace numbers them without gaps, on every rank alike.
void Replayer::check_transfers(const Rank& rank) const {
    const ExecutionGraph& graph = *rank.graph;
    std::set<std::pair<std::uint32_t, PlanKey>> kinds;
    std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> found(graph.group_roles);
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (!is_transfer(graph, op)) {
            continue;
        }
        const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
        const bool is_new =
            found[detail.group_role].emplace(detail.iteration, detail.transfer).second;
        ASTRA_CHECK(is_new, "a gradient is reduced once an iteration");
        kinds.emplace(detail.group_role, request_for(rank, op).plan_key());
    }
    for (std::uint32_t role = 0; role < graph.group_roles; ++role) {
        const std::size_t each =
            rank.job->workload.forecasts.empty()
                ? 0
                : rank.job->workload.forecasts[rank.trace->groups[role]].transfers.size();
        ASTRA_CHECK(found[role].size() == each * rank.job->workload.iterations,
                    "every iteration has all transfers of its groups");
    }
    const auto same_role = [](const auto& a, const auto& b) { return a.first == b.first; };
    const auto twice = std::adjacent_find(kinds.begin(), kinds.end(), same_role);
    if (transfers_.waits() && twice != kinds.end()) {
        throw ConfigError(fmt::format(
            "system.transfers: the gradients of group '{}' are reduced by {} and by {}, which "
            "cannot be merged; only the policy trace runs them",
            collectives_.group(rank.groups[twice->first].group).name(),
            name_of(twice->second.kind),
            name_of(std::next(twice)->second.kind)));
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
        if (request.by_pair() && request.pairs.sends.size() != collectives_.group(group).size()) {
            throw TraceError(
                complaint(fmt::format("in_split_size has {} sizes, but group '{}' has {} ranks",
                                      request.pairs.sends.size(),
                                      collectives_.group(group).name(),
                                      collectives_.group(group).size())));
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
            const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
            const std::string where =
                detail.transfer == kNoTransfer
                    ? collectives_.describe_waiting(place.group, place.position)
                    : transfers_.describe_waiting(
                          place.group,
                          place.position,
                          {detail.iteration, detail.transfer, detail.bytes});
            return fmt::format("{} waits in {}", node, where);
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
