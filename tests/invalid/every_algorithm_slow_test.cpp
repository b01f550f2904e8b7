// Every name of an algorithm for every kind over awkward sizes, through the whole program: it runs,
// or it is refused with exit status 2 and the names of the algorithm, the kind and the size.
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "system/tuning/algorithm_choice.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

std::vector<std::string> names() {
    std::vector<std::string> all = {"direct1",
                                    "direct3",
                                    "multiRing3",
                                    "multiRing65",
                                    "ncclTree1",
                                    "ncclTree4294967295",
                                    "chain1",
                                    "chain4294967295",
                                    "pat1",
                                    "pat3",
                                    "hierarchical2",
                                    "hierarchical2x2:direct-ring-ncclTree",
                                    "hierarchical3:halvingDoubling-recursiveDoubling",
                                    "oneHierarchical2:bruck"};
    for (const std::string& name : algorithm_names()) {
        if (parse_algorithm(name).algorithm != nullptr) {
            all.push_back(name);
        }
    }
    return all;
}

TEST(EveryAlgorithmSlowTest, RunsOrIsRefusedByName) {
    const ScratchFolder folder;
    for (const std::string& name : names()) {
        std::uint32_t ran = 0;
        for (std::uint32_t k = 0; k < kCollectiveKinds; ++k) {
            const std::string kind = name_of(static_cast<CollectiveKind>(k));
            for (const std::uint32_t ranks : {1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 12U, 16U, 17U}) {
                const std::string study = folder.write(
                    "study.yml",
                    fmt::format("workload: {{generate: {{kind: collective, collective: {0}, bytes: "
                                "1000B}}}}\n"
                                "system: {{collectives: {{{0}: {1}}}}}\n"
                                "network: {{dimensions: [{{topology: switch, ranks: {2}, "
                                "bandwidth: 1GB/s}}]}}\n",
                                kind,
                                name,
                                ranks));
                const ProgramRun result = run_captured({"run", study, "--quiet"});
                if (result.status == 0) {
                    ran += ranks > 1 ? 1 : 0;
                    continue;
                }
                EXPECT_EQ(result.status, 2) << name << " " << kind << " of " << ranks;
                EXPECT_THAT(result.error,
                            testing::HasSubstr(fmt::format(
                                "algorithm '{}' cannot run {} over {} ranks", name, kind, ranks)));
                EXPECT_THAT(result.error, testing::HasSubstr("study.yml:2:"));
                EXPECT_GT(ranks, 1U) << "one rank has nothing to exchange: " << result.error;
            }
        }
        // An nvls wants a system that says that its switches reduce.
        const bool never = name == "nvls" || name == "oneNvls" || name == "multiRing65" ||
                           name.ends_with("4294967295") || name == "hierarchical" ||
                           name == "oneHierarchical";
        EXPECT_EQ(ran == 0, never) << name;
    }
}

}  // namespace
}  // namespace astra::test
