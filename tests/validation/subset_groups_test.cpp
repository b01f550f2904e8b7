// Groups on part of the grid: products of subsets of coordinates.
#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/backend.h"
#include "tests/support/closed_form.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

// `with`: of each dimension, the coordinates of the group.
std::vector<std::uint32_t> product(const std::vector<NetworkDimension>& dimensions,
                                   const std::vector<std::vector<std::uint32_t>>& with) {
    std::vector<std::uint32_t> ranks{0};
    std::uint32_t stride = 1;
    for (std::size_t k = 0; k < dimensions.size(); ++k) {
        std::vector<std::uint32_t> next;
        for (const std::uint32_t coordinate : with[k]) {
            for (const std::uint32_t rank : ranks) {
                next.push_back(rank + coordinate * stride);
            }
        }
        ranks = next;
        stride *= dimensions[k].ranks;
    }
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

std::uint64_t group_time(Experiment experiment,
                         const std::vector<std::uint32_t>& ranks,
                         CollectiveKind kind,
                         std::uint64_t bytes) {
    experiment.groups = {{"1", ranks}};
    experiment.traces.assign(experiment.ranks(), {});
    for (const std::uint32_t rank : ranks) {
        experiment.traces[rank] = {collective(1, kind, bytes, {}, "1")};
    }
    return run(experiment).simulated.ps;
}

// Half of dimension 1 and all of dimension 0 of 8 x 4 switches, 88 MiB by rings: reduce_scatter
// over 8, all_reduce over 2, all_gather over 8. With C0 = 11 MiB / 450 GiB/s + 2 · 500 ns + 10 ns,
// C1 = 5.5 MiB / 50 GiB/s + 2 · 2 us + 10 ns and reductions R(x) = 3x / 3350 GB/s, all rounded up:
// 10 ns + 7 (C0 + R(11 MiB)) + 2 C1 + R(5.5 MiB) + 10 ns + 7 C0 + 10 ns.
TEST(SubsetGroups, RunDimensionByDimension) {
    Experiment experiment;
    experiment.dimensions = {{"Switch", 8, 450, 500'000}, {"Switch", 4, 50, 2'000'000}};
    experiment.memory_bandwidth = 3350;
    experiment.algorithms = {"ring", "ring"};
    const std::uint64_t bytes = std::uint64_t{88} << 20U;
    constexpr std::uint64_t gib_bits = std::uint64_t{8} << 30U;
    const std::uint64_t part = std::uint64_t{11} << 20U;
    const std::uint64_t c0 = transfer_ps(part, 450 * gib_bits) + 1'000'000 + 10'000;
    const std::uint64_t c1 = transfer_ps(part / 2, 50 * gib_bits) + 4'000'000 + 10'000;
    const auto reduction = [](std::uint64_t x) { return 3 * transfer_ps(x, 26'800'000'000'000); };
    const std::uint64_t expected = 10'000 + 7 * (c0 + reduction(part)) + 10'000 + 2 * c1 +
                                   reduction(part / 2) + 10'000 + 7 * c0;
    for (const std::vector<std::uint32_t>& half :
         {std::vector<std::uint32_t>{0, 1}, std::vector<std::uint32_t>{1, 3}}) {
        const auto ranks = product(experiment.dimensions, {{0, 1, 2, 3, 4, 5, 6, 7}, half});
        EXPECT_EQ(group_time(experiment, ranks, CollectiveKind::AllReduce, bytes), expected);
    }
}

// On switches and full connections it does not matter which coordinates a group has, nor that there
// are others: the time is that of a network of the group's ranks alone. Every backend, one to four
// chunks, products of random subsets of three dimensions.
TEST(SubsetGroups, TakeTheTimeOfANetworkOfTheirOwn) {
    std::mt19937_64 random(7);
    const std::vector<std::string> algorithms = {"ring", "direct", "pairwise", "bruck"};
    const std::vector<CollectiveKind> kinds = {CollectiveKind::AllReduce,
                                               CollectiveKind::AllGather,
                                               CollectiveKind::ReduceScatter,
                                               CollectiveKind::AllToAll};
    for (int round = 0; round < 60; ++round) {
        Experiment whole;
        whole.backend = std::string(backends().begin()[round % backends().size()]->name);
        whole.dimensions = {{"Switch", 5, 100, 300'000},
                            {"FullyConnected", 4, 50, 500'000},
                            {"Switch", 3, 25, 1'000'000}};
        const CollectiveKind kind = kinds[random() % kinds.size()];
        whole.algorithms.assign(
            3,
            kind == CollectiveKind::AllToAll ? algorithms[random() % 4] : algorithms[random() % 2]);
        whole.chunks = 1 + static_cast<std::uint32_t>(random() % 4);
        std::vector<std::vector<std::uint32_t>> with;
        Experiment own = whole;
        own.dimensions.clear();
        for (const NetworkDimension& dimension : whole.dimensions) {
            std::vector<std::uint32_t> all(dimension.ranks);
            for (std::uint32_t i = 0; i < dimension.ranks; ++i) {
                all[i] = i;
            }
            std::shuffle(all.begin(), all.end(), random);
            all.resize(1 + random() % dimension.ranks);
            std::sort(all.begin(), all.end());
            if (all.size() > 1) {
                own.dimensions.push_back(dimension);
                own.dimensions.back().ranks = static_cast<std::uint32_t>(all.size());
            }
            with.push_back(all);
        }
        if (own.dimensions.empty()) {
            continue;
        }
        own.algorithms.resize(own.dimensions.size());
        const std::uint64_t bytes = 720'720;  // 60 divides it, and each subset's size does
        const auto ranks = product(whole.dimensions, with);
        std::vector<std::uint32_t> all(own.ranks());
        for (std::uint32_t i = 0; i < own.ranks(); ++i) {
            all[i] = i;
        }
        EXPECT_EQ(group_time(whole, ranks, kind, bytes), group_time(own, all, kind, bytes))
            << whole.backend << ", " << name_of(kind) << " by " << whole.algorithms[0] << ", "
            << with[0].size() << " x " << with[1].size() << " x " << with[2].size() << ", "
            << whole.chunks << " chunks";
    }
}

// One rank less than a product: one flat ring in the order of the list.
TEST(SubsetGroups, AnythingElseIsFlat) {
    Experiment experiment;
    experiment.dimensions = {{"Switch", 4, 50, 500'000}, {"Switch", 4, 50, 500'000}};
    experiment.algorithms = {"ring", "ring"};
    experiment.groups = {{"1", {0, 1, 4, 5}}, {"2", {10, 11, 14}}, {"3", {13, 12, 9, 8}}};
    experiment.traces.assign(16, {});
    for (const auto& [name, ranks] : experiment.groups) {
        for (const std::uint32_t rank : ranks) {
            experiment.traces[rank] = {
                collective(1, CollectiveKind::AllReduce, 1U << 20U, {}, name)};
        }
    }
    const RunResult result = run(experiment);
    // Messages: 2 · 2 phases and an all_reduce over two of two; 2 (n-1) steps of n ranks.
    EXPECT_EQ(result.counts.messages, 4U * (1 + 2 + 1) + 3 * 4 + 4 * 6);
}

}  // namespace
}  // namespace astra::test
