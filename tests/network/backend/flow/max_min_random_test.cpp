// Random constraints, flows and changes: every rate, load, remaining work and completion time
// against the model in max_min_mirror.h, after every solve.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/backend/flow/max_min_mirror.h"

namespace astra {
namespace {

struct Mix {
    std::uint64_t seeds = 0;
    std::uint64_t constraints = 0;
    std::uint64_t most_flows = 0;
    std::uint64_t capacity = 0;  // up to
    bool caps = false;
    bool parts = false;      // weights other than 1
    bool bipartite = false;  // two constraints a flow, as up and down a switch
    std::uint64_t steps = 40;
};

class Play {
  public:
    Play(const Mix& mix, std::uint64_t seed) : mix_(mix), random_(seed) {
        const std::uint64_t count = 1 + draw(mix.constraints);
        for (std::uint64_t k = 0; k < count + (mix.bipartite ? 1 : 0); ++k) {
            mirror_.add_constraint(1 + draw(mix.capacity), mix.caps && draw(3) == 0);
        }
    }

    // Only removals of one, only completions, or anything at once.
    void step() {
        const std::uint64_t kind = draw(6);
        if (kind == 0 && mirror_.tags().size() < mix_.most_flows) {
            add(1 + draw(mix_.most_flows));
        } else if (kind == 1) {
            remove();
        } else if (kind == 2) {
            mirror_.set_capacity(draw(mirror_.constraints()), 1 + draw(mix_.capacity));
        } else if (kind == 3) {
            mirror_.advance(mirror_.now_ps() + draw(1'000'000));
            mirror_.pop_completed();
            add(draw(3));
            remove();
        } else if (mirror_.next_completion_ps() != kMaxPs) {
            mirror_.advance(mirror_.next_completion_ps());
            EXPECT_FALSE(mirror_.pop_completed().empty());
        }
        mirror_.solve();
        mirror_.check();
    }
    const MaxMinMirror& mirror() const { return mirror_; }

  private:
    std::uint64_t draw(std::uint64_t below) { return random_() % below; }

    void add(std::uint64_t count) {
        for (std::uint64_t k = 0; k < count; ++k) {
            std::vector<MaxMinMirror::Part> parts;
            const std::uint64_t constraints = mirror_.constraints();
            if (mix_.bipartite) {
                const std::uint64_t half = constraints / 2;
                parts.push_back({draw(half)});
                parts.push_back({half + draw(constraints - half)});
            } else {
                std::uint64_t next = draw(constraints);
                while (next < constraints && parts.size() < 5) {
                    const auto sixteenths = static_cast<std::int64_t>(1 + draw(16));
                    parts.push_back({next, mix_.parts ? sixteenths : 16});
                    next += 1 + draw(constraints);
                }
            }
            mirror_.add_flow(parts, draw(4) == 0 ? 5 * MaxMin::kWorkABit : draw(1 << 20) * 977);
        }
    }
    void remove() {
        const std::vector<std::uint64_t> tags = mirror_.tags();
        if (!tags.empty()) {
            mirror_.remove_flow(tags[draw(tags.size())]);
        }
    }

    Mix mix_;
    std::mt19937_64 random_;
    MaxMinMirror mirror_;
};

void play(const Mix& mix) {
    for (std::uint64_t seed = 0; seed < mix.seeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        Play one(mix, seed);
        for (std::uint64_t step = 0; step < mix.steps; ++step) {
            one.step();
            if (::testing::Test::HasFailure()) {
                FAIL() << "step " << step;
            }
        }
    }
}

// Capacities of a few bit/s: what rounding leaves is as large as the rates, levels tie all the
// time, and flows at the least rate overload constraints.
TEST(MaxMinRandomTest, FewBits) {
    play({1000, 8, 12, 60});
    play({300, 8, 12, 12});
}

TEST(MaxMinRandomTest, NarrowLevels) {
    play({600, 10, 30, 1000});
}

TEST(MaxMinRandomTest, RealRates) {
    play({400, 12, 30, 400'000'000'000});
}

TEST(MaxMinRandomTest, Caps) {
    play({600, 8, 16, 100, true});
    play({200, 8, 16, 100'000'000'000, true});
}

TEST(MaxMinRandomTest, Weights) {
    play({600, 8, 16, 200, true, true});
    play({200, 8, 16, 100'000'000'000, false, true});
}

TEST(MaxMinRandomTest, SwitchOfFewBits) {
    play({400, 12, 40, 300, false, false, true});
}

TEST(MaxMinRandomTest, Switch) {
    play({200, 16, 60, 400'000'000'000, false, false, true});
}

// The rates of filling in real numbers, nothing rounded.
std::vector<long double> real_rates(const std::vector<long double>& capacities,
                                    const std::vector<std::vector<double>>& weights) {
    std::vector<long double> rates(weights.size(), -1);
    for (;;) {
        long double least = std::numeric_limits<long double>::infinity();
        std::size_t full = capacities.size();
        for (std::size_t k = 0; k < capacities.size(); ++k) {
            long double residual = capacities[k];
            long double weight = 0;
            for (std::size_t flow = 0; flow < weights.size(); ++flow) {
                residual -= rates[flow] < 0 ? 0 : rates[flow] * weights[flow][k];
                weight += rates[flow] < 0 ? weights[flow][k] : 0;
            }
            if (weight > 0 && residual / weight < least) {
                least = residual / weight;
                full = k;
            }
        }
        if (full == capacities.size()) {
            return rates;
        }
        for (std::size_t flow = 0; flow < weights.size(); ++flow) {
            if (rates[flow] < 0 && weights[flow][full] > 0) {
                rates[flow] = least;
            }
        }
    }
}

// Any weights from 1/10 to 1, at 10 to 400 Gb/s. A weight is off by up to 2^-33, a 10^-9th of the
// least, and a rate by that much times the levels below it, at most 8: 10^-8 of it; or as many
// bit/s as there are flows.
TEST(MaxMinRandomTest, AnyWeights) {
    std::mt19937_64 random(7);
    const auto real = [&random](double least, double most) {
        return std::uniform_real_distribution<double>(least, most)(random);
    };
    for (int round = 0; round < 300; ++round) {
        MaxMin solver;
        std::vector<long double> capacities;
        std::vector<MaxMin::ConstraintId> ids;
        for (int k = 0; k < 8; ++k) {
            const auto capacity = static_cast<std::uint64_t>(real(1e10, 4e11));
            capacities.push_back(static_cast<long double>(capacity));
            ids.push_back(solver.add_constraint({capacity}));
        }
        std::vector<std::vector<double>> weights;
        std::vector<MaxMin::FlowId> flows;
        for (int step = 0; step < 30; ++step) {
            if (flows.size() > 4 && random() % 3 == 0) {
                const auto victim = static_cast<std::ptrdiff_t>(random() % flows.size());
                solver.remove_flow(flows[static_cast<std::size_t>(victim)]);
                flows.erase(flows.begin() + victim);
                weights.erase(weights.begin() + victim);
            } else {
                std::vector<MaxMin::Use> uses;
                weights.emplace_back(ids.size());
                for (std::size_t k = random() % 4; k < ids.size(); k += 1 + random() % 4) {
                    weights.back()[k] = random() % 2 == 0 ? real(0.1, 1) : 1.0 / 3;
                    uses.push_back({ids[k], weights.back()[k]});
                }
                flows.push_back(solver.add_flow(uses, MaxMin::kMostWork, 0));
            }
            solver.solve({0});
            const std::vector<long double> expected = real_rates(capacities, weights);
            for (std::size_t flow = 0; flow < flows.size(); ++flow) {
                const auto rate = static_cast<double>(expected[flow]);
                ASSERT_NEAR(static_cast<double>(solver.rate(flows[flow]).bits_per_s),
                            rate,
                            30 + rate * 1e-8)
                    << "round " << round << ", step " << step << ", flow " << flow;
            }
        }
    }
}

// The same play twice: the same choices, in particular of bottlenecks among equals.
TEST(MaxMinRandomTest, SameEveryRun) {
    const auto choices = [] {
        std::vector<std::uint64_t> record;
        Play play({1, 8, 16, 60, true, true}, 3);
        for (int step = 0; step < 100; ++step) {
            play.step();
            for (const std::uint64_t tag : play.mirror().tags()) {
                const MaxMin& solver = play.mirror().solver();
                record.push_back(
                    static_cast<std::uint64_t>(solver.bottleneck(play.mirror().id(tag))));
            }
            record.push_back(play.mirror().solver().visited_flows());
        }
        return record;
    };
    EXPECT_EQ(choices(), choices());
}

}  // namespace
}  // namespace astra
