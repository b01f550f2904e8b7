// `auto` takes the fastest, and a table says what to take instead.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/system/tuning/tuning_runs.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

constexpr CollectiveKind kKinds[] = {CollectiveKind::AllReduce,
                                     CollectiveKind::AllGather,
                                     CollectiveKind::AllToAll,
                                     CollectiveKind::Broadcast};

class Automatic : public testing::TestWithParam<TunedNetwork> {};

// Every algorithm that can do the kind, and every number behind its name that `auto` tries.
std::vector<std::string> fixed(CollectiveKind kind, std::uint32_t ranks) {
    std::vector<std::string> names;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        ProgramShape shape;
        shape.kind = kind;
        shape.members = ranks;
        const std::vector<std::string> tried = algorithm->trials == nullptr
                                                   ? std::vector{std::string(algorithm->name)}
                                                   : algorithm->trials(shape);
        for (const std::string& name : tried) {
            const AlgorithmChoice choice = parse_algorithm(name);
            if (algorithm->in_switch == nullptr &&
                algorithm->refusal(choice.shape(kind, ranks)).empty()) {
                names.push_back(name);
            }
        }
    }
    return names;
}

TEST_P(Automatic, IsNeverSlowerThanTheBest) {
    for (const CollectiveKind kind : kKinds) {
        for (const std::uint64_t bytes : {1'536ULL, 98'304ULL, 25'165'824ULL}) {
            const RunResult automatic = run_tuned(GetParam(), "oneAuto", kind, bytes);
            const std::uint32_t ranks = automatic.collectives.front().ranks;
            std::uint64_t best_ps = std::numeric_limits<std::uint64_t>::max();
            std::string best;
            for (const std::string& name : fixed(kind, ranks)) {
                const std::uint64_t ps =
                    run_tuned(GetParam(), flat_name(name), kind, bytes).simulated.ps;
                if (ps < best_ps) {
                    best_ps = ps;
                    best = name;
                }
            }
            EXPECT_LE(static_cast<double>(automatic.simulated.ps),
                      1.01 * static_cast<double>(best_ps))
                << astra::name_of(kind) << ' ' << bytes << ": "
                << automatic.collectives.front().algorithm << ", not " << best;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Networks, Automatic, testing::ValuesIn(tuned_networks()), name_of);

const TunedNetwork kSwitch8 = {"switch8",
                               "congestion_aware",
                               "{topology: switch, ranks: 8, bandwidth: 100GB/s, latency: 500ns}"};
const TunedNetwork kRing8 = {
    "ring8", "congestion_aware", "{topology: ring, ranks: 8, bandwidth: 100GB/s, latency: 500ns}"};
const TunedNetwork kNodes = {"nodes",
                             "congestion_aware",
                             "{topology: switch, ranks: 8, bandwidth: 300GB/s, latency: 300ns}, "
                             "{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: 2us}"};

std::string ran(const TunedNetwork& network,
                const std::string& algorithm,
                std::uint64_t bytes,
                const std::string& system = "") {
    return run_tuned(network, algorithm, CollectiveKind::AllReduce, bytes, system)
        .collectives.front()
        .algorithm;
}

// For 1 KiB steps and hops count: under a switch nothing is to be slower than the two steps of
// direct, and the ring's 14 cannot be as fast. For 64 MiB on a ring what goes round in both
// directions between neighbours wins, and direct loads every link with n/4 times as much.
TEST(AutomaticChoice, ChangesWithTheSize) {
    const auto time_ps = [](const std::string& algorithm) {
        return run_tuned(kSwitch8, algorithm, CollectiveKind::AllReduce, 1024).simulated.ps;
    };
    const std::string known =
        ", auto: {all_reduce: [ring, bidirectionalRing, direct, halvingDoubling, bruck]}";
    EXPECT_EQ(ran(kSwitch8, "auto", 1024, known), "direct");
    EXPECT_LE(time_ps("auto"), time_ps("direct"));
    EXPECT_LT(time_ps("auto"), time_ps("ring"));
    EXPECT_NE(ran(kRing8, "auto", 1024), ran(kRing8, "auto", 64U << 20U));
    EXPECT_NE(ran(kNodes, "[ring, auto]", 1024), ran(kNodes, "[ring, auto]", 64U << 20U));
    EXPECT_THAT(ran(kNodes, "[ring, auto]", 1024), testing::StartsWith("ring+"));
}

TEST(AutomaticChoice, KeepsToItsCandidates) {
    const std::string rings = ", auto: {all_reduce: [ring, multiRing2]}";
    EXPECT_THAT(ran(kSwitch8, "auto", 1024, rings), HasSubstr("ing"));
    EXPECT_EQ(ran(kSwitch8, "auto", 1024, ", auto: {all_reduce: [bruck]}"), "bruck");
}

// In 14 steps each, LL saves 14 times 2.9 us and sends every byte twice: 14 times m = S/8 at 10 ps
// a byte and link more. At 1 KiB that is 36 ns, at 64 MiB 2.3 ms.
TEST(AutomaticChoice, TakesTheProtocolToo) {
    const std::string protocols =
        ", protocols: {LL: {latency: 100ns, efficiency: 0.5}, Simple: {latency: 3us}}";
    EXPECT_EQ(ran(kSwitch8, "ring", 1024, protocols), "ring/LL");
    EXPECT_EQ(ran(kSwitch8, "ring", 64U << 20U, protocols), "ring/Simple");
    EXPECT_THAT(ran(kSwitch8, "auto", 1024, protocols), HasSubstr("/LL"));
}

TEST(SizeTable, SaysWhatRuns) {
    const std::string table =
        "{by_size: [{up_to: 64KiB, algorithm: recursiveDoubling}, {up_to: 16MiB, algorithm: "
        "ncclTree4}, {algorithm: ring}]}";
    EXPECT_EQ(ran(kSwitch8, table, 1024), "recursiveDoubling");
    EXPECT_EQ(ran(kSwitch8, table, 64U << 10U), "recursiveDoubling");
    EXPECT_EQ(ran(kSwitch8, table, (64U << 10U) + 8), "ncclTree4");
    EXPECT_EQ(ran(kSwitch8, table, 32U << 20U), "ring");
    // Sizes are those of the whole buffer, in every dimension.
    EXPECT_EQ(ran(kNodes,
                  "[{by_size: [{up_to: 1MiB, algorithm: direct}, {algorithm: ring}]}, ring]",
                  1U << 20U),
              "direct+ring+direct");
    EXPECT_EQ(ran(kSwitch8,
                  "{by_size: [{up_to: 1MiB, algorithm: auto, protocol: B}, {algorithm: ring}]}",
                  1024,
                  ", auto: {all_reduce: [ring]}, protocols: {A: {}, B: {latency: 1us}}"),
              "ring/B");
}

TEST(SizeTable, BadOnesAreRefused) {
    const auto refused =
        [&](const std::string& algorithm, const std::string& part, const std::string& system = "") {
            try {
                run_tuned(kSwitch8, algorithm, CollectiveKind::AllReduce, 1024, system);
                ADD_FAILURE() << "not refused: " << algorithm;
            } catch (const InputError& error) {
                EXPECT_THAT(error.what(), HasSubstr(part));
            }
        };
    refused("{by_size: []}", "expected 1 to 1000 ranges");
    refused("{by_size: [{up_to: 1KiB, algorithm: ring}]}", "no entry for more than 1024 B");
    refused("{by_size: [{algorithm: ring}, {algorithm: ring}]}", "only the last entry");
    refused(
        "{by_size: [{up_to: 2KiB, algorithm: ring}, {up_to: 1KiB, algorithm: ring}, "
        "{algorithm: ring}]}",
        "ranges overlap: it has to be above the 2048 B");
    refused("{by_size: [{algorithm: rung}]}", "did you mean 'ring'");
    refused("{by_size: [{algorithm: oneRing}]}", "'oneRing' is not possible here");
    refused("{by_size: [{algorithm: ring, protocol: LL}]}", "system.protocols has none");
    refused("{by_size: [{algorithm: ring, protocol: LL12}]}",
            "did you mean 'LL128'",
            ", protocols: {LL128: {}}");
    refused("{by_size: [{up_to: 1KiB, algorithm: dissemination}, {algorithm: ring}]}",
            "'dissemination': it does barrier only");
    refused("{by_size: [{algorithm: ring}], file: x.xml}", "file");
    refused(
        "auto", "none of the algorithms that auto may choose", ", auto: {all_reduce: [pairwise]}");
    refused("auto", "did you mean 'ring'", ", auto: {all_reduce: [rung]}");
    refused("auto", "'auto' is not possible here", ", auto: {all_reduce: [auto]}");
}

}  // namespace
}  // namespace astra::test
