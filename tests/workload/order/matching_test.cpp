// Which collectives and messages belong together, from the traces alone.
#include <gmock/gmock.h>

#include "astra/core/error.h"
#include "tests/workload/order/order_workloads.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kSize = 4096;

TraceNode reduce(std::uint64_t id,
                 std::string name,
                 std::uint64_t bytes = kSize,
                 std::vector<std::uint64_t> parents = {},
                 std::string group = "") {
    return named(collective(id, CollectiveKind::AllReduce, bytes, std::move(parents), group),
                 std::move(name));
}

// The k-th in the order of the program to the k-th, whatever the ids.
TEST(Matching, CollectivesOfOneKindByTheOrderOfPrograms) {
    const OrderOf order({{reduce(1, "x"), reduce(5, "x"), reduce(9, "x")},
                         {reduce(2, "y"), reduce(3, "y"), reduce(4, "y")}});
    EXPECT_THAT(order.numbers(0, {1, 5, 9}), ElementsAre(0, 1, 2));
    EXPECT_THAT(order.numbers(1, {2, 3, 4}), ElementsAre(0, 1, 2));
    EXPECT_TRUE(order.warnings().empty());
}

// Node 1 of rank 1 comes after node 7: its program is 7, 1, 8.
TEST(Matching, TheOrderOfAProgramIsThatOfItsDependencies) {
    const OrderOf order({{reduce(1, "x"), reduce(5, "x"), reduce(9, "x")},
                         {reduce(1, "x", kSize, {7}), reduce(7, "x"), reduce(8, "x")}});
    EXPECT_THAT(order.numbers(1, {7, 1, 8}), ElementsAre(0, 1, 2));
    EXPECT_TRUE(order.warnings().empty());
}

TEST(Matching, WhatAsksForTheSameWhereOrdersDiffer) {
    const OrderOf order({{reduce(1, "a", 10), reduce(2, "b", 20), reduce(3, "c", 10)},
                         {reduce(1, "d", 20), reduce(2, "e", 10), reduce(3, "f", 10)}});
    EXPECT_THAT(order.numbers(0, {1, 2, 3}), ElementsAre(0, 1, 2));
    EXPECT_THAT(order.numbers(1, {1, 2, 3}), ElementsAre(1, 0, 2));
    ASSERT_EQ(order.warnings().size(), 1U);
    EXPECT_THAT(order.warnings().front(), HasSubstr("different order"));
    EXPECT_THAT(order.warnings().front(), HasSubstr("rank 1: node 1 (d)"));
}

TEST(Matching, NamesDecideAmongThoseThatAskForTheSame) {
    const OrderOf order({{reduce(1, "a"), reduce(2, "b"), reduce(3, "a")},
                         {reduce(1, "b"), reduce(2, "a"), reduce(3, "a")}});
    EXPECT_THAT(order.numbers(1, {1, 2, 3}), ElementsAre(1, 0, 2));
}

// As PyTorch names them after the rank, or all alike.
TEST(Matching, NamesThatDifferFromRankToRankTellNothing) {
    const OrderOf order({{reduce(1, "rank0 a"), reduce(2, "rank0 b")},
                         {reduce(1, "rank1 b"), reduce(2, "rank1 a")}});
    EXPECT_THAT(order.numbers(1, {1, 2}), ElementsAre(0, 1));
    EXPECT_TRUE(order.warnings().empty());
}

// Followed, the names would have each rank wait for the other: in program order both can go on.
TEST(Matching, NamesThatNoOrderCanFollowTellNothing) {
    const OrderOf order({{reduce(1, "a"), reduce(2, "b", kSize, {1})},
                         {reduce(1, "b"), reduce(2, "a", kSize, {1})}});
    EXPECT_THAT(order.numbers(1, {1, 2}), ElementsAre(0, 1));
}

TEST(Matching, GroupsAreNumberedApart) {
    const Groups groups = {{"1", {0, 1}}, {"2", {0, 1}}};
    const OrderOf order({{reduce(1, "a", 10, {}, "1"), reduce(2, "b", 20, {}, "2")},
                         {reduce(1, "b", 20, {}, "2"), reduce(2, "a", 10, {}, "1")}},
                        groups);
    EXPECT_THAT(order.numbers(0, {1, 2}), ElementsAre(0, 0));
    EXPECT_THAT(order.numbers(1, {1, 2}), ElementsAre(0, 0));
    EXPECT_TRUE(order.warnings().empty());
}

// "" and "0" both mean all ranks.
TEST(Matching, TwoNamesOfAGroupAreOneGroup) {
    const OrderOf order({{reduce(1, "a", 10, {}, ""), reduce(2, "b", 20, {}, "0")},
                         {reduce(1, "a", 10, {}, "0"), reduce(2, "b", 20, {}, "0")}});
    EXPECT_THAT(order.numbers(0, {1, 2}), ElementsAre(0, 1));
    EXPECT_THAT(order.numbers(1, {1, 2}), ElementsAre(0, 1));
}

TEST(Matching, RootsTellApart) {
    const auto broadcast = [](std::uint64_t id, std::uint32_t root) {
        TraceNode node = collective(id, CollectiveKind::Broadcast, kSize);
        node.source = root;
        return node;
    };
    const OrderOf order({{broadcast(1, 0), broadcast(2, 1)}, {broadcast(1, 1), broadcast(2, 0)}});
    EXPECT_THAT(order.numbers(1, {1, 2}), ElementsAre(1, 0));
    const std::string error = refusal<InputError>({{broadcast(1, 0)}, {broadcast(1, 1)}});
    EXPECT_THAT(error, HasSubstr("root at rank 0"));
    EXPECT_THAT(error, HasSubstr("root at rank 1"));
}

// A rank that has fewer leaves the others waiting; the report of the run says so.
TEST(Matching, FewerAreNoContradiction) {
    const OrderOf order(
        {{reduce(1, "a", 10), reduce(2, "b", 20), reduce(3, "c", 30)}, {reduce(1, "c", 30)}});
    EXPECT_THAT(order.numbers(1, {1}), ElementsAre(2));
    EXPECT_EQ(order->matching().collectives_of(0), 3U);
}

TEST(Matching, WhatFitsInNoOrderIsRefused) {
    const std::string error = refusal<InputError>(
        {{reduce(1, "a", 10), reduce(2, "b", 20)}, {reduce(3, "b", 20), reduce(4, "a", 11)}});
    EXPECT_THAT(error, HasSubstr("disagree about collective 0"));
    EXPECT_THAT(error, HasSubstr("rank 0 (node 1) asks for all_reduce of 10 B"));
    EXPECT_THAT(error, HasSubstr("rank 1 (node 4) for all_reduce of 11 B"));
}

TEST(Matching, MessagesByTheOrderOfPrograms) {
    const OrderOf order({{send(1, 0, 1, 7, 8), send(2, 0, 1, 7, 8), send(3, 0, 1, 9, 8)},
                         {receive(4, 0, 1, 9, 8), receive(5, 0, 1, 7, 8), receive(6, 0, 1, 7, 8)}});
    const OpMatching& matching = order->matching();
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 1))), 5U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 2))), 6U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 3))), 4U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(1, 6))), 2U);
}

TEST(Matching, MessagesBySizeWhereOrdersDiffer) {
    const OrderOf order({{send(1, 0, 1, 7, 8), send(2, 0, 1, 7, 9), send(3, 0, 1, 7, 8)},
                         {receive(4, 0, 1, 7, 9), receive(5, 0, 1, 7, 8), receive(6, 0, 1, 7, 8)}});
    const OpMatching& matching = order->matching();
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 1))), 5U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 2))), 4U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(0, 3))), 6U);
    EXPECT_EQ(order.id_of(matching.partner_of(order.at(1, 4))), 2U);
    EXPECT_THAT(order.numbers(1, {4, 5, 6}), ElementsAre(1, 0, 2));
}

TEST(Matching, MessagesWithoutAnOtherSide) {
    const OrderOf order({{send(1, 0, 1, 7, 8)}, {receive(4, 0, 1, 7, 8), receive(5, 0, 1, 7, 9)}});
    EXPECT_EQ(order->matching().partner_of(order.at(1, 5)), (RankOp{0, kNoOp}));
    const OrderOf fewer({{send(1, 0, 1, 7, 9)}, {receive(4, 0, 1, 7, 8), receive(5, 0, 1, 7, 9)}});
    EXPECT_EQ(fewer.id_of(fewer->matching().partner_of(fewer.at(0, 1))), 5U);
    EXPECT_EQ(fewer->matching().partner_of(fewer.at(1, 4)), (RankOp{0, kNoOp}));
}

TEST(Matching, SizesOfMessagesThatFitInNoOrderAreRefused) {
    const std::string error =
        refusal<InputError>({{send(1, 0, 1, 7, 8), send(2, 0, 1, 7, 9)},
                             {receive(4, 0, 1, 7, 9), receive(5, 0, 1, 7, 7)}});
    EXPECT_THAT(error, HasSubstr("sizes differ: rank 0 (node 1) sends 8 B to rank 1 under tag 7"));
    EXPECT_THAT(error, HasSubstr("9 B (node 4)"));
}

}  // namespace
}  // namespace astra::test
