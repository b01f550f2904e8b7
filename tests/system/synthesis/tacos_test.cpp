// `tacos` as an algorithm of a study.
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

std::string study(const std::string& algorithm, const std::string& kind = "all_reduce") {
    return fmt::format(
        "workload: {{generate: {{kind: collective, collective: {0}, bytes: 80MB}}, "
        "all_gather_size: total}}\n"
        "system: {{endpoint_delay: 10ns, collectives: {{{0}: {1}}}}}\n"
        "network: {{backend: congestion_aware, dimensions: [{{topology: fully_connected, ranks: 8, "
        "bandwidth: 100GB/s, latency: 500ns}}]}}\n",
        kind,
        algorithm);
}

// 10^7 bytes over each link at 10 ps a byte and 500 ns, after the delay of 10 ns at the start, and
// handled in 10 ns: 100,520 ns; an all_reduce does it again, the start aside. More blocks fill the
// same links.
TEST(Tacos, IsAnAlgorithmOfAStudy) {
    for (const char* name : {"tacos", "tacos1", "oneTacos5"}) {
        const RunResult result = run_study(study(name));
        EXPECT_EQ(result.simulated.ps, 10'000U + 2 * 100'510'000U) << name;
        EXPECT_EQ(result.collectives.front().algorithm, name);
    }
    EXPECT_EQ(run_study(study("tacos", "all_gather")).simulated.ps, 100'520'000U);
    EXPECT_EQ(run_study(study("tacos", "reduce_scatter")).simulated.ps, 100'520'000U);
}

// A reduction of 10^7 bytes passes a memory of 10 TB/s three times: 3 us, once, in parallel.
TEST(Tacos, PaysForReductions) {
    const std::string text = study("tacos1");
    std::string slow = text;
    slow.replace(slow.find("endpoint_delay"), 0, "local_memory_bandwidth: 10TB/s, ");
    EXPECT_EQ(run_study(slow).simulated.ps, run_study(text).simulated.ps + 3'000'000U);
}

TEST(Tacos, RunsInOneOfSeveralDimensions) {
    const std::string text =
        "workload: {generate: {kind: collective, collective: all_reduce, bytes: 8MiB}}\n"
        "system: {collectives: {all_reduce: [tacos2, ring]}}\n"
        "network: {backend: congestion_aware, dimensions: ["
        "{topology: ring, ranks: 4, bandwidth: 100GB/s, latency: 500ns}, "
        "{topology: switch, ranks: 4, bandwidth: 50GB/s, latency: 500ns}]}\n";
    EXPECT_EQ(run_study(text).collectives.front().algorithm, "tacos2+ring+tacos2");
}

TEST(Tacos, RefusesWhatItCannotDo) {
    const auto error_of = [](const std::string& text) -> std::string {
        try {
            run_study(text);
        } catch (const InputError& error) {
            return error.what();
        }
        return "no error";
    };
    EXPECT_THAT(error_of(study("tacos", "all_to_all")),
                HasSubstr("algorithm 'tacos' cannot run all_to_all over 8 ranks"));
    EXPECT_THAT(error_of(study("tacoz")), HasSubstr("did you mean 'tacos'"));
    EXPECT_THAT(error_of(study("tacos0")), HasSubstr("unknown algorithm 'tacos0'"));
    EXPECT_THAT(error_of(study("tacos1000000")),
                HasSubstr("into 8000000 blocks, at most 65536 are possible"));
}

}  // namespace
}  // namespace astra::test
