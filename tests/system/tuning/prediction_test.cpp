// A predicted time is the simulated one, for every algorithm, kind and network here.
#include "system/tuning/prediction.h"

#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/backend/backend.h"
#include "network/topology/topology_reader.h"
#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/system/tuning/tuning_runs.h"

namespace astra::test {
namespace {

constexpr EndpointCosts kEndpoint = {{10'000}, {8'000'000'000'000}};  // as run_tuned

class Network {
  public:
    explicit Network(const TunedNetwork& network)
        : tree_(ConfigTree::parse_text(network.yaml(), "test")),
          topology_(read_topology(tree_.root().at("network"))),
          routing_(topology_, RoutePolicy::DimensionOrder, 1),
          predictor_(
              routing_, *backends().find(network.backend), tree_.root().at("network"), kEndpoint) {}

    std::uint32_t ranks() const { return topology_.ranks(); }
    PredictedProgram program(const CollectiveAlgorithm& algorithm, const ProgramShape& shape) {
        std::vector<std::uint32_t> ranks(shape.members);
        std::iota(ranks.begin(), ranks.end(), 0U);
        return predictor_.survey(make_program(algorithm, shape), std::move(ranks));
    }
    std::uint64_t predicted(const PredictedProgram& program,
                            std::uint64_t bytes,
                            const MessageCosts& costs = {}) {
        return predictor_.predict(program, {bytes}, costs).ps;
    }

  private:
    ConfigTree tree_;
    Topology topology_;
    Routing routing_;
    Predictor predictor_;
};

class Prediction : public testing::TestWithParam<TunedNetwork> {};

TEST_P(Prediction, IsWhatIsSimulated) {
    Network network(GetParam());
    std::size_t compared = 0;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        for (std::uint32_t k = 0; k < kCollectiveKinds; ++k) {
            const std::string name =
                algorithm->name == "hierarchical" ? "hierarchical4" : std::string(algorithm->name);
            const ProgramShape shape =
                parse_algorithm(name).shape(static_cast<CollectiveKind>(k), network.ranks());
            if (!algorithm->refusal(shape).empty() || algorithm->in_switch != nullptr) {
                continue;
            }
            const PredictedProgram program = network.program(*algorithm, shape);
            // Whole blocks for 8, 12, 16 and 24 ranks in two slices of eight.
            for (const std::uint64_t bytes : {3'072ULL, 3'145'728ULL}) {
                const auto truth = static_cast<double>(
                    run_tuned(GetParam(), flat_name(name), shape.kind, bytes).simulated.ps);
                EXPECT_NEAR(
                    static_cast<double>(network.predicted(program, bytes)), truth, 1e-5 * truth)
                    << name << ' ' << astra::name_of(shape.kind) << ' ' << bytes;
                ++compared;
            }
        }
    }
    EXPECT_GT(compared, 60U);
}

INSTANTIATE_TEST_SUITE_P(Networks, Prediction, testing::ValuesIn(tuned_networks()), name_of);

}  // namespace
}  // namespace astra::test
