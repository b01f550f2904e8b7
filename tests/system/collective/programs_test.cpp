// Every registered algorithm, proved on many group sizes.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/collective/algorithm.h"
#include "system/collective/verifier.h"

namespace astra {
namespace {

std::vector<CollectiveKind> kinds() {
    std::vector<CollectiveKind> all;
    for (std::uint32_t kind = 0; kind < kCollectiveKinds; ++kind) {
        all.push_back(static_cast<CollectiveKind>(kind));
    }
    return all;
}

std::vector<std::uint32_t> sizes() {
    std::vector<std::uint32_t> members;
    for (std::uint32_t n = 2; n <= 17; ++n) {
        members.push_back(n);
    }
    members.insert(members.end(), {24, 32, 48, 64});
    return members;
}

std::string name_of_shape(const CollectiveAlgorithm& algorithm, const ProgramShape& shape) {
    return std::string(algorithm.name) + std::to_string(shape.parameter) + " " +
           name_of(shape.kind) + " of " + std::to_string(shape.members) + ", variant " +
           std::to_string(shape.variant) + ", root " + std::to_string(shape.root) +
           (shape.reversed ? ", reversed" : "");
}

// Every shape of a kind and size that an algorithm may be asked for.
std::vector<ProgramShape> shapes(const CollectiveAlgorithm& algorithm,
                                 CollectiveKind kind,
                                 std::uint32_t members) {
    const bool rooted = kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce ||
                        kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
    const std::set<std::uint32_t> roots =
        rooted ? std::set<std::uint32_t>{0, members - 1} : std::set<std::uint32_t>{0};
    const std::vector<std::uint32_t> parameters = algorithm.takes_parameter
                                                      ? std::vector<std::uint32_t>{0, 1, 2, 5}
                                                      : std::vector<std::uint32_t>{0};
    std::vector<ProgramShape> all;
    for (const std::uint32_t root : roots) {
        for (const std::uint32_t parameter : parameters) {
            for (std::uint32_t variant = 0; variant < algorithm.variants; ++variant) {
                for (const bool reversed : {false, true}) {
                    all.push_back({kind, members, parameter, variant, root, reversed});
                }
            }
        }
    }
    return all;
}

TEST(ProgramsTest, EveryAlgorithmKeepsThePromiseOfItsKindOrRefuses) {
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        bool does_something = false;
        for (const CollectiveKind kind : kinds()) {
            for (const std::uint32_t members : sizes()) {
                for (const ProgramShape& shape : shapes(*algorithm, kind, members)) {
                    if (!algorithm->refusal(shape).empty()) {
                        continue;
                    }
                    does_something = true;
                    const Program program = make_program(*algorithm, shape);
                    const Verdict verdict = verify(program, kind, shape.root);
                    EXPECT_TRUE(verdict.correct)
                        << name_of_shape(*algorithm, shape) << ": " << verdict.fault;
                    EXPECT_EQ(verdict.correct, verdict.fault.empty());
                }
            }
        }
        EXPECT_TRUE(does_something) << algorithm->name << " refuses everything";
    }
}

TEST(ProgramsTest, EverySizeOfTheCommonKindsHasAnAlgorithm) {
    for (const CollectiveKind kind : {CollectiveKind::AllReduce,
                                      CollectiveKind::AllGather,
                                      CollectiveKind::ReduceScatter,
                                      CollectiveKind::AllToAll,
                                      CollectiveKind::Broadcast,
                                      CollectiveKind::Barrier}) {
        for (const std::uint32_t members : sizes()) {
            bool found = false;
            for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
                found = found || algorithm->refusal({kind, members}).empty();
            }
            EXPECT_TRUE(found) << name_of(kind) << " of " << members;
        }
    }
}

// What all members send together, of a buffer of `size`.
std::uint64_t bytes_sent(const Program& program, Bytes size) {
    std::uint64_t sum = 0;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& send = program.send(step.first_send + i);
                sum += program.bytes_of(send.payload, member, size).count;
            }
        }
    }
    return sum;
}

// The same, as the receivers see it.
std::uint64_t bytes_received(const Program& program, Bytes size) {
    std::uint64_t sum = 0;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                const Program::Receive& receive = program.receive(step.first_receive + i);
                sum += program.bytes_of(receive.payload, member, size).count;
            }
        }
    }
    return sum;
}

void expect_bytes(const std::string& name,
                  CollectiveKind kind,
                  std::uint32_t members,
                  std::uint64_t expected) {
    // A prime, so that no number of blocks divides it.
    constexpr Bytes kSize{1'000'003};
    const CollectiveAlgorithm* algorithm = parse_algorithm(name).algorithm;
    ASSERT_NE(algorithm, nullptr) << name;
    const ProgramShape shape{kind, members};
    ASSERT_EQ(algorithm->refusal(shape), "") << name_of_shape(*algorithm, shape);
    const Program program = make_program(*algorithm, shape);
    EXPECT_EQ(bytes_sent(program, kSize), expected * kSize.count)
        << name_of_shape(*algorithm, shape);
    EXPECT_EQ(bytes_received(program, kSize), expected * kSize.count)
        << name_of_shape(*algorithm, shape);
}

// In a reduce_scatter every member but the owner of a block passes that block on exactly once, with
// what it has added to it: n-1 messages for each block, (n-1)·S for all, however uneven the blocks
// are. An all_gather is the mirror image: every member but the owner receives each block once. An
// all_reduce is one after the other: 2(n-1)·S. The three algorithms differ in who talks to whom,
// not in this.
TEST(ProgramsTest, BytesOfReductionsAreExactForUnevenBlocks) {
    for (const std::uint32_t n : {3U, 7U, 8U, 16U}) {
        for (const std::string name : {"ring", "direct", "halvingDoubling"}) {
            if (name == "halvingDoubling" && (n & (n - 1)) != 0) {
                continue;
            }
            expect_bytes(name, CollectiveKind::AllReduce, n, 2 * (n - 1));
            expect_bytes(name, CollectiveKind::ReduceScatter, n, n - 1);
            expect_bytes(name, CollectiveKind::AllGather, n, n - 1);
        }
    }
}

// Folding, with p the largest power of two below n: n-p members send S and get S back, and the p
// others do an all_reduce among them: 2(n-p)·S + 2(p-1)·S = 2(n-1)·S.
TEST(ProgramsTest, BytesOfAFoldedAllReduce) {
    for (const std::uint32_t n : {3U, 6U, 7U, 17U}) {
        expect_bytes("halvingDoubling", CollectiveKind::AllReduce, n, 2 * (n - 1));
    }
}

// A tree has n-1 edges. A broadcast sends S down each; the double binary tree S up and S down.
TEST(ProgramsTest, BytesOfTrees) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        expect_bytes("binomial", CollectiveKind::Broadcast, n, n - 1);
        expect_bytes("doubleBinaryTree", CollectiveKind::AllReduce, n, 2 * (n - 1));
    }
}

// Block b of each of the n-1 other members has to come to member b. Direct: each in one message,
// sum over b of (n-1)·|b| = (n-1)·S. Ring: the block from the member at distance d passes d links,
// so that the sum over b and d of d·|b| = S·(1 + … + n-1) = n(n-1)/2·S.
TEST(ProgramsTest, BytesOfAllToAll) {
    for (const std::uint32_t n : {2U, 3U, 7U, 8U, 16U}) {
        expect_bytes("direct", CollectiveKind::AllToAll, n, n - 1);
        expect_bytes("ring", CollectiveKind::AllToAll, n, n * (n - 1) / 2);
    }
}

TEST(ProgramsTest, ABarrierMovesNoBytes) {
    expect_bytes("dissemination", CollectiveKind::Barrier, 11, 0);
}

// The blocks are those of part_of: 10 bytes in four blocks are 3, 3, 2, 2.
TEST(ProgramsTest, BytesOfAPayloadFollowItsAbsoluteBlocks) {
    const CollectiveAlgorithm* ring = parse_algorithm("ring").algorithm;
    ASSERT_NE(ring, nullptr);
    const Program program = make_program(*ring, {CollectiveKind::AllGather, 4});
    const std::vector<std::uint64_t> expected = {3, 3, 2, 2};
    for (std::uint32_t member = 0; member < 4; ++member) {
        EXPECT_EQ(program.bytes_of({0}, member, Bytes{10}).count, expected[member]);
        EXPECT_EQ(program.bytes_of({0, 1, 4}, member, Bytes{10}).count, 10U);
        EXPECT_EQ(program.bytes_of({0, 2, 2}, member, Bytes{10}).count, 5U);
        EXPECT_EQ(program.bytes_of({0, 1, 0}, member, Bytes{10}).count, 0U);
    }
}

// A program that is the same for every member is stored once: 2(4096-1) sends in place of 33
// million.
TEST(ProgramsTest, RelativeProgramsStoreOneRole) {
    const auto stored = [](const char* name, const ProgramShape& shape) {
        return make_program(*parse_algorithm(name).algorithm, shape).stored_sends();
    };
    EXPECT_EQ(stored("ring", {CollectiveKind::AllReduce, 4'096}), 8'190U);
    EXPECT_EQ(stored("direct", {CollectiveKind::AllToAll, 4'096}), 4'095U);
    // One message a step, log2(4096) steps either way.
    EXPECT_EQ(stored("halvingDoubling", {CollectiveKind::AllReduce, 4'096}), 24U);
    EXPECT_EQ(stored("dissemination", {CollectiveKind::Barrier, 4'096}), 12U);
}

// n-1 sends a member are under way before the first receive; with a number behind the name only
// that many.
TEST(ProgramsTest, TheParameterOfDirectLimitsTheSendsAhead) {
    const CollectiveAlgorithm* direct = parse_algorithm("direct").algorithm;
    ASSERT_NE(direct, nullptr);
    for (const std::uint32_t parameter : {0U, 1U, 2U, 5U, 7U, 100U}) {
        const Program program = make_program(*direct, {CollectiveKind::AllToAll, 8, parameter});
        const std::uint32_t window = parameter == 0 || parameter > 7 ? 7 : parameter;
        EXPECT_EQ(program.steps(0)[0].receives, 0U);
        EXPECT_EQ(program.steps(0)[0].sends, window);
    }
}

TEST(ProgramsTest, ReversingTurnsTheRing) {
    const CollectiveAlgorithm* ring = parse_algorithm("ring").algorithm;
    ASSERT_NE(ring, nullptr);
    for (const bool reversed : {false, true}) {
        const Program program =
            make_program(*ring, {CollectiveKind::AllReduce, 8, 0, 0, 0, reversed});
        EXPECT_EQ(program.peer_of(3, program.send(0).peer), reversed ? 2U : 4U);
    }
}

TEST(ParseAlgorithmTest, EveryListedNameIsValid) {
    std::set<std::string> seen;
    for (const std::string& name : algorithm_names()) {
        EXPECT_TRUE(parse_algorithm(name).valid()) << name;
        EXPECT_TRUE(seen.insert(name).second) << name;
    }
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        const AlgorithmChoice choice = parse_algorithm(algorithm->name);
        EXPECT_EQ(choice.algorithm, algorithm);
        EXPECT_EQ(choice.parameter, 0U);
        EXPECT_FALSE(choice.flat);
        EXPECT_FALSE(choice.measured);
        EXPECT_FALSE(algorithm->doc.empty());
    }
}

TEST(ParseAlgorithmTest, ReadsNumbersAndFlatNames) {
    const AlgorithmChoice direct4 = parse_algorithm("direct4");
    ASSERT_TRUE(direct4.valid());
    EXPECT_EQ(direct4.algorithm->name, "direct");
    EXPECT_EQ(direct4.parameter, 4U);
    EXPECT_FALSE(direct4.flat);

    const AlgorithmChoice one_ring = parse_algorithm("oneRing");
    ASSERT_TRUE(one_ring.valid());
    EXPECT_EQ(one_ring.algorithm->name, "ring");
    EXPECT_EQ(one_ring.parameter, 0U);
    EXPECT_TRUE(one_ring.flat);

    const AlgorithmChoice one_direct2 = parse_algorithm("oneDirect2");
    ASSERT_TRUE(one_direct2.valid());
    EXPECT_EQ(one_direct2.algorithm->name, "direct");
    EXPECT_EQ(one_direct2.parameter, 2U);
    EXPECT_TRUE(one_direct2.flat);

    EXPECT_EQ(parse_algorithm("direct4294967295").parameter, 4'294'967'295U);

    const AlgorithmChoice measured = parse_algorithm("measured");
    EXPECT_TRUE(measured.valid());
    EXPECT_TRUE(measured.measured);
    EXPECT_EQ(measured.algorithm, nullptr);
}

TEST(ParseAlgorithmTest, RejectsWhatIsNoName) {
    for (const char* name : {"",
                             "rung",
                             "Ring",
                             "ring2",
                             "oneRing2",
                             "direct0",
                             "direct-1",
                             "direct4294967296",
                             "direct99999999999999999999999999",
                             "direct4x",
                             "4",
                             "one",
                             "onering",
                             "oneMeasured",
                             "measured2",
                             " ring",
                             "ring "}) {
        const AlgorithmChoice choice = parse_algorithm(name);
        EXPECT_FALSE(choice.valid()) << name;
        EXPECT_EQ(choice.algorithm, nullptr) << name;
        EXPECT_FALSE(choice.flat) << name;
    }
}

}  // namespace
}  // namespace astra
