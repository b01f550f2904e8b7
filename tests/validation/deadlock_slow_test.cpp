// With one queue for the way up and the way down of an all-reduce over three dimensions, ranks that
// come at different times fill their places with chunks in different orders and wait for each other
// for ever. The engine lets chunks pass, so that every run finishes; without that some of the same
// runs do not.
#include <array>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "system/engine/chunk_order.h"
#include "system/engine/collective_engine.h"
#include "system/plan/dimension_order.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/network/test_network.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kRuns = 1000;

struct Scenario {
    std::array<std::uint32_t, 3> sizes{};
    EngineConfig config;
    std::vector<std::uint64_t> arrivals_us;  // by rank
    std::uint32_t collectives = 1;
    std::uint32_t streams = 1;
};

Scenario make_scenario(std::uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto pick = [&](std::uint64_t least, std::uint64_t most) {
        return static_cast<std::uint32_t>(least + random() % (most - least + 1));
    };
    constexpr std::array<std::array<std::uint32_t, 3>, 5> sizes = {
        {{4, 4, 4}, {2, 2, 2}, {4, 2, 2}, {3, 3, 3}, {2, 4, 3}}};
    Scenario scenario;
    scenario.sizes = sizes[pick(0, sizes.size() - 1)];
    scenario.config.endpoint.delay = {10'000};
    scenario.config.queues.patience = {1'000'000};
    scenario.config.endpoint.memory = {1600ULL * 8'000'000'000ULL};
    scenario.config.plan.chunks = pick(1, 8);
    scenario.config.queues.active_chunks = pick(1, 2);
    scenario.config.queues.scheduling = std::array{QueueConfig::Scheduling::Fifo,
                                                   QueueConfig::Scheduling::Fifo,
                                                   QueueConfig::Scheduling::Lifo,
                                                   QueueConfig::Scheduling::Priority}[pick(0, 3)];
    scenario.config.plan.algorithms.set(CollectiveKind::AllReduce,
                                        {{parse_algorithm("ring")}, "test"});
    scenario.collectives = pick(1, 2);
    scenario.streams = pick(1, 2);
    const std::uint32_t ranks = std::accumulate(
        scenario.sizes.begin(), scenario.sizes.end(), 1U, std::multiplies<std::uint32_t>());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        scenario.arrivals_us.push_back(pick(1, 60));
    }
    scenario.config.plan.dimension_order =
        &dimension_orders()[pick(0, static_cast<std::uint32_t>(dimension_orders().size() - 1))];
    scenario.config.queues.chunk_order = {
        &chunk_orders()[pick(0, static_cast<std::uint32_t>(chunk_orders().size() - 1))]};
    return scenario;
}

// Every rank comes at its time and runs its collectives, as many at once as it has streams.
class Driver {
  public:
    Driver(const Scenario& scenario, bool pass_younger)
        : scenario_(scenario),
          topology_(build(
              {shape(scenario.sizes[0]), shape(scenario.sizes[1]), shape(scenario.sizes[2])})),
          routing_(topology_, RoutePolicy::DimensionOrder, 1),
          network_(backends().find("congestion_unaware")->build(queue_, routing_, no_keys_.root())),
          engine_(queue_,
                  *network_,
                  routing_,
                  *backends().find("congestion_unaware"),
                  no_keys_.root(),
                  scenario_.config,
                  warnings_,
                  {.pass_younger = pass_younger}) {
        std::vector<std::uint32_t> all(topology_.ranks());
        std::iota(all.begin(), all.end(), 0U);
        group_ = engine_.add_group("all", all);
        issued_.resize(all.size());
        done_.resize(all.size());
    }

    // The number of ranks that finish.
    std::size_t run() {
        for (std::uint32_t rank = 0; rank < topology_.ranks(); ++rank) {
            queue_.schedule_at({scenario_.arrivals_us[rank] * 1'000'000},
                               Callback::to<&Driver::come>(*this, rank));
        }
        queue_.run();
        std::size_t finished = 0;
        for (const std::uint32_t done : done_) {
            finished += done == scenario_.collectives ? 1 : 0;
        }
        return finished;
    }
    std::size_t ranks() const { return done_.size(); }
    std::uint64_t passed() const { return engine_.passed(); }

  private:
    static Shape shape(std::uint32_t size) { return {"ring", size, gib_a_second(50), 500'000}; }

    void come(std::uint64_t rank) {
        while (issued_[rank] < scenario_.collectives &&
               issued_[rank] - done_[rank] < scenario_.streams) {
            CollectiveRequest request;
            request.kind = CollectiveKind::AllReduce;
            request.bytes = kMiB;
            request.priority = issued_[rank];
            request.sequence = issued_[rank];
            ++issued_[rank];
            engine_.join(group_,
                         static_cast<std::uint32_t>(rank),
                         request,
                         Callback::to<&Driver::finish>(*this, rank));
        }
    }
    void finish(std::uint64_t rank) {
        ++done_[rank];
        come(rank);
    }

    const Scenario& scenario_;
    EventQueue queue_;
    Warnings warnings_;
    ConfigTree no_keys_ = ConfigTree::empty_map("test");
    Topology topology_;
    Routing routing_;
    std::unique_ptr<NetworkBackend> network_;
    CollectiveEngine engine_;
    GroupId group_{};
    std::vector<std::uint32_t> issued_;
    std::vector<std::uint32_t> done_;
};

TEST(Deadlock, NoneWhileChunksMayPass) {
    std::uint64_t passed = 0;
    for (std::uint64_t seed = 0; seed < kRuns; ++seed) {
        const Scenario scenario = make_scenario(seed);
        Driver driver(scenario, true);
        ASSERT_EQ(driver.run(), driver.ranks()) << "seed " << seed;
        passed += driver.passed();
    }
    EXPECT_GT(passed, 0U) << "no run needed it";
}

TEST(Deadlock, SomeWithoutPassing) {
    std::uint64_t stuck = 0;
    for (std::uint64_t seed = 0; seed < kRuns && stuck == 0; ++seed) {
        const Scenario scenario = make_scenario(seed);
        Driver driver(scenario, false);
        stuck += driver.run() < driver.ranks() ? 1 : 0;
    }
    EXPECT_GT(stuck, 0U);
}

// Ranks that come together do not pass in these runs, in which all chunks take one order.
TEST(Deadlock, RanksInStepDoNotPass) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Scenario scenario = make_scenario(seed);
        scenario.arrivals_us.assign(scenario.arrivals_us.size(), 1);
        scenario.config.plan.dimension_order = &kAscendingDimensionOrder;
        scenario.config.queues.chunk_order = {&kPriorityChunkOrder};
        Driver driver(scenario, true);
        EXPECT_EQ(driver.run(), driver.ranks()) << "seed " << seed;
        EXPECT_EQ(driver.passed(), 0U) << "seed " << seed;
    }
}

}  // namespace
}  // namespace astra::test
