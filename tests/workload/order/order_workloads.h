// Workloads from traces written by hand, and their order.
#pragma once

#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/experiment.h"
#include "workload/graph/graph_builder.h"
#include "workload/graph/groups.h"
#include "workload/graph/workload_assembler.h"
#include "workload/order/job_order.h"

namespace astra::test {

using Groups = std::map<std::string, std::vector<std::uint32_t>>;

inline Workload workload_of(const std::vector<Trace>& traces, const Groups& groups = {}) {
    Warnings warnings;
    const auto ranks = static_cast<std::uint32_t>(traces.size());
    std::vector<GroupDefinition> definitions;
    for (const auto& [name, members] : groups) {
        definitions.push_back({name, members});
    }
    GroupTable table(ranks, definitions, "test");
    WorkloadAssembler assembler;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        GraphBuilder builder("test", rank, ranks);
        for (const TraceNode& node : traces[rank]) {
            builder.add(node);
        }
        UnresolvedRank trace = builder.finish(warnings);
        assembler.add(trace, 0);
    }
    return assembler.finish(table);
}

inline TraceNode named(TraceNode node, std::string name) {
    node.name = std::move(name);
    return node;
}

// The order of a job, with all that it needs to outlive it.
class OrderOf {
  public:
    explicit OrderOf(const std::vector<Trace>& traces,
                     const Groups& groups = {},
                     bool rendezvous = false)
        : workload_(workload_of(traces, groups)) {
        names_.ranks.resize(traces.size());
        std::iota(names_.ranks.begin(), names_.ranks.end(), 0U);
        OrderRules rules;
        rules.rendezvous = rendezvous;
        order_ = std::make_unique<JobOrder>(workload_, rules, names_, warnings_);
    }

    const JobOrder& operator*() const { return *order_; }
    const JobOrder* operator->() const { return order_.get(); }
    const std::vector<std::string>& warnings() const { return warnings_.texts(); }
    // The op of the rank with this id in its trace.
    RankOp at(std::uint32_t rank, std::uint64_t id) const {
        const std::vector<std::uint64_t>& ids = workload_.ranks[rank].graph->node_id;
        for (std::uint32_t op = 0; op < ids.size(); ++op) {
            if (ids[op] == id) {
                return {rank, op};
            }
        }
        return {};
    }
    std::uint64_t id_of(const RankOp& at) const {
        return workload_.ranks[at.rank].graph->node_id[at.op];
    }
    // Of nodes of a rank, in the order of `ids`.
    std::vector<std::uint32_t> numbers(std::uint32_t rank, std::vector<std::uint64_t> ids) const {
        std::vector<std::uint32_t> result;
        for (const std::uint64_t id : ids) {
            result.push_back(order_->matching().number_of(at(rank, id)));
        }
        return result;
    }

  private:
    Workload workload_;
    OrderNames names_;
    Warnings warnings_;
    std::unique_ptr<JobOrder> order_;
};

// What the order of the traces is refused for, "" if it is not.
template <typename Refusal>
std::string refusal(const std::vector<Trace>& traces,
                    const Groups& groups = {},
                    bool rendezvous = false) {
    try {
        const OrderOf order(traces, groups, rendezvous);
    } catch (const Refusal& error) {
        return error.what();
    }
    return "";
}

}  // namespace astra::test
