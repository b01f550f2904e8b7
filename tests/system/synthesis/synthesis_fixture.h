// Programs synthesised on small fabrics, and what their runs take.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "system/run/collective_run.h"
#include "system/synthesis/synthesis.h"
#include "tests/network/test_network.h"

namespace astra {

inline constexpr Duration kHandling{10'000};

inline std::vector<std::uint32_t> all_ranks(const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.ranks());
    std::iota(ranks.begin(), ranks.end(), 0U);
    return ranks;
}

inline ProgramShape shape_of(CollectiveKind kind, std::uint32_t members, std::uint32_t blocks) {
    ProgramShape shape;
    shape.kind = kind;
    shape.members = members;
    shape.parameter = blocks;
    return shape;
}

inline Duration makespan(const std::vector<Transfer>& transfers) {
    std::uint64_t end_ps = 0;
    for (const Transfer& transfer : transfers) {
        end_ps = std::max(end_ps, transfer.end_ps);
    }
    return {end_ps};
}

// Runs a program on an idle network, all members at time 0.
class ProgramRunner final : private RunOwner {
  public:
    static std::uint64_t time_ps(TestNetwork& network,
                                 const Program& program,
                                 std::vector<std::uint32_t> ranks,
                                 Bytes size) {
        ProgramRunner runner;
        RunContext context{
            network.queue(), network.backend(), kHandling, TransferClock(Bandwidth{})};
        CollectiveRun run;
        run.begin(context, runner, 0, program, std::move(ranks), size);
        for (std::uint32_t member = 0; member < program.members(); ++member) {
            run.start(member);
        }
        network.queue().run();
        EXPECT_TRUE(run.everyone_finished());
        return network.queue().now().ps;
    }

  private:
    void member_finished(CollectiveRun&, std::uint32_t, bool) override {}
    void member_left(CollectiveRun&, std::uint32_t) override {}
};

// No link carries two blocks at once: when each is on which link follows from the start and the
// links of the path. Adds up the time that each is used for.
inline std::map<std::uint32_t, std::uint64_t> expect_no_overlap(
    const GroupGraph& graph, const std::vector<Transfer>& transfers, Bytes block) {
    std::map<std::pair<std::uint32_t, std::uint32_t>, const GroupGraph::Edge*> edges;
    for (const GroupGraph::Edge& edge : graph.edges()) {
        edges[{edge.from, edge.to}] = &edge;
    }
    std::map<std::uint32_t, std::vector<std::pair<std::uint64_t, std::uint64_t>>> uses;
    for (const Transfer& transfer : transfers) {
        const auto found = edges.find({transfer.from, transfer.to});
        if (found == edges.end()) {
            ADD_FAILURE() << "no edge from " << transfer.from << " to " << transfer.to;
            continue;
        }
        std::uint64_t at_ps = transfer.start_ps;
        for (const std::uint32_t link : graph.path(*found->second)) {
            const LinkProperties& properties = graph.properties(link);
            const std::uint64_t wire_ps = transfer_time(block, properties.bandwidth).ps;
            uses[link].emplace_back(at_ps, at_ps + wire_ps);
            at_ps += wire_ps + properties.latency.ps;
        }
        EXPECT_EQ(at_ps, transfer.end_ps);
    }
    std::map<std::uint32_t, std::uint64_t> busy;
    for (auto& [link, times] : uses) {
        std::sort(times.begin(), times.end());
        for (std::size_t i = 0; i < times.size(); ++i) {
            EXPECT_TRUE(i == 0 || times[i].first >= times[i - 1].second)
                << "link " << link << " at " << times[i].first << " ps";
            busy[link] += times[i].second - times[i].first;
        }
    }
    return busy;
}

}  // namespace astra
