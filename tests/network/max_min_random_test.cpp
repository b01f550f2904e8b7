// Random constraints, flows and changes: every rate, load, remaining work and completion time
// against the model in max_min_mirror.h, after every solve.
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/network/max_min_mirror.h"

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

}  // namespace
}  // namespace astra
