// Cases 22 to 35: groups, matching, order and deadlock.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/validation/case_check.h"
#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

Experiment r8_in_group(const std::string& group) {
    return r8({collective(1, CollectiveKind::AllReduce, kMiB, {}, group)});
}

TEST(Case22, MissingGroup) {
    Experiment experiment = r8_in_group("5");
    experiment.groups = {{"1", {0, 1, 2, 3, 4, 5, 6, 7}}};
    expect_failure(run_captured(experiment),
                   2,
                   {"rank 0", "node 1", "(all_reduce)", "group '5'", "groups.json", "1"});
}

TEST(Case23, NamesThatAreNotNumbers) {
    for (const char* name : {"tp_group", "default_pg", "a3f9c2e1"}) {
        Experiment experiment = r8_in_group(name);
        experiment.groups = {{name, {0, 1, 2, 3, 4, 5, 6, 7}}};
        const RunResult result = run(experiment);
        EXPECT_NEAR(static_cast<double>(result.simulated.ps) / 1e3, 41179.69, 0.03);
        EXPECT_EQ(result.collectives.front().group, name);
        experiment.groups = {{"another", {0, 1}}};
        expect_failure(run_captured(experiment), 2, {"rank 0", "node 1", name, "another"});
    }
}

TEST(Case24, DefaultGroup) {
    for (const char* name : {"", "0"}) {
        EXPECT_NEAR(static_cast<double>(run(r8_in_group(name)).simulated.ps) / 1e3, 41179.69, 0.03);
    }
    // The file wins: group "0" is ranks 0 and 1, 2(L + S/2B).
    Experiment defined = r8_in_group("0");
    defined.groups = {{"0", {0, 1}}};
    for (std::uint32_t rank = 2; rank < 8; ++rank) {
        defined.traces[rank] = {compute(1, 1)};
    }
    EXPECT_NEAR(static_cast<double>(run(defined).simulated.ps) / 1e3, 20531.25, 0.03);
}

TEST(Case26, GroupsOfOne) {
    Experiment experiment = r8({});
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
        const std::string name = std::to_string(rank + 1);
        experiment.groups[name] = {rank};
        experiment.traces[rank] = {collective(1, CollectiveKind::AllReduce, kMiB, {}, name)};
    }
    const RunResult result = run(experiment);
    EXPECT_EQ(result.simulated.ps, 0U);
    EXPECT_EQ(result.counts.message_bytes, 0U);
    EXPECT_EQ(result.ranks.size(), 8U);
}

TEST(Case28, IrregularGroup) {
    Experiment experiment = r8({compute(1, 5)});
    experiment.groups = {{"1", {0, 1, 5}}};
    for (const std::uint32_t rank : {0U, 1U, 5U}) {
        experiment.traces[rank] = {collective(1, CollectiveKind::AllReduce, kMiB, {}, "1")};
    }
    const RunResult result = run(experiment);
    EXPECT_EQ(result.counts.message_bytes, 4'194'304U);
    for (const std::uint32_t rank : {2U, 3U, 4U, 6U, 7U}) {
        EXPECT_EQ(rank_record(result, rank).finish.ps, 5'000'000U);
    }
    EXPECT_GT(rank_record(result, 5).finish.ps, 5'000'000U);
}

// A flat ring over six ranks takes 10 steps of S/6: no fewer than 2(5/6)·S/B.
TEST(Case29, GroupAcrossPartOfTheDimensions) {
    for (const char* backend : {kUnaware, kAware}) {
        Experiment experiment = on({ring(4), switched(3)}, {});
        experiment.backend = backend;
        experiment.groups = {{"1", {0, 1, 2, 3, 4, 5}}, {"2", {6, 7, 8, 9, 10, 11}}};
        for (std::uint32_t rank = 0; rank < 12; ++rank) {
            experiment.traces[rank] = {
                collective(1, CollectiveKind::AllReduce, kMiB, {}, rank < 6 ? "1" : "2")};
        }
        for (const auto& [unit, ns] : {std::pair{"GB", 34952.5}, std::pair{"GiB", 32552.1}}) {
            experiment.network_unit = unit;
            const RunResult result = run(experiment);
            EXPECT_GE(static_cast<double>(finish_range(result).earliest_ps) / 1e3, ns);
            EXPECT_EQ(result.counts.message_bytes, 2ULL * 2 * 5 * kMiB);
        }
        experiment.algorithms = {"ring", "direct"};
        EXPECT_THAT(run(experiment).warnings, testing::Contains(testing::HasSubstr("ring")));
    }
}

TEST(Case31, ReceiveWithoutSend) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{compute(1, 5)}, {receive(1, 0, 1, 0, kMiB)}};
    expect_failure(run_captured(experiment),
                   3,
                   {"deadlock at 5000000 ps",
                    "rank 1",
                    "node 1",
                    "message from rank 0, tag 0, 1048576 B",
                    "rank 0 has finished"});
}

TEST(Case31, SendWithoutReceive) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{send(1, 0, 1, 0, kMiB)}, {compute(1, 5)}};
    const ProgramRun program = run_captured(experiment);
    EXPECT_EQ(program.status, 0);
    EXPECT_THAT(program.error, testing::HasSubstr("1 unmatched message"));
    EXPECT_THAT(program.error, testing::HasSubstr("rank 0 -> rank 1"));
}

TEST(Case32, SizesDiffer) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{send(4, 0, 1, 7, kMiB)}, {receive(9, 0, 1, 7, kMiB / 2)}};
    expect_failure(run_captured(experiment),
                   2,
                   {"sizes differ", "rank 0", "node 4", "1048576", "rank 1", "node 9", "524288"});
    // In the other order too: the receive comes before the send.
    experiment.traces = {{compute(1, 5), send(4, 0, 1, 7, kMiB, {1})},
                         {receive(9, 0, 1, 7, kMiB / 2)}};
    expect_failure(run_captured(experiment), 2, {"sizes differ", "node 4", "node 9", "524288"});
}

TEST(Case32, TagsDiffer) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{send(1, 0, 1, 7, kMiB)}, {receive(1, 0, 1, 8, kMiB)}};
    expect_failure(
        run_captured(experiment), 3, {"deadlock", "rank 1", "tag 8", "rank 0", "under tag 7"});
}

TEST(Case34, WildcardsAndOddRanks) {
    const auto point =
        [](NodeType type, std::int64_t source, std::int64_t target, std::int64_t tag) {
            return metadata("0.0.4") + astra::test::node(3,
                                                         "p2p",
                                                         type,
                                                         {},
                                                         int64_attribute("comm_size", 8) +
                                                             int64_attribute("comm_tag", tag) +
                                                             int64_attribute("comm_src", source) +
                                                             int64_attribute("comm_dst", target));
        };
    Experiment experiment = on({ring(4)}, {});
    experiment.files["trace.0.et"] = point(Recv, -1, 0, 0);
    expect_failure(run_captured(experiment), 2, {"rank 0", "node 3", "comm_src", "-1"});
    experiment.files["trace.0.et"] = point(Recv, 1, 0, -1);
    expect_failure(run_captured(experiment), 2, {"rank 0", "node 3", "comm_tag", "-1"});
    experiment.files["trace.0.et"] = point(Send, 0, 77, 0);
    expect_failure(run_captured(experiment), 2, {"rank 0", "node 3", "77", "0 to 3"});
}

TEST(Case34, SendToItself) {
    Experiment experiment = on({ring(4)}, {});
    experiment.traces[0] = {send(1, 0, 0, 0, kMiB), receive(2, 0, 0, 0, kMiB)};
    const RunResult result = run(experiment);
    EXPECT_EQ(result.counts.message_bytes, 0U);
    EXPECT_TRUE(result.links.empty());
    EXPECT_EQ(result.simulated.ps, 0U);
}

TEST(Case35, SizesOfACollectiveDiffer) {
    Experiment experiment = r8_all_reduce();
    experiment.traces[0] = {collective(1, CollectiveKind::AllReduce, 2 * kMiB)};
    expect_failure(run_captured(experiment), 2, {"rank 0", "2097152", "1048576"});
}

TEST(Case35, KindsOfACollectiveDiffer) {
    Experiment experiment = on({ring(2)}, {});
    const auto both = [](CollectiveKind first, CollectiveKind second) {
        return Trace{collective(1, first, kMiB), collective(2, second, kMiB, {1})};
    };
    experiment.traces = {both(CollectiveKind::AllReduce, CollectiveKind::AllGather),
                         both(CollectiveKind::AllGather, CollectiveKind::AllReduce)};
    expect_failure(run_captured(experiment), 2, {"all_reduce", "all_gather", "collective 0"});
}

TEST(Case35, GroupsInOppositeOrder) {
    Experiment experiment = on({ring(2)}, {});
    experiment.groups = {{"1", {0, 1}}, {"2", {0, 1}}};
    const auto order = [](const char* first, const char* second) {
        return Trace{collective(1, CollectiveKind::AllReduce, kMiB, {}, first),
                     collective(2, CollectiveKind::AllReduce, kMiB, {1}, second)};
    };
    experiment.traces = {order("1", "2"), order("2", "1")};
    expect_failure(run_captured(experiment),
                   3,
                   {"deadlock",
                    "group '1', collective 0",
                    "arrived: ranks 0; missing: ranks 1",
                    "group '2', collective 0",
                    "arrived: ranks 1; missing: ranks 0"});
}

TEST(Case35, RankThatNeverCalls) {
    Experiment experiment = r8_all_reduce();
    experiment.traces[0] = {compute(1, 1)};
    expect_failure(
        run_captured(experiment), 3, {"deadlock", "collective 0 (all_reduce", "missing: ranks 0"});
}

TEST(Case35, BatchedMessagesDoNotDeadlock) {
    Experiment experiment = on({ring(2)}, {});
    experiment.traces = {{send(1, 0, 1, 0, kMiB), receive(2, 1, 0, 0, kMiB, {1})},
                         {send(1, 1, 0, 0, kMiB), receive(2, 0, 1, 0, kMiB, {1})}};
    expect_both_units(experiment, 21471.52, 20031.25);
}

}  // namespace
}  // namespace astra::test
