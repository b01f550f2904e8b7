// What a rank waits for is what a faster network leaves: with 1000 times the bandwidth and no
// latency, ranks that come to their collectives when they do spend there at most what was called
// waiting, beside the thousandth of what was called exposed communication. And of what was called
// waiting nothing is saved, so that no more is than was called exposed communication.
#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/collective_cases.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kBytes = 1U << 20U;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
    for (std::size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + by.size())) {
        text.replace(at, what.size(), by);
    }
    return text;
}

std::string fast(const std::string& dimensions) {
    return replaced(
        replaced(replaced(dimensions, "GB/s", "000GB/s"), "latency: 300ns", "latency: 0ns"),
        "latency: 500ns",
        "latency: 0ns");
}

class Waiting : public testing::TestWithParam<Case> {
  protected:
    std::vector<RankRecord> run(const std::vector<Trace>& traces,
                                const std::string& collectives,
                                const std::string& dimensions,
                                bool rendezvous) const {
        Experiment experiment;
        experiment.traces = traces;
        experiment.groups = groups_;
        const ScratchFolder folder;
        write_files(experiment, folder);
        const std::string study = fmt::format(
            "workload: {{trace: trace{}}}\n"
            "system: {{{}streams: {{communication: 2}}, endpoint_delay: 0ns, rendezvous: {}, "
            "collectives: {}}}\n"
            "network: {{{}, dimensions: [{}]}}\n",
            groups_.empty() ? "" : ", groups: groups.json",
            GetParam().fabric.system,
            rendezvous,
            collectives,
            GetParam().model.keys(),
            dimensions);
        Simulation simulation(Study::from_file(folder.write("study.yml", study)), {});
        simulation.run({});
        return simulation.result().ranks;
    }

    std::map<std::string, std::vector<std::uint32_t>> groups_;

    // `coupled`: collectives may stand behind each other in the queue of a dimension.
    void expect_law(const std::vector<Trace>& traces,
                    const std::string& collectives,
                    bool rendezvous,
                    bool coupled = false) const {
        const std::string& dimensions = GetParam().fabric.dimensions;
        const auto slow = run(traces, collectives, dimensions, rendezvous);
        const auto quick = run(traces, collectives, fast(dimensions), rendezvous);
        std::uint64_t most = 0;
        for (const RankRecord& rank : slow) {
            most = std::max(most, rank.exposed_communication.ps);
        }
        for (std::size_t rank = 0; rank < slow.size(); ++rank) {
            SCOPED_TRACE(fmt::format("rank {}", rank));
            const RankRecord& was = slow[rank];
            const RankRecord& is = quick[rank];
            EXPECT_EQ(was.compute.ps + was.exposed_communication.ps + was.waiting.ps + was.idle.ps,
                      was.finish.ps);
            // What stands behind a collective that waits for a rank waits for it, too, and a faster
            // network changes what stands behind what.
            if (coupled) {
                EXPECT_LE(is.finish.ps, was.finish.ps);
                continue;
            }
            EXPECT_LE(is.exposed_communication.ps + is.waiting.ps, was.waiting.ps + most / 100);
            EXPECT_LE(was.finish.ps - is.finish.ps, was.exposed_communication.ps);
        }
    }
};

TraceNode busy(std::uint64_t id, std::uint64_t ps) {
    TraceNode node = compute(id, 0);
    node.duration_ps = ps;
    return node;
}

TraceNode from_the_first(std::uint64_t id, CollectiveKind kind, const std::string& group = "") {
    TraceNode node = collective(id, kind, kBytes, {1}, group);
    node.source = 0;
    return node;
}

TEST_P(Waiting, IsWhatAFasterNetworkLeaves) {
    std::mt19937_64 random(5);
    std::size_t done = 0;
    for (std::uint32_t number = 0; number < kCollectiveKinds; ++number) {
        const auto kind = static_cast<CollectiveKind>(number);
        for (const std::string& algorithm : algorithms(kind)) {
            const std::string collectives = fmt::format("{{{}: {}}}", name_of(kind), algorithm);
            for (const bool rendezvous : {false, true}) {
                // All come within 2 or 200 us, of which one takes 20 to 300.
                for (const std::uint64_t most : {2'000'000U, 200'000'000U}) {
                    std::vector<Trace> traces;
                    for (std::uint32_t rank = 0; rank < GetParam().fabric.ranks; ++rank) {
                        traces.push_back({busy(1, random() % most), from_the_first(2, kind)});
                    }
                    SCOPED_TRACE(fmt::format("{} by {}, within {} ps{}",
                                             name_of(kind),
                                             algorithm,
                                             most,
                                             rendezvous ? ", rendezvous" : ""));
                    try {
                        expect_law(traces, collectives, rendezvous);
                        ++done;
                    } catch (const InputError&) {
                        continue;  // not on this network
                    }
                }
            }
        }
    }
    EXPECT_GT(done, 80U);
}

// Two collectives that run beside each other, over all ranks and over every second one, in either
// order, and computation between them.
TEST_P(Waiting, HoldsForTwoCollectivesAtOnce) {
    std::mt19937_64 random(6);
    for (const CollectiveKind kind :
         {CollectiveKind::AllReduce, CollectiveKind::AllGather, CollectiveKind::AllToAll}) {
        for (int round = 0; round < 6; ++round) {
            SCOPED_TRACE(fmt::format("{}, round {}", name_of(kind), round));
            std::vector<Trace> traces;
            std::vector<std::uint32_t> group;
            for (std::uint32_t rank = 0; rank < GetParam().fabric.ranks; ++rank) {
                Trace trace = {busy(1, random() % 100'000'000),
                               from_the_first(2, CollectiveKind::AllReduce)};
                if (rank % 2 == 0) {
                    group.push_back(rank);
                    trace.push_back(busy(3, random() % 30'000'000));
                    trace.back().parents = {1};
                    trace.push_back(from_the_first(4, kind, "7"));
                    trace.back().parents = {3};
                    if (round >= 3) {
                        std::swap(trace[1].parents, trace[3].parents);
                    }
                }
                traces.push_back(trace);
            }
            groups_ = {{"7", group}};
            const bool has_chunks = *GetParam().fabric.system != '\0';
            expect_law(traces, "{}", round % 2 != 0, has_chunks);
        }
    }
}

// Stages of a pipeline that compute and pass on, back to back and of uneven length.
TEST_P(Waiting, OfABubbleIsNotSaved) {
    std::mt19937_64 random(7);
    std::vector<Trace> traces(GetParam().fabric.ranks);
    for (std::uint32_t rank = 0; rank < traces.size(); ++rank) {
        for (std::uint32_t batch = 0; batch < 4; ++batch) {
            Trace& trace = traces[rank];
            if (rank > 0) {
                trace.push_back(receive(trace.size() + 1, rank - 1, rank, batch, 1));
            }
            trace.push_back(busy(trace.size() + 1, 10'000'000 + random() % 10'000'000));
            if (rank + 1 < traces.size()) {
                trace.push_back(send(trace.size() + 1, rank, rank + 1, batch, 1));
            }
            for (std::size_t op = 1; op < trace.size(); ++op) {
                trace[op].parents = {op};
            }
        }
    }
    const auto ranks = run(traces, "{}", fast(GetParam().fabric.dimensions), false);
    for (const RankRecord& rank : ranks) {
        EXPECT_LE(rank.exposed_communication.ps, rank.finish.ps / 1000);
        EXPECT_EQ(rank.idle.ps, 0U);
        EXPECT_EQ(rank.compute.ps + rank.waiting.ps + rank.exposed_communication.ps,
                  rank.finish.ps);
    }
    EXPECT_GT(ranks.back().waiting.ps, 70'000'000U);
}

INSTANTIATE_TEST_SUITE_P(All,
                         Waiting,
                         testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& test) {
                             return test.param.name();
                         });

}  // namespace
}  // namespace astra::test
