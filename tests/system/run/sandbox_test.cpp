#include "system/run/sandbox.h"

#include <string>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/topology/topology_reader.h"
#include "system/algorithms/algorithm.h"
#include "system/program/program.h"
#include "system/tuning/algorithm_choice.h"

namespace astra::test {
namespace {

constexpr const char* kNetwork =
    "{dimensions: [{topology: ring, ranks: 4, bandwidth: 1GB/s, latency: 1us}]}";

Program ring_all_reduce() {
    const AlgorithmChoice ring = parse_algorithm("ring");
    return make_program(*ring.algorithm, ring.shape(CollectiveKind::AllReduce, 4));
}

// A ring's all-reduce of 4·1000 B over 4 ranks: 10 ns endpoint delay at the start, then 6 steps of
// 1 us latency, 1000 B at 1 GB/s, 10 ns endpoint delay; reductions are free.
constexpr std::uint64_t kRingPs = 10'000 + 6 * (1'000'000 + 1'000'000 + 10'000);

class SandboxOf : public testing::TestWithParam<const char*> {
  public:
    SandboxOf()
        : tree_(ConfigTree::parse_text(kNetwork, "network")),
          topology_(read_topology(tree_.root())),
          info_(*backends().find(GetParam())) {}

  protected:
    Duration ring(Sandbox& sandbox) const {
        return sandbox.time(ring_all_reduce(), {0, 1, 2, 3}, {4'000}, {}, {{10'000}, {}});
    }
    ConfigTree tree_;
    Topology topology_;
    const BackendInfo& info_;
};

// The second answer is that of the first: what was asked before has left nothing behind, and the
// clock has gone on.
TEST_P(SandboxOf, TimesAProgramAlone) {
    Sandbox sandbox(topology_, info_, tree_.root());
    EXPECT_EQ(ring(sandbox).ps, kRingPs);
    EXPECT_EQ(ring(sandbox).ps, kRingPs);
    EXPECT_EQ(sandbox.queue().now().ps, 2 * kRingPs);
}

// Shared routes: a link that goes down in one network is missing in the sandbox that follows, where
// a message to the next rank goes round by three links.
TEST_P(SandboxOf, SharesRoutes) {
    Routing routing(topology_, RoutePolicy::DimensionOrder, 1);
    const auto message = [&](Sandbox& sandbox) {
        return sandbox.time([&](Callback finished) {
            sandbox.backend().send(
                {RankId{0}, RankId{1}, Bytes{}}, sandbox.queue().now(), finished);
        });
    };
    Sandbox before(routing, info_, tree_.root());
    EXPECT_EQ(message(before).ps, 1'000'000U);
    routing.set_up(LinkId{routing.next_links(0, 1).front()}, false);
    Sandbox after(routing, info_, tree_.root());
    EXPECT_EQ(message(after).ps, 3'000'000U);
}

// The last of several calls counts; without one no time has passed.
TEST_P(SandboxOf, TimesWhatIsStarted) {
    Sandbox sandbox(topology_, info_, tree_.root());
    const Duration time = sandbox.time([&](Callback finished) {
        sandbox.queue().schedule_after({700}, finished);
        sandbox.queue().schedule_after({300}, finished);
    });
    EXPECT_EQ(time.ps, 700U);
    EXPECT_EQ(sandbox.time([](Callback) {}).ps, 0U);
}

INSTANTIATE_TEST_SUITE_P(Backends,
                         SandboxOf,
                         testing::Values("congestion_unaware", "congestion_aware", "flow"),
                         [](const auto& of) { return std::string(of.param); });

}  // namespace
}  // namespace astra::test
