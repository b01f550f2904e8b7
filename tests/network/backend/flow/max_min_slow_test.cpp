// How long many flows take, printed; and that their rates stay those of a solver that starts anew.
// The limits are several times what a core of 2.4 GHz needs, so that only a wrong algorithm fails.
#include <array>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <random>
#include <unordered_map>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/flow/max_min.h"

namespace astra {
namespace {

double cpu_s() {
    return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// Hosts on a switch, every one sending to every other at once.
class AllToAll {
  public:
    explicit AllToAll(std::uint32_t hosts) {
        for (std::uint32_t k = 0; k < hosts; ++k) {
            up_.push_back(solver_.add_constraint({400'000'000'000}));
            down_.push_back(solver_.add_constraint({400'000'000'000}));
        }
    }
    template <typename Size>
    void add(Size size) {
        for (std::uint32_t source = 0; source < up_.size(); ++source) {
            for (std::uint32_t target = 0; target < up_.size(); ++target) {
                if (source != target) {
                    const std::uint64_t tag = source * up_.size() + target;
                    ids_[tag] = solver_.add_flow(uses(tag), MaxMin::work_of(size()), tag);
                }
            }
        }
        solver_.solve({0});
    }
    // Completes what is next; false if all is complete.
    bool step() {
        now_ = solver_.next_completion();
        for (const MaxMin::Completion& completion : solver_.pop_completed(now_)) {
            ids_.erase(completion.tag);
        }
        solver_.solve(now_);
        ++solves_;
        return solver_.flows() > 0;
    }
    // Against a solver that is given the flows that are left.
    void expect_rates_anew() const {
        MaxMin anew;
        for (std::size_t k = 0; k < 2 * up_.size(); ++k) {
            anew.add_constraint({400'000'000'000});
        }
        std::vector<std::array<MaxMin::FlowId, 2>> pairs;
        for (const auto& [tag, id] : ids_) {
            pairs.push_back({id, anew.add_flow(uses(tag), 0, tag)});
        }
        anew.solve({0});
        for (const auto& [ours, theirs] : pairs) {
            ASSERT_EQ(solver_.rate(ours), anew.rate(theirs)) << "after " << solves_ << " solves";
        }
    }
    std::uint64_t solves() const { return solves_; }
    SimTime now() const { return now_; }
    const MaxMin& solver() const { return solver_; }

  private:
    std::array<MaxMin::Use, 2> uses(std::uint64_t tag) const {
        return {{{up_[tag / up_.size()]}, {down_[tag % up_.size()]}}};
    }

    MaxMin solver_;
    std::vector<MaxMin::ConstraintId> up_;
    std::vector<MaxMin::ConstraintId> down_;
    std::unordered_map<std::uint64_t, MaxMin::FlowId> ids_;  // of what is left
    std::uint64_t solves_ = 0;
    SimTime now_;
};

// Sizes of 128 KiB to 384 KiB.
class Sizes {
  public:
    Bytes operator()() { return {(128U << 10) + random_() % (256U << 10)}; }

  private:
    std::mt19937_64 random_{1};
};

void report(const char* what, const MaxMin& solver, std::uint64_t solves, double seconds) {
    std::printf("%s: %.3f s, %llu solves, %.0f visits of flows a solve\n",
                what,
                seconds,
                static_cast<unsigned long long>(solves),
                static_cast<double>(solver.visited_flows()) / static_cast<double>(solves));
}

void random_sizes(std::uint32_t hosts, double limit_s) {
    const double start_s = cpu_s();
    AllToAll all(hosts);
    all.add(Sizes{});
    while (all.step()) {
    }
    const double seconds = cpu_s() - start_s;
    report("all-to-all of random sizes", all.solver(), all.solves(), seconds);
    EXPECT_LT(seconds, limit_s);
}

TEST(MaxMinSlowTest, AllToAllOf64) {
    random_sizes(64, 1);
}

TEST(MaxMinSlowTest, AllToAllOf256) {
    random_sizes(256, 60);
}

TEST(MaxMinSlowTest, RatesStayThoseOfFillingAnew) {
    AllToAll all(64);
    all.add(Sizes{});
    do {
        if (all.solves() % 16 == 0) {
            all.expect_rates_anew();
        }
    } while (!HasFatalFailure() && all.step());
}

// 255 flows of 256 KiB a port: floor(400·10^9 / 255) = 1,568,627,450 bit/s, so 2^21·10^12 /
// 1,568,627,450 = 1,336,934,400.4 ps, up. All at once.
TEST(MaxMinSlowTest, EqualFlowsTakeOneSolve) {
    const double start_s = cpu_s();
    AllToAll all(256);
    all.add([] { return Bytes{256U << 10}; });
    EXPECT_FALSE(all.step());
    const double seconds = cpu_s() - start_s;
    report("65,280 equal flows", all.solver(), all.solves(), seconds);
    EXPECT_EQ(all.now().ps, 1'336'934'401U);
    EXPECT_LT(seconds, 1);
}

// A flow on two constraints of its own: nothing else is looked at when it completes.
TEST(MaxMinSlowTest, PairsApart) {
    MaxMin solver;
    Sizes size;
    for (std::uint64_t k = 0; k < 1024; ++k) {
        const std::array<MaxMin::Use, 2> uses = {{{solver.add_constraint({400'000'000'000})},
                                                  {solver.add_constraint({400'000'000'000})}}};
        solver.add_flow(uses, MaxMin::work_of(size()), k);
    }
    solver.solve({0});
    const std::uint64_t visited = solver.visited_flows();
    const double start_s = cpu_s();
    std::uint64_t solves = 0;
    while (solver.flows() > 0) {
        const SimTime now = solver.next_completion();
        solver.pop_completed(now);
        solver.solve(now);
        ++solves;
    }
    const double seconds = cpu_s() - start_s;
    report("1024 flows apart", solver, solves, seconds);
    EXPECT_EQ(solver.visited_flows(), visited);
    EXPECT_LT(seconds / static_cast<double>(solves), 20e-6);
}

}  // namespace
}  // namespace astra
