// `astra inspect collective`: the report, the drawings, and what is refused.
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kMachine =
    "network: {dimensions: [{topology: ring, ranks: 8, bandwidth: 50GB/s, "
    "latency: 500ns}]}\n";

std::string content(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++found;
    }
    return found;
}

class InspectCollective : public testing::Test {
  protected:
    ProgramRun run(std::vector<std::string> options, const std::string& machine = kMachine) {
        const std::string file = folder_.write("machine.yml", machine);
        options.insert(options.begin(), {"inspect", "collective", file});
        return run_captured(options);
    }
    ScratchFolder folder_;
};

// 2(n-1) = 14 rounds of one message of 2^20/8 bytes from each of 8 members:
// 1,835,008 bytes, which is 2 · 7/8 of the buffer. All into and out of a rank
// over two links of 50 GB/s: 18.35008 us.
TEST_F(InspectCollective, DescribesARing) {
    const ProgramRun ran = run({"--algorithm=ring"});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("all_reduce of 1 MiB with ring over 8 ranks\n"));
    EXPECT_THAT(ran.out, HasSubstr("rounds           14, "));
    EXPECT_THAT(ran.out, HasSubstr("messages         112, a member sends 14 at most\n"));
    EXPECT_THAT(ran.out, HasSubstr("sent             1835008 B a member on average, 1835008 B"));
    EXPECT_THAT(ran.out, HasSubstr("optimality       1.0000: sent on average over 1835008 B"));
    EXPECT_THAT(ran.out, HasSubstr("link bound       18.3501 us"));
    EXPECT_THAT(ran.out, HasSubstr("proof            correct"));
    // In round 0 member 0 sends a block to be added to member 1.
    EXPECT_THAT(ran.out, testing::ContainsRegex("\n0 +>1 \\+b"));
    EXPECT_THAT(ran.out, HasSubstr("(8 of 8 members, "));
}

// Recursive doubling sends S in each of 3 rounds, 3 / (2 · 7/8) of the least.
TEST_F(InspectCollective, SaysHowFarFromTheLeastAnAlgorithmIs) {
    const ProgramRun ran = run({"--algorithm=recursiveDoubling", "--size=64MiB"});
    EXPECT_THAT(ran.out, HasSubstr("rounds           3, "));
    EXPECT_THAT(ran.out, HasSubstr("optimality       1.7143"));
}

// One arrow a message; hollow where it is added.
TEST_F(InspectCollective, DrawsAPicture) {
    const std::string svg = folder_.file("ring.svg");
    const ProgramRun ran = run({"--algorithm=ring", "--ranks=0-3", "--svg=" + svg});
    EXPECT_EQ(ran.status, 0) << ran.error;
    const std::string picture = content(svg);
    EXPECT_EQ(count(picture, "<g "), 24U);
    EXPECT_EQ(count(picture, "fill=\"white\"><title>"), 12U);
    EXPECT_EQ(count(picture, ", added</title>"), 12U);
    EXPECT_THAT(picture, HasSubstr("<title>0 to 1, round 0, block"));
    EXPECT_EQ(picture.substr(picture.size() - 7), "</svg>\n");
}

TEST_F(InspectCollective, KnowsSynthesisedPrograms) {
    const ProgramRun ran =
        run({"--algorithm=tacos2", "--collective=all_gather", "--svg=" + folder_.file("t.svg")});
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("all_gather of 1 MiB with tacos2 over 8 ranks"));
    EXPECT_THAT(ran.out, HasSubstr("messages         112, "));  // 8 · 7 · 2 chunks
    EXPECT_THAT(ran.out, HasSubstr("optimality       1.0000"));
    EXPECT_THAT(ran.out, HasSubstr("proof            correct"));
    EXPECT_EQ(count(content(folder_.file("t.svg")), "<g "), 112U);
}

// What is saved is read back, proved, and takes the same time: the messages and their order are
// those of the program.
TEST_F(InspectCollective, SavesAProgramThatRunsAlike) {
    const std::string prefix = folder_.file("saved/tacos");
    const ProgramRun ran = run({"--algorithm=tacos2", "--save=" + prefix});
    ASSERT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("saved            " + prefix + ".0.et to " + prefix + ".7.et"));
    const ProgramRun again = run({"--algorithm=" + prefix});
    EXPECT_EQ(again.status, 0) << again.error;
    EXPECT_THAT(again.out, HasSubstr("messages         224, "));
    EXPECT_THAT(again.out, HasSubstr("proof            correct"));
    const std::string csv = folder_.file("times.csv");
    const ProgramRun timed = run_captured({"collective",
                                           folder_.file("machine.yml"),
                                           "--algorithm=tacos2," + prefix,
                                           "--size=1MiB",
                                           "--backend=congestion_aware",
                                           "--csv=" + csv});
    EXPECT_EQ(timed.status, 0) << timed.error;
    std::istringstream lines(content(csv));
    std::string line;
    std::vector<std::string> ends;
    while (std::getline(lines, line)) {
        // Ranks, bytes, time …; without the name of what ran and what follows.
        const std::size_t begin = line.find(",8,") + 1;
        const std::size_t end = line.rfind(',', line.rfind(',') - 1);
        ends.push_back(line.substr(begin, end - begin));
    }
    ASSERT_EQ(ends.size(), 3U);
    EXPECT_EQ(ends[1], ends[2]);
}

TEST_F(InspectCollective, TakesTheAlgorithmOfTheMachine) {
    const std::string system = "system: {collectives: {reduce: chain4}}\n";
    const ProgramRun ran = run({"--collective=reduce", "--root=3"}, system + kMachine);
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("reduce of 1 MiB with chain4 over 8 ranks"));
    EXPECT_THAT(ran.out, HasSubstr("proof            correct"));
}

// The rest is said all the same.
TEST_F(InspectCollective, SaysWhatIsTooLarge) {
    const std::string large =
        "network: {dimensions: [{topology: ring, ranks: "
        "4096, bandwidth: 50GB/s, latency: 1us}]}\n";
    const std::string svg = folder_.file("large.svg");
    const ProgramRun ran = run({"--algorithm=ring", "--svg=" + svg}, large);
    EXPECT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(ran.out, HasSubstr("rounds           8190, "));
    EXPECT_THAT(ran.out, HasSubstr("schedule         not drawn: 33546240 messages\n"));
    EXPECT_THAT(ran.out, HasSubstr("picture          none: 33546240 messages of 4096 members"));
    EXPECT_THAT(ran.out, HasSubstr("proof            none: to run 4096 members"));
    EXPECT_FALSE(std::ifstream(svg).is_open());
}

TEST_F(InspectCollective, RefusesBadInput) {
    const auto expect_refused = [&](std::vector<std::string> options, const std::string& text) {
        const ProgramRun ran = run(std::move(options));
        EXPECT_EQ(ran.status, 2);
        EXPECT_THAT(ran.error, HasSubstr(text));
    };
    expect_refused({"--collective=all_reduc"},
                   "--collective: no kind 'all_reduc'; did you mean 'all_reduce'");
    expect_refused({"--algorithm=rign"}, "unknown algorithm 'rign'; did you mean 'ring'");
    expect_refused({"--collective=all_to_all", "--algorithm=tacos"},
                   "algorithm 'tacos' cannot run all_to_all over 8 ranks: it "
                   "does all_gather");
    expect_refused({"--algorithm=hierarchical3"},
                   "algorithm 'hierarchical3' cannot run all_reduce over 8 ranks");
    expect_refused({"--ranks=0-8"}, "--ranks");
    expect_refused({"--ranks=3"}, "a single rank has nothing to exchange");
    expect_refused({"--root=1"}, "--root: all_reduce has none");
    expect_refused({"--collective=reduce", "--root=8"}, "--root");
    expect_refused({"--collective=barrier", "--save=" + folder_.file("b")}, "--save: the blocks");
    expect_refused({"--size=0"}, "--size: '0' is not a size above 0");
    expect_refused({"--set=network.dimenzions=3"}, "dimenzions");
    expect_refused({"--set=system.chunkz=3"}, "chunkz");
    EXPECT_EQ(run_captured({"inspect", "collective"}).status, 2);
}

}  // namespace
}  // namespace astra::test
