// Every registered algorithm, proved on many group sizes.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/program/verifier/verifier.h"
#include "system/tuning/algorithm_choice.h"

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

// Every shape of a kind and size that an algorithm may be asked for: all roots of small groups,
// three of large ones.
std::vector<ProgramShape> shapes(const CollectiveAlgorithm& algorithm,
                                 CollectiveKind kind,
                                 std::uint32_t members) {
    std::set<std::uint32_t> roots{0};
    if (has_root(kind)) {
        roots.insert({members / 2, members - 1});
        for (std::uint32_t root = 0; root < members && members <= 9; ++root) {
            roots.insert(root);
        }
    }
    const std::vector<std::uint32_t> parameters = algorithm.takes_parameter
                                                      ? std::vector<std::uint32_t>{0, 1, 2, 3, 5, 8}
                                                      : std::vector<std::uint32_t>{0};
    std::vector<ProgramShape> all;
    for (const std::uint32_t root : roots) {
        for (const std::uint32_t parameter : parameters) {
            for (std::uint32_t variant = 0; variant < algorithm.variants; ++variant) {
                for (const bool reversed : {false, true}) {
                    all.push_back({kind, members, parameter, variant, root, reversed, {}});
                    if (algorithm.levels != nullptr) {
                        all.back().levels = {LevelShape{parameter}, LevelShape{}};
                    }
                }
            }
        }
    }
    return all;
}

class EveryAlgorithmTest : public testing::TestWithParam<const CollectiveAlgorithm*> {};

TEST_P(EveryAlgorithmTest, KeepsThePromiseOfItsKindOrRefuses) {
    const CollectiveAlgorithm& algorithm = *GetParam();
    bool does_something = false;
    for (const CollectiveKind kind : kinds()) {
        for (const std::uint32_t members : sizes()) {
            for (const ProgramShape& shape : shapes(algorithm, kind, members)) {
                if (!algorithm.refusal(shape).empty()) {
                    continue;
                }
                does_something = true;
                const Program program = make_program(algorithm, shape);
                const Verdict verdict = verify(program, kind, shape.root);
                EXPECT_TRUE(verdict.correct)
                    << name_of_shape(algorithm, shape) << ": " << verdict.fault;
                EXPECT_EQ(verdict.correct, verdict.fault.empty());
                // With two members the switch has nothing to copy or to add.
                const bool by_switch = algorithm.in_switch != nullptr && members > 2;
                EXPECT_EQ(program.switch_operations() != nullptr, by_switch)
                    << name_of_shape(algorithm, shape);
            }
        }
    }
    EXPECT_TRUE(does_something) << algorithm.name << " refuses everything";
}

INSTANTIATE_TEST_SUITE_P(All,
                         EveryAlgorithmTest,
                         testing::ValuesIn(collective_algorithms().begin(),
                                           collective_algorithms().end()),
                         [](const auto& test) { return std::string(test.param->name); });

// For a reduce_scatter_block plans ask for a reduce_scatter.
TEST(ProgramsTest, EverySizeOfEveryKindHasAnAlgorithm) {
    for (const CollectiveKind kind : kinds()) {
        if (kind == CollectiveKind::ReduceScatterBlock) {
            continue;
        }
        for (const std::uint32_t members : sizes()) {
            bool found = false;
            for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
                found = found || algorithm->refusal({kind, members}).empty();
            }
            EXPECT_TRUE(found) << name_of(kind) << " of " << members;
        }
    }
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

// A program that is the same for every member is stored once: 2(4096-1) sends instead of 33
// million.
TEST(ProgramsTest, RelativeProgramsStoreOneRole) {
    const auto stored = [](const char* name, const ProgramShape& shape) {
        return make_program(*parse_algorithm(name).algorithm, shape).stored_sends();
    };
    EXPECT_EQ(stored("ring", {CollectiveKind::AllReduce, 4'096}), 8'190U);
    EXPECT_EQ(stored("direct", {CollectiveKind::AllToAll, 4'096}), 4'095U);
    // One message a step, log2(4096) steps in either direction.
    EXPECT_EQ(stored("halvingDoubling", {CollectiveKind::AllReduce, 4'096}), 24U);
    EXPECT_EQ(stored("dissemination", {CollectiveKind::Barrier, 4'096}), 12U);
    EXPECT_EQ(stored("recursiveDoubling", {CollectiveKind::AllReduce, 4'096}), 12U);
    EXPECT_EQ(stored("bruck", {CollectiveKind::AllToAll, 4'096}), 12U);
    EXPECT_EQ(stored("pat", {CollectiveKind::AllGather, 4'095}), 12U);
    EXPECT_EQ(stored("pairwise", {CollectiveKind::AllToAll, 4'095}), 4'094U);
    EXPECT_EQ(stored("bidirectionalRing", {CollectiveKind::AllReduce, 4'095}), 2 * 8'188U);
    EXPECT_EQ(stored("multiRing", {CollectiveKind::AllReduce, 4'096, 4}), 4 * 8'190U);
    // Seven steps inside and 511 across, in either direction.
    const auto stored_by_level = [](const char* name, CollectiveKind kind) {
        const AlgorithmChoice choice = parse_algorithm(name);
        return make_program(*choice.algorithm, choice.shape(kind, 4'096)).stored_sends();
    };
    EXPECT_EQ(stored_by_level("hierarchical8", CollectiveKind::AllReduce), 2 * 518U);
    EXPECT_EQ(stored_by_level("hierarchical8", CollectiveKind::AllToAll), 518U);
    // Three steps of 8, seven of direct exchange, then two of six of an all_reduce of 64.
    EXPECT_EQ(stored_by_level("hierarchical8x8:halvingDoubling-direct", CollectiveKind::AllReduce),
              2 * 3U + 2 * 7U + 2 * 63U);
    EXPECT_EQ(stored_by_level("hierarchical8x8:halvingDoubling-direct-recursiveDoubling",
                              CollectiveKind::AllReduce),
              2 * 3U + 2 * 7U + 6U);
}

// n-1 sends a member have left before the first receive; with a number behind the name only
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
        EXPECT_FALSE(algorithm->summary.empty());
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
