// What a computation takes. At 1 TFLOPS an operation takes 1 ps, at 1 TB/s a byte too.
#include "system/model/compute_model.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "astra/core/error.h"

namespace astra {
namespace {

constexpr const char* kRates = "peak: 1TFLOPS\nlocal_memory_bandwidth: 1000GB/s\n";

std::optional<Duration> time_of(const std::string& system, const ComputeWork& work) {
    const ConfigTree tree = ConfigTree::parse_text(system, "system.yml");
    const auto model = read_compute_model(tree.root());
    tree.reject_unread();
    return model->time(work);
}

std::string error_of(const std::string& system) {
    try {
        time_of(system, {});
    } catch (const ConfigError& refused) {
        return refused.what();
    }
    return "no error";
}

TEST(ComputeModelTest, RecordedIsTheDefaultAndReadsTheKeysOfOthers) {
    for (const char* system : {"", "roofline: false\n", "compute_model: recorded\n"}) {
        EXPECT_EQ(time_of(std::string(system) + kRates, {100, Bytes{7}}), std::nullopt);
    }
}

// max(100 operations, 7 B) and max(100 operations, 700 B); an op with neither, and one of the CPU,
// takes what was recorded.
TEST(ComputeModelTest, RooflineIsTheLongerOfComputationAndTraffic) {
    for (const char* system : {"roofline: true\n", "compute_model: roofline\n"}) {
        const std::string study = std::string(system) + kRates;
        EXPECT_EQ(time_of(study, {100, Bytes{7}}), Duration{100});
        EXPECT_EQ(time_of(study, {100, Bytes{700}}), Duration{700});
        EXPECT_EQ(time_of(study, {100, std::nullopt}), Duration{100});
        EXPECT_EQ(time_of(study, {std::nullopt, Bytes{7}}), Duration{7});
        EXPECT_EQ(time_of(study, {0, std::nullopt}), Duration{});
        EXPECT_EQ(time_of(study, {}), std::nullopt);
        EXPECT_EQ(time_of(study, {100, Bytes{7}, true}), std::nullopt);
    }
}

// A third of an operation a picosecond: three for one, and rounded up.
TEST(ComputeModelTest, RooflineRoundsUp) {
    const std::string system = "roofline: true\npeak: 0.3TFLOPS\nlocal_memory_bandwidth: 1GB/s\n";
    EXPECT_EQ(time_of(system, {1, std::nullopt}), Duration{4});
    EXPECT_EQ(time_of(system, {3, std::nullopt}), Duration{10});
}

TEST(ComputeModelTest, RefusesWhatCannotBe) {
    EXPECT_THAT(error_of("roofline: true\n"),
                testing::HasSubstr("system.yml:1:11: roofline: a roofline needs peak"));
    EXPECT_THAT(error_of("compute_model: roofline\n"),
                testing::HasSubstr("system.yml:1:16: compute_model: a roofline needs peak"));
    EXPECT_THAT(error_of("compute_model: rofline\n"),
                testing::HasSubstr("did you mean 'roofline'"));
    EXPECT_THAT(error_of("compute_model: recorded\nroofline: true\n"),
                testing::HasSubstr("roofline: system.compute_model says which model it is"));
}

}  // namespace
}  // namespace astra
