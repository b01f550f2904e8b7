// How busy the dimensions of the network were, on the screen and in result.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/results/result_files.h"
#include "astra/results/summary.h"
#include "tests/support/experiment.h"

namespace astra {
namespace {

// A ring all_reduce of 1 MiB in the first dimension of 4 x 2, without latencies: one direction is
// on the wire all the time, the other never; each of two rows of four ranks sends 2·3/4 of the
// buffer. Nothing is sent in the second dimension, whose ring of two has two links a row of two.
TEST(BusyDimensionsTest, MeanOverAllLinksOfEach) {
    test::Experiment experiment;
    experiment.dimensions = {{"Ring", 4, 50, 0}, {"Ring", 2, 50, 0}};
    experiment.backend = "congestion_aware";
    experiment.algorithms = {"ring", "ring"};
    experiment.endpoint_delay_ns = 0;
    experiment.memory_bandwidth = 0;
    test::Trace trace = {test::collective(1, CollectiveKind::AllReduce, 1U << 20U)};
    trace[0].involved_dimensions = {true, false};
    experiment.traces = test::everywhere(8, trace);
    const RunResult result = test::run(experiment);
    EXPECT_THAT(
        summary(result),
        testing::AllOf(testing::HasSubstr(
                           "\nbusy dimensions  0 (ring of 4): 50.0 %, the mean of its 16 links\n"),
                       testing::HasSubstr(
                           "\n                 1 (ring of 2): 0.0 %, the mean of its 8 links\n")));
    const auto dimensions = nlohmann::json::parse(result_json(result))["dimensions"];
    EXPECT_EQ(dimensions,
              nlohmann::json::parse(
                  R"([{"dimension": 0, "topology": "ring of 4", "links": 16, "bytes": 12582912,)"
                  R"( "mean_busy_ps": )" +
                  std::to_string(result.simulated.ps / 2) +
                  R"(}, {"dimension": 1, "topology": "ring of 2", "links": 8, "bytes": 0,)"
                  R"( "mean_busy_ps": 0}])"));
}

}  // namespace
}  // namespace astra
