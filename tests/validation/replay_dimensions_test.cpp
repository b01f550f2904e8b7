// Collectives over two dimensions: chunks queue for one dimension after the other.
#include <gtest/gtest.h>

#include "tests/validation/replay_table.h"

namespace astra::test {
namespace {

std::vector<NetworkDimension> ring_and_switch() {
    return {{"Ring", 4, 100, 100'000}, {"Switch", 4, 25, 1'000'000}};
}
std::vector<NetworkDimension> ring_and_connected() {
    return {{"Ring", 4, 100, 500'000}, {"FullyConnected", 2, 50, 700'000}};
}

const std::vector<ReplayRow> kRows = {
    {"c1952b611e",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllToAll,
     1048576,
     {.algorithms = {"direct"}, .chunks = 4},
     {18674, 18674}},
    {"6b47a067e7",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllGather,
     1048576,
     {.algorithms = {"ring", "direct"}, .chunks = 4},
     {130325, 130325}},
    {"0c6dcb2eb5",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::ReduceScatter,
     1048576,
     {.algorithms = {"ring", "direct"}, .chunks = 4},
     {13170, 13170}},
    {"38125f0181",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllGather,
     1048576,
     {.algorithms = {"ring"}},
     {240752, 240752}},
    {"208a12b7b4",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .queues = 2},
     {43869, 43869}},
    {"96ecf0c482",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}},
     {43869, 43869}},
    {"d5c1d1fed5",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllToAll,
     1048576,
     {.algorithms = {"ring"}},
     {85976, 85976}},
    {"2b9713db5d",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 16, .queues = 2},
     {209682, 209682}},
    {"e6772ea488",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 16},
     {209682, 209682}},
    {"c0ae0d5aeb",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllToAll,
     1048576,
     {.algorithms = {"ring"}, .chunks = 16},
     {253262, 253262}},
    {"3b3306ca1d",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::ReduceScatter,
     1048576,
     {.algorithms = {"ring"}, .chunks = 16},
     {105110, 105110}},
    {"ee699570bd",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1073741824,
     {.algorithms = {"ring"}, .chunks = 16, .active = 4},
     {4925181, 4925181}},
    {"601cf33c50",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 4},
     {67980, 67980}},
    {"f66f6954c8",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 4, .queues = 2},
     {67980, 67980}},
    {"782ea334fd",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::ReduceScatter,
     1048576,
     {.algorithms = {"ring"}, .chunks = 4},
     {34370, 34370}},
    {"9df1f250d9",
     kUnaware,
     ring_and_switch(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 4, .baseline = true},
     {112994, 112994}},
    {"mb_ring_fc",
     kUnaware,
     ring_and_connected(),
     CollectiveKind::AllReduce,
     1048576,
     {.algorithms = {"ring"}, .chunks = 4},
     {28400, 28400}},
};

class ReplayDimensions : public testing::TestWithParam<ReplayRow> {};

TEST_P(ReplayDimensions, TakesTheTimeOfTheClosedForm) {
    const RunResult result = run(replay_experiment(GetParam()));
    expect_finish(result, replay_time(GetParam()));
    expect_reference(result, GetParam().reference);
}

TEST_P(ReplayDimensions, ScalesExactly) {
    constexpr ReplayScale primes{3, 7, 13};
    expect_finish(run(replay_experiment(GetParam(), primes)), replay_time(GetParam(), primes));
}

INSTANTIATE_TEST_SUITE_P(Reference,
                         ReplayDimensions,
                         testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.backend + "_" + row.param.name; });

}  // namespace
}  // namespace astra::test
