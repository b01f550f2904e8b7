// Orders that all ranks can follow, and circles.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gmock/gmock.h>

#include "astra/core/error.h"
#include "tests/workload/order/order_workloads.h"

namespace astra::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TraceNode reduce(std::uint64_t id,
                 const std::string& group,
                 std::vector<std::uint64_t> parents = {},
                 std::uint64_t bytes = 4096) {
    return collective(id, CollectiveKind::AllReduce, bytes, std::move(parents), group);
}

TEST(MergedOrder, IsThatOfTheProgramsWhereTheseCanGoOn) {
    const OrderOf order({{reduce(1, ""), send(2, 0, 1, 0, 8, {1}), reduce(3, "")},
                         {reduce(1, ""), receive(2, 0, 1, 0, 8), reduce(3, "")}});
    EXPECT_THAT(order->communication(0), ElementsAre(0, 1, 2));
}

// Rank 0 lists a before b, rank 1 b before a: one of both goes first on both.
TEST(MergedOrder, IsOneForAllWhereProgramsDiffer) {
    const Groups groups = {{"a", {0, 1}}, {"b", {0, 1}}};
    const OrderOf order({{reduce(1, "a"), reduce(2, "b")}, {reduce(1, "b"), reduce(2, "a")}},
                        groups);
    const auto& first = order->communication(0);
    const auto& second = order->communication(1);
    EXPECT_NE(first == std::vector<std::uint32_t>({0, 1}),
              second == std::vector<std::uint32_t>({0, 1}));
}

TEST(MergedOrder, TwoGroupsCrossed) {
    const Groups groups = {{"a", {0, 1}}, {"b", {0, 1}}};
    const std::string error = refusal<SimulationError>(
        {{reduce(1, "a"), reduce(2, "b", {1})}, {reduce(3, "b"), reduce(4, "a", {3})}}, groups);
    EXPECT_THAT(error,
                AllOf(HasSubstr("deadlock"),
                      HasSubstr("rank 0: node 2"),
                      HasSubstr("comes after node 1"),
                      HasSubstr("rank 1: node 4"),
                      HasSubstr("comes after node 3"),
                      HasSubstr("group 'a', collective 0 (all_reduce of 4096 B): arrived: ranks 0; "
                                "missing: ranks 1"),
                      HasSubstr("group 'b', collective 0 (all_reduce of 4096 B): arrived: ranks 1; "
                                "missing: ranks 0")));
}

// 0 waits in a for 1, 1 in b for 2, 2 in c for 0; a computation lies between.
TEST(MergedOrder, ThreeRanksAndThreeGroupsCrossed) {
    const Groups groups = {{"a", {0, 1}}, {"b", {1, 2}}, {"c", {2, 0}}};
    const auto trace = [](const char* first, const char* second) {
        return Trace{reduce(1, first), compute(2, 5, {1}), reduce(3, second, {2})};
    };
    const std::string error =
        refusal<SimulationError>({trace("a", "c"), trace("b", "a"), trace("c", "b")}, groups);
    for (const char* part : {"3 ranks",
                             "rank 0: node 3",
                             "rank 1: node 3",
                             "rank 2: node 3",
                             "group 'a'",
                             "group 'b'",
                             "group 'c'"}) {
        EXPECT_THAT(error, HasSubstr(part));
    }
}

// A group whose ranks take its collectives in contrary order: they disagree.
TEST(MergedOrder, OneGroupInContraryOrder) {
    const std::string error =
        refusal<InputError>({{reduce(1, "", {}, 10), reduce(2, "", {1}, 20)},
                             {reduce(1, "", {}, 20), reduce(2, "", {1}, 10)}});
    EXPECT_THAT(error, HasSubstr("disagree about the order"));
}

// Both receive before they send: a circle in any case. Both send before they receive: only under
// rendezvous, where a send waits for its receive.
TEST(MergedOrder, MessagesCrossed) {
    const std::vector<Trace> receiving = {{receive(1, 1, 0, 0, 8), send(2, 0, 1, 0, 8, {1})},
                                          {receive(1, 0, 1, 0, 8), send(2, 1, 0, 0, 8, {1})}};
    const std::vector<Trace> sending = {{send(1, 0, 1, 0, 8), receive(2, 1, 0, 0, 8, {1})},
                                        {send(1, 1, 0, 0, 8), receive(2, 0, 1, 0, 8, {1})}};
    for (const bool rendezvous : {false, true}) {
        EXPECT_THAT(refusal<SimulationError>(receiving, {}, rendezvous),
                    AllOf(HasSubstr("rank 0: node 2"), HasSubstr("receive of 8 B from rank 1")));
    }
    EXPECT_EQ(refusal<Error>(sending), "");
    EXPECT_THAT(refusal<SimulationError>(sending, {}, true), HasSubstr("send of 8 B to rank 1"));
}

// What a rank never does is left to the report of the run.
TEST(MergedOrder, WhatNeverComesIsNoCircle) {
    EXPECT_EQ(refusal<Error>({{receive(1, 1, 0, 0, 8), reduce(2, "", {1})}, {reduce(2, "")}}), "");
    EXPECT_EQ(refusal<Error>({{reduce(1, ""), reduce(2, "", {1})}, {reduce(1, "")}}), "");
    EXPECT_EQ(refusal<Error>({{reduce(1, "")}, {compute(1, 1)}}), "");
}

// Random sets of collectives and messages with random dependencies. No two collectives have one
// size and no two messages one tag, so that the pairs are known; the order in which the ids run is
// random.
class RandomSet {
  public:
    explicit RandomSet(std::uint64_t seed) : random_(seed) {
        ranks_ = pick(2, 5);
        traces_.resize(ranks_);
        edges_.resize(ranks_);
        const std::uint32_t events = pick(2, 12);
        for (std::uint32_t event = 0; event < events; ++event) {
            add_event(event);
        }
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            add_dependencies(rank);
        }
    }

    const std::vector<Trace>& traces() const { return traces_; }
    const Groups& groups() const { return groups_; }

    // Whether the events, as nodes, have a topological order. Apart from the code under test: the
    // reachability of every pair. Eager sends come apart from their receives.
    bool has_circle() const {
        std::set<std::pair<std::uint32_t, std::uint32_t>> reach(all_.begin(), all_.end());
        for (bool grown = true; grown;) {
            grown = false;
            for (const auto& [a, b] : reach) {
                for (const auto& [c, d] : all_) {
                    grown = (b == c && reach.emplace(a, d).second) || grown;
                }
            }
        }
        return std::any_of(
            reach.begin(), reach.end(), [](const auto& edge) { return edge.first == edge.second; });
    }

  private:
    std::uint32_t pick(std::uint64_t least, std::uint64_t most) {
        return static_cast<std::uint32_t>(least + random_() % (most - least + 1));
    }
    void add(std::uint32_t rank, TraceNode node, std::uint32_t event) {
        traces_[rank].push_back(std::move(node));
        edges_[rank].push_back(event);
    }
    void add_event(std::uint32_t event) {
        if (pick(0, 2) == 0) {
            const std::uint32_t from = pick(0, ranks_ - 1);
            const std::uint32_t to = (from + pick(1, ranks_ - 1)) % ranks_;
            add(from, send(0, from, to, event, 8), 2 * event);
            add(to, receive(0, from, to, event, 8), 2 * event + 1);
            all_.emplace(2 * event, 2 * event + 1);
            return;
        }
        const std::uint32_t one = pick(0, ranks_ - 1);
        const std::uint32_t other = (one + pick(1, ranks_ - 1)) % ranks_;
        std::vector<std::uint32_t> members = {std::min(one, other), std::max(one, other)};
        std::string name = "g" + std::to_string(members[0]) + "_" + std::to_string(members[1]);
        if (pick(0, 2) == 0) {
            members.resize(ranks_);
            std::iota(members.begin(), members.end(), 0U);
            name = "all";
        }
        groups_[name] = members;
        for (const std::uint32_t rank : members) {
            add(rank, reduce(0, name, {}, 100 + event), 2 * event);
        }
    }
    // Ids run as the shuffled ops; each depends on some of those before it.
    void add_dependencies(std::uint32_t rank) {
        std::vector<std::uint32_t> order(traces_[rank].size());
        std::iota(order.begin(), order.end(), 0U);
        for (std::uint32_t swaps = pick(0, 4); swaps > 0 && order.size() > 1; --swaps) {
            std::swap(order[pick(0, order.size() - 1)], order[pick(0, order.size() - 1)]);
        }
        Trace trace;
        std::vector<std::uint32_t> events;
        for (const std::uint32_t i : order) {
            TraceNode node = traces_[rank][i];
            node.id = trace.size() + 1;
            for (std::uint32_t parent = 0; parent < trace.size(); ++parent) {
                if (pick(0, 3) == 0) {
                    node.parents.push_back(parent + 1);
                    all_.emplace(events[parent], edges_[rank][i]);
                }
            }
            trace.push_back(std::move(node));
            events.push_back(edges_[rank][i]);
        }
        traces_[rank] = std::move(trace);
    }

    std::mt19937_64 random_;
    std::uint32_t ranks_ = 0;
    std::vector<Trace> traces_;
    std::vector<std::vector<std::uint32_t>> edges_;  // by rank and node: the event
    std::set<std::pair<std::uint32_t, std::uint32_t>> all_;
    Groups groups_;
};

// The communication of all ranks in the order found: every rank goes through its list, and nobody
// waits for ever.
bool can_follow(const JobOrder& order) {
    Meetings meetings(order.matching(), false);
    const std::uint32_t ranks = order.matching().ranks();
    std::vector<std::size_t> next(ranks);
    std::vector<bool> waits(ranks);
    for (bool moved = true; moved;) {
        moved = false;
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
            if (waits[rank] || next[rank] == order.communication(rank).size()) {
                continue;
            }
            moved = true;
            waits[rank] = true;
            std::vector<RankOp> ended;
            meetings.reach({rank, order.communication(rank)[next[rank]]}, ended);
            for (const RankOp& op : ended) {
                waits[op.rank] = false;
                ++next[op.rank];
            }
        }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        if (next[rank] < order.communication(rank).size()) {
            return false;
        }
    }
    return true;
}

TEST(MergedOrder, RandomSetsHaveAnOrderOrACircle) {
    std::map<bool, int> found;
    for (std::uint64_t seed = 0; seed < 3000; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        const RandomSet set(seed);
        const bool circle = set.has_circle();
        ++found[circle];
        if (circle) {
            ASSERT_NE(refusal<Error>(set.traces(), set.groups()), "");
            continue;
        }
        const OrderOf order(set.traces(), set.groups());
        ASSERT_TRUE(can_follow(*order));
    }
    EXPECT_GT(found[true], 300);
    EXPECT_GT(found[false], 300);
}

}  // namespace
}  // namespace astra::test
