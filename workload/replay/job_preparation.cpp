#include "workload/replay/job_preparation.h"

#include <algorithm>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

namespace {

// The largest buffer of a collective, 64 PiB: what all messages of a run carry must fit 64 bits.
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 56;

std::string complaint(const ReplayedRank& rank, std::uint32_t op, const std::string& what) {
    const ExecutionGraph& graph = rank.graph();
    return fmt::format("{}: rank {}, node {} ({}): {}",
                       rank.trace->file,
                       rank.fabric_rank,
                       graph.node_id[op],
                       graph.name_of(OpId{op}),
                       what);
}

}  // namespace

JobPreparation::JobPreparation(CollectiveEngine& collectives,
                               TransferQueue& transfers,
                               const MemoryModel& memory,
                               const ReplayConfig& config,
                               bool rendezvous,
                               Warnings& warnings)
    : collectives_(collectives),
      transfers_(transfers),
      memory_(memory),
      config_(config),
      rendezvous_(rendezvous),
      warnings_(warnings),
      requests_(collectives) {}

void JobPreparation::add(ReplayedJob& job, std::uint32_t number, std::vector<ReplayedRank>& ranks) {
    const auto& traces = job.job.workload.ranks;
    Members members = register_groups(job.job);
    if (!config_.replay_only) {
        find_order(job);
    }
    StreamRules rules = config_.streams;
    rules.transfers_take_one = !transfers_.waits();
    std::vector<bool> known_groups(job.job.workload.groups.size());
    ranks.reserve(ranks.size() + traces.size());
    for (std::uint32_t r = 0; r < traces.size(); ++r) {
        const auto rank_number = static_cast<std::uint32_t>(ranks.size());
        ReplayedRank& rank = ranks.emplace_back(job, r, rules);
        rank.groups = std::move(members[r]);
        const bool same_as_before = r > 0 && traces[r - 1].graph == traces[r].graph &&
                                    traces[r - 1].groups == traces[r].groups;
        if (!same_as_before && !config_.replay_only) {
            prepare_collectives(rank);
            register_transfers(rank, rank_number, number, known_groups);
        }
        if (!same_as_before) {
            check_transfers(rank);
        }
        check_memory(rank);
    }
    jobs_with_transfers_ +=
        std::find(known_groups.begin(), known_groups.end(), true) != known_groups.end() ? 1 : 0;
}

// Where each rank of the job stands in the groups of its roles.
JobPreparation::Members JobPreparation::register_groups(const Job& job) {
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
    Members members;
    for (const RankTrace& rank : job.workload.ranks) {
        auto& roles = members.emplace_back();
        const auto number = static_cast<std::uint32_t>(members.size() - 1);
        for (const std::uint32_t group : rank.groups) {
            roles.push_back({ids[group], positions[group].at(number)});
        }
    }
    return members;
}

void JobPreparation::find_order(ReplayedJob& job) const {
    OrderRules rules;
    rules.naming.transfers_wait = transfers_.waits();
    rules.naming.node_algorithm = [&](std::uint64_t node_id) {
        return collectives_.node_algorithm(node_id);
    };
    rules.rendezvous = rendezvous_;
    const std::string prefix = job.job.name.empty() ? "" : job.job.name + "/";
    job.order = std::make_unique<const JobOrder>(
        job.job.workload, rules, OrderNames{job.job.fabric_ranks, prefix}, warnings_);
}

void JobPreparation::check_collective(const ReplayedRank& rank,
                                      std::uint32_t op,
                                      const CollectiveRequest& request) const {
    const ExecutionGraph& graph = rank.graph();
    const ProcessGroup& group =
        collectives_.group(rank.group_of(graph.collectives[graph.detail[op]]).group);
    if (request.root >= group.size()) {
        throw TraceError(complaint(rank, op, "the root is not in the group"));
    }
    if (request.by_pair() && request.pairs.sends.size() != group.size()) {
        throw TraceError(
            complaint(rank,
                      op,
                      fmt::format("in_split_size has {} sizes, but group '{}' has {} ranks",
                                  request.pairs.sends.size(),
                                  group.name(),
                                  group.size())));
    }
    const std::uint64_t factor = request.bytes_are_a_shard ? group.size() : 1;
    const std::uint64_t buffer = saturating_multiply(request.bytes.count, factor);
    if (buffer > kMostBufferBytes) {
        throw TraceError(
            complaint(rank,
                      op,
                      fmt::format("a buffer of {} B is beyond the {} B that can be simulated",
                                  buffer,
                                  kMostBufferBytes)));
    }
}

void JobPreparation::prepare_collectives(const ReplayedRank& rank) {
    const ExecutionGraph& graph = rank.graph();
    std::set<std::pair<std::uint32_t, PlanKey>> known;
    for (const std::uint32_t op : rank.outline->collectives) {
        const CollectiveRequest request = requests_.collective(rank, op);
        const GroupId group = rank.group_of(graph.collectives[graph.detail[op]]).group;
        check_collective(rank, op, request);
        if (!known.insert({index(group), request.plan_key()}).second) {
            continue;
        }
        try {
            collectives_.prepare(group, request);
        } catch (const ConfigError& error) {
            throw ConfigError(std::string(error.what()) + "\n  needed by " +
                              complaint(rank, op, name_of(request.kind)));
        }
    }
}

// Tells the transfer queue of the groups whose transfers this rank is the first to know of.
void JobPreparation::register_transfers(const ReplayedRank& rank,
                                        std::uint32_t rank_number,
                                        std::uint32_t job_number,
                                        std::vector<bool>& known) {
    const ExecutionGraph& graph = rank.graph();
    for (const std::uint32_t op : rank.outline->collectives) {
        if (!graph.is_transfer(OpId{op})) {
            continue;
        }
        const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
        const std::uint32_t group = rank.trace->groups[detail.group_role];
        if (!known[group]) {
            known[group] = true;
            transfers_.add_group(job_number,
                                 rank.group_of(detail).group,
                                 rank.job->job.workload.forecasts[group],
                                 requests_.collective(rank, op),
                                 rank.job->order->matching().collectives_of(group));
            first_ranks_.push_back(rank_number);
        }
    }
}

// Who finds the transfers of a trace numbers them without gaps, on every rank alike.
void JobPreparation::check_transfers(const ReplayedRank& rank) const {
    const ExecutionGraph& graph = rank.graph();
    const Workload& workload = rank.job->job.workload;
    std::set<std::pair<std::uint32_t, PlanKey>> kinds;
    std::vector<std::set<std::pair<std::uint32_t, std::uint32_t>>> found(graph.group_roles);
    for (const std::uint32_t op : rank.outline->collectives) {
        if (!graph.is_transfer(OpId{op})) {
            continue;
        }
        const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
        const bool is_new =
            found[detail.group_role].emplace(detail.iteration, detail.transfer).second;
        ASTRA_CHECK(is_new, "a gradient is reduced once an iteration");
        kinds.emplace(detail.group_role, requests_.collective(rank, op).plan_key());
    }
    for (std::uint32_t role = 0; role < graph.group_roles; ++role) {
        const std::size_t each =
            workload.forecasts.empty()
                ? 0
                : workload.forecasts[rank.trace->groups[role]].transfers.size();
        ASTRA_CHECK(found[role].size() == each * workload.iterations,
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

void JobPreparation::check_memory(const ReplayedRank& rank) const {
    const std::uint32_t op = rank.outline->memory_access;
    if (!memory_.exists() && op != kNoOp && !config_.replay_only) {
        throw TraceError(
            complaint(rank, op, "accesses remote memory, but the memory configuration has none"));
    }
}

}  // namespace astra
