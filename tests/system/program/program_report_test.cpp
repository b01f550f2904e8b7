// Rounds, messages and bytes of programs, by hand.
#include "system/program/program_report.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/tuning/algorithm_choice.h"
#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

constexpr Bytes kSize{1U << 20U};

Program program(const std::string& name, CollectiveKind kind, std::uint32_t members) {
    const AlgorithmChoice choice = parse_algorithm(name);
    ProgramShape shape;
    shape.kind = kind;
    shape.members = members;
    shape.parameter = choice.parameter;
    return make_program(*choice.algorithm, shape);
}

struct Case {
    const char* algorithm;
    CollectiveKind kind;
    std::uint32_t members;
    std::uint32_t rounds;
    std::uint64_t messages;
    std::uint64_t sent_most;
    std::uint64_t sent_by_all;
};

// n members, S = 2^20 bytes, L = log2 n:
//   ring all_reduce           2(n-1) rounds, each member a message of S/n in
//   each direct all_gather         n-1 messages of S/n at once
//   recursiveDoubling         L rounds of S from everybody
//   bruck all_to_all, n = 8   3 rounds of 4 blocks of S/8 each
//   binomial reduce           L rounds, n-1 messages of S, one a member but the
//   root binomial all_reduce       the same down again: the root sends L,
//   2(n-1) in all
TEST(ProgramReport, CountsRoundsMessagesAndBytes) {
    const std::uint64_t s = kSize.count;
    for (const Case& c : std::vector<Case>{
             {"ring", CollectiveKind::AllReduce, 8, 14, 112, 14 * s / 8, 14 * s},
             {"direct", CollectiveKind::AllGather, 8, 1, 56, 7 * s / 8, 7 * s},
             {"recursiveDoubling", CollectiveKind::AllReduce, 8, 3, 24, 3 * s, 24 * s},
             {"bruck", CollectiveKind::AllToAll, 8, 3, 24, 12 * s / 8, 12 * s},
             {"binomial", CollectiveKind::Reduce, 8, 3, 7, s, 7 * s},
             {"binomial", CollectiveKind::AllReduce, 8, 6, 14, 3 * s, 14 * s}}) {
        const Program made = program(c.algorithm, c.kind, c.members);
        const ProgramReport report = report_program(made, kSize);
        const std::string name = std::string(c.algorithm) + " " + name_of(c.kind);
        EXPECT_TRUE(report.finishes) << name;
        EXPECT_EQ(report.rounds, c.rounds) << name;
        EXPECT_EQ(report.messages, c.messages) << name;
        EXPECT_EQ(report.sent_most.count, c.sent_most) << name;
        EXPECT_EQ(report.sent_by_all.count, c.sent_by_all) << name;
        EXPECT_EQ(list_messages(made, kSize).size(), c.messages) << name;
    }
}

// 10 bytes in 3 blocks are 4, 3, 3. Member m first sends block m, to be added,
// and then what came.
TEST(ProgramReport, ListsTheMessagesOfARing) {
    const auto messages = list_messages(program("ring", CollectiveKind::ReduceScatter, 3), {10});
    ASSERT_EQ(messages.size(), 6U);
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const ProgramMessage& message = messages[i];
        EXPECT_EQ(message.round, i / 3);
        EXPECT_EQ(message.from, i % 3);
        EXPECT_EQ(message.to, (message.from + 1) % 3);
        EXPECT_EQ(message.blocks, 1U);
        EXPECT_TRUE(message.reduce);
        EXPECT_EQ(message.bytes.count, message.block == 0 ? 4U : 3U);
    }
}

// Member 1 receives before it sends what member 0 waits for: both wait for
// ever.
TEST(ProgramReport, SaysThatAProgramDoesNotFinish) {
    const Program stuck =
        absolute(1, {{receive(1), send(1)}, {receive(0), send(0)}, {send(3)}, {receive(2)}});
    const ProgramReport report = report_program(stuck, kSize);
    EXPECT_FALSE(report.finishes);
    EXPECT_EQ(report.messages, 1U);
    EXPECT_EQ(report.rounds, 1U);
}

// A ring of 2^14 members has 5 · 10^8 messages: counted by one of them.
TEST(ProgramReport, CountsLargeProgramsByOneMember) {
    const std::uint64_t n = 1U << 14U;
    const ProgramReport report = report_program(
        program("ring", CollectiveKind::AllReduce, static_cast<std::uint32_t>(n)), {1U << 30U});
    EXPECT_EQ(report.messages, n * 2 * (n - 1));
    EXPECT_EQ(report.rounds, 2 * (n - 1));
    EXPECT_EQ(report.sent_by_all.count, 2 * (n - 1) << 30U);
}

// Thakur, Rabenseifner, Gropp 2005 give the least of each kind.
TEST(ProgramReport, KnowsTheLeastPossible) {
    EXPECT_EQ(least_bytes_sent(CollectiveKind::AllReduce, 8, {800}).count, 14U * 800);
    EXPECT_EQ(least_bytes_sent(CollectiveKind::AllToAll, 8, {800}).count, 7U * 800);
    EXPECT_EQ(least_bytes_sent(CollectiveKind::Broadcast, 8, {800}).count, 7U * 800);
    EXPECT_EQ(least_bytes_sent(CollectiveKind::Gather, 8, {800}).count, 700U);
    EXPECT_EQ(least_bytes_sent(CollectiveKind::Barrier, 8, {800}).count, 0U);
}

}  // namespace
}  // namespace astra
