// Random small experiments, all from seeds: every run finishes, its times add up, its bytes are
// those of the algorithms.
#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/backend.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    Experiment make() {
        choose_network();
        choose_system();
        choose_groups();
        experiment_.traces.resize(experiment_.ranks());
        const std::uint64_t steps = pick(1, 8);
        for (std::uint64_t step = 0; step < steps; ++step) {
            switch (pick(0, 3)) {
                case 0:
                    add_message();
                    break;
                case 1:
                    add_computation();
                    break;
                default:
                    add_collective();
                    break;
            }
        }
        return experiment_;
    }
    std::uint64_t bytes() const { return bytes_; }

  private:
    std::uint64_t pick(std::uint64_t least, std::uint64_t most) {
        return least + random_() % (most - least + 1);
    }

    void choose_network() {
        constexpr std::array kinds = {"Ring", "Switch", "FullyConnected"};
        experiment_.dimensions.resize(pick(1, 3));
        for (NetworkDimension& dimension : experiment_.dimensions) {
            dimension.topology = kinds[pick(0, 2)];
            dimension.ranks = static_cast<std::uint32_t>(pick(2, 4));
            dimension.bandwidth = pick(1, 400);
            dimension.latency_ps = pick(0, 3'000'000);
        }
    }
    void choose_system() {
        const bool powers =
            std::all_of(experiment_.dimensions.begin(),
                        experiment_.dimensions.end(),
                        [](const NetworkDimension& dimension) { return dimension.ranks != 3; });
        constexpr std::array names = {"ring", "direct", "direct2", "halvingDoubling"};
        experiment_.algorithms.clear();
        for (std::size_t k = 0; k < experiment_.dimensions.size(); ++k) {
            experiment_.algorithms.emplace_back(names[pick(0, powers ? 3 : 2)]);
        }
        experiment_.chunks = static_cast<std::uint32_t>(pick(1, 5));
        experiment_.active_chunks = static_cast<std::uint32_t>(pick(1, 4));
        experiment_.endpoint_delay_ns = pick(0, 100);
        experiment_.memory_bandwidth = pick(0, 2000);
        experiment_.queues = static_cast<std::uint32_t>(pick(1, 3));
        experiment_.scheduling = pick(0, 1) == 0 ? "LIFO" : "FIFO";
    }
    // The ranks in random order, cut in two. Sizes that halvingDoubling refuses stay away from it.
    void choose_groups() {
        std::vector<std::uint32_t> order(experiment_.ranks());
        std::iota(order.begin(), order.end(), 0U);
        std::shuffle(order.begin(), order.end(), random_);
        const auto cut = static_cast<std::ptrdiff_t>(pick(1, order.size() - 1));
        experiment_.groups["left"] = {order.begin(), order.begin() + cut};
        experiment_.groups["right"] = {order.begin() + cut, order.end()};
    }

    void add(std::uint32_t rank, TraceNode node) {
        Trace& trace = experiment_.traces[rank];
        node.id = trace.size() + 1;
        if (!trace.empty()) {
            node.parents = {trace.size()};
        }
        trace.push_back(std::move(node));
    }
    void add_message() {
        const auto ranks = experiment_.ranks();
        const auto from = static_cast<std::uint32_t>(pick(0, ranks - 1));
        const auto to = static_cast<std::uint32_t>((from + pick(1, ranks - 1)) % ranks);
        const std::uint64_t size = pick(0, 100'000);
        add(from, send(0, from, to, tag_, size));
        add(to, receive(0, from, to, tag_, size));
        ++tag_;
        bytes_ += size;
    }
    void add_computation() {
        for (std::uint32_t rank = 0; rank < experiment_.ranks(); ++rank) {
            add(rank, compute(0, pick(0, 40)));
        }
    }
    void add_collective() {
        constexpr std::array kinds = {
            CollectiveKind::AllReduce, CollectiveKind::ReduceScatter, CollectiveKind::AllGather};
        const std::uint64_t size = pick(0, 300'000);
        const bool halves = std::find(experiment_.algorithms.begin(),
                                      experiment_.algorithms.end(),
                                      "halvingDoubling") != experiment_.algorithms.end();
        const std::array<std::string, 3> names = {"", "left", "right"};
        const std::string& name = names[pick(0, 2)];
        const CollectiveKind kind = kinds[halves && !name.empty() ? 0 : pick(0, 2)];
        std::vector<std::uint32_t> ranks(experiment_.ranks());
        std::iota(ranks.begin(), ranks.end(), 0U);
        if (!name.empty()) {
            ranks = experiment_.groups[name];
        }
        for (const std::uint32_t rank : ranks) {
            add(rank, collective(0, kind, size, {}, name));
        }
        const std::uint64_t n = ranks.size();
        bytes_ += (n - 1) * bytes_a_step(kind, size, n);
    }
    // All members together move n - 1 times 2·S, S, or the n shards of an all-gather; an all-reduce
    // that folds, 2(p-1)·S among p members and 2·S for each other, too.
    static std::uint64_t bytes_a_step(CollectiveKind kind, std::uint64_t size, std::uint64_t n) {
        switch (kind) {
            case CollectiveKind::AllReduce:
                return 2 * size;
            case CollectiveKind::AllGather:
                return n * size;
            default:
                return size;
        }
    }

    std::mt19937_64 random_;
    Experiment experiment_;
    std::uint32_t tag_ = 0;
    std::uint64_t bytes_ = 0;
};

void expect_times_to_add_up(const RunResult& result, std::uint32_t ranks) {
    ASSERT_EQ(result.ranks.size(), ranks);
    for (const RankRecord& rank : result.ranks) {
        EXPECT_EQ(rank.compute.ps + rank.exposed_communication.ps + rank.waiting.ps +
                      rank.exposed_memory.ps + rank.idle.ps,
                  rank.finish.ps);
        EXPECT_LE(rank.exposed_communication.ps + rank.waiting.ps, rank.communication.ps);
        EXPECT_LE(rank.finish, result.simulated);
    }
}

// The backends that move a message as a whole, on one path.
std::vector<const BackendInfo*> whole_messages() {
    std::vector<const BackendInfo*> chosen;
    for (const BackendInfo* backend : backends()) {
        if (backend->contention == Contention::None || backend->contention == Contention::Message) {
            chosen.push_back(backend);
        }
    }
    return chosen;
}

TEST(RandomExperiments, FinishAndAddUp) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Maker maker(seed);
        Experiment experiment = maker.make();
        std::vector<RunResult> results;
        for (const BackendInfo* backend : whole_messages()) {
            SCOPED_TRACE(backend->name);
            experiment.backend = backend->name;
            ASSERT_NO_THROW(results.push_back(run(experiment)));
            const RunResult& first = results.front();
            const RunResult& result = results.back();
            expect_times_to_add_up(result, experiment.ranks());
            EXPECT_EQ(result.counts.message_bytes, maker.bytes());
            EXPECT_EQ(result.counts.messages, first.counts.messages);
            ASSERT_EQ(result.links.size(), first.links.size());
            for (std::size_t link = 0; link < result.links.size(); ++link) {
                EXPECT_EQ(result.links[link].bytes, first.links[link].bytes);
                if (backend->shares_links()) {
                    EXPECT_LE(result.links[link].busy.ps, result.simulated.ps);
                }
            }
        }
        if (testing::Test::HasFailure()) {
            return;
        }
    }
}

}  // namespace
}  // namespace astra::test
