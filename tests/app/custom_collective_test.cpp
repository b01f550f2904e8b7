// Collectives that users bring: MSCCL and Chakra files in the commands and in ASTRA-sim's files.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/experiment.h"
#include "tests/support/source_folder.h"
#include "workload/chakra/chakra_writer.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

std::string content(const std::string& file) {
    std::ifstream stream(file);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

std::string collective_file(const std::string& name) {
    return source_file("inputs/collectives/" + name + ".xml");
}

class CustomCollective : public testing::Test {
  protected:
    // Every pair has a link of 50 GB/s and 500 ns; nothing else costs time.
    ProgramRun measure(const std::string& kind, const std::string& file) {
        const std::string machine = folder_.write(
            "machine.yml",
            "system: {endpoint_delay: 0ns, collectives: {all_reduce: ring}}\n"
            "network: {dimensions: [{topology: fully_connected, ranks: 8, bandwidth: 50GB/s, "
            "latency: 500ns}]}\n");
        return run_captured({"collective",
                             machine,
                             "--collective=" + kind,
                             "--algorithm=" + file,
                             "--size=1MiB",
                             "--csv=" + csv()});
    }
    std::string csv() const { return folder_.file("out.csv"); }

    ScratchFolder folder_;
};

struct Shape {
    const char* file;
    const char* kind;
    std::uint64_t time_ps;
};

class PublicShape : public CustomCollective, public testing::WithParamInterface<Shape> {};

// A message of m bytes takes 500,000 + 20 m ps; S = 1,048,576.
TEST_P(PublicShape, MeetsItsClosedForm) {
    const Shape& shape = GetParam();
    const ProgramRun ran = measure(shape.kind, collective_file(shape.file));
    ASSERT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(content(csv()), HasSubstr(",1048576," + std::to_string(shape.time_ps) + ","));
}

// The same program by way of Chakra's files takes the same time, and comes back the same file.
TEST_P(PublicShape, SurvivesTheWayThroughChakra) {
    const Shape& shape = GetParam();
    const std::string prefix = folder_.file("chakra");
    const std::string first = folder_.file("first.xml");
    const std::string second = folder_.file("second.xml");
    const auto convert = [&](const std::string& from, const char* to, const std::string& output) {
        return run_captured({"convert", from, std::string("--to=") + to, "--output=" + output});
    };
    ASSERT_EQ(convert(collective_file(shape.file), "chakra", prefix).status, 0);
    ASSERT_EQ(convert(prefix, "msccl", first).status, 0);
    ASSERT_EQ(convert(first, "chakra", prefix).status, 0);
    ASSERT_EQ(convert(prefix, "msccl", second).status, 0);
    EXPECT_EQ(content(first), content(second));
    const ProgramRun ran = measure(shape.kind, prefix);
    ASSERT_EQ(ran.status, 0) << ran.error;
    EXPECT_THAT(content(csv()), HasSubstr(",1048576," + std::to_string(shape.time_ps) + ","));
}

INSTANTIATE_TEST_SUITE_P(
    Inputs,
    PublicShape,
    testing::Values(
        // Two rings at once, 14 steps of S/16, that share the links: 14 · (500,000 + 2 ·
        // 1,310,720).
        Shape{"ring_all_reduce_8", "all_reduce", 43'700'160},
        // S/8 to everybody, twice: 2 · (500,000 + 2,621,440).
        Shape{"all_pairs_all_reduce_8", "all_reduce", 6'242'880},
        // S/4 within the node, across, within: 3 · (500,000 + 5,242,880).
        Shape{"hierarchical_all_reduce_2x4", "all_reduce", 17'228'640},
        // S/8, S/4, S/2: 3 · 500,000 + 7 · 2,621,440.
        Shape{"recursive_doubling_all_gather_8", "all_gather", 19'850'080},
        // S/8 for either node, one after the other, then S/2: 2 · 3,121,440 + 500,000 + 10,485,760.
        Shape{"two_step_all_to_all_2x4", "all_to_all", 17'228'640}),
    [](const auto& file) { return std::string(file.param.file); });

TEST_F(CustomCollective, SaysWhichKindAndSizeTheFileIsFor) {
    const ProgramRun other = measure("all_gather", collective_file("ring_all_reduce_8"));
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.error, HasSubstr("the file holds all_reduce"));
    const std::string study = folder_.write(
        "study.yml",
        "workload: {generate: {kind: collective, collective: all_reduce, bytes: 1MiB}}\n"
        "system: {collectives: {all_reduce: {file: " +
            collective_file("ring_all_reduce_8") +
            "}}}\n"
            "network: {dimensions: [{topology: ring, ranks: 4, bandwidth: 50GB/s, latency: "
            "500ns}]}\n");
    const ProgramRun smaller = run_captured({"run", study});
    EXPECT_EQ(smaller.status, 2);
    EXPECT_THAT(smaller.error, HasSubstr("the file is for 8 ranks"));
}

// The example of ASTRA-sim's custom collectives: a ring of 8 that was recorded for 1 MiB, with 14
// messages of 131,072 B and 7 reductions of 7 us on every rank.
class RecordedRing : public CustomCollective {
  protected:
    RecordedRing() {
        for (std::uint32_t rank = 0; rank < 8; ++rank) {
            ChakraWriter writer(folder_.file("ring." + std::to_string(rank) + ".et"));
            std::uint64_t next = 0;
            TraceNode node;
            const auto add = [&](OpKind kind, std::uint32_t tag, std::uint64_t duration_ps) {
                node.clear();
                node.id = next;
                node.name = "node";
                node.kind = kind;
                node.duration_ps = duration_ps;
                if (next > 0) {
                    node.parents = {next - 1};
                }
                if (kind != OpKind::Compute) {
                    node.comm_bytes = 131'072;
                    node.tag = tag;
                }
                if (kind == OpKind::Send) {
                    node.destination = (rank + 1) % 8;
                }
                if (kind == OpKind::Recv) {
                    node.source = (rank + 7) % 8;
                }
                writer.add(node);
                ++next;
            };
            for (std::uint32_t step = 0; step < 14; ++step) {
                add(OpKind::Send, step, 0);
                add(OpKind::Recv, step, 0);
                if (step < 7) {
                    add(OpKind::Compute, 0, 7'000'000);
                }
            }
            writer.close();
        }
    }

    ProgramRun run(const std::string& size, const std::string& system) {
        const std::string study = folder_.write(
            "study.yml",
            "workload: {generate: {kind: collective, collective: all_reduce, bytes: " + size +
                "}}\nsystem: {" + system +
                "}\nnetwork: {dimensions: [{topology: ring, ranks: 8, bandwidth: 50GiB/s, "
                "latency: 500ns}]}\n");
        return run_captured({"run", study, "--output=" + folder_.file("out")});
    }
    std::string result() const { return content(folder_.file("out/result.json")); }
};

// 14 · (500,000 + 131,072 / 50 GiB/s = 2,441,407) + 7 · 7,000,000 = 90,179,698 ps (ASTRA-sim, which
// truncates to nanoseconds: 90,174 ns). For four times the bytes each message has four times as
// many: 14 · (500,000 + 9,765,625) + 49,000,000. Endpoint delays are not added.
TEST_F(RecordedRing, IsScaledToTheBytesOfTheWorkload) {
    const std::string mine = "collectives: {all_reduce: {file: ring}}";
    ASSERT_EQ(run("1MiB", mine).status, 0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 90179698,"));
    const ProgramRun larger = run("4MiB", mine);
    ASSERT_EQ(larger.status, 0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 192718750,"));
    EXPECT_THAT(larger.error,
                HasSubstr("replayed but not proved: the files do not say which data they move; "
                          "taken to be made for 1048576 bytes, as their messages suggest"));
}

// Made for 2 MiB, the messages are half as long for 1 MiB: 14 · (500,000 + 1,220,704) + 49,000,000.
TEST_F(RecordedRing, TakesTheSizeThatItIsTold) {
    ASSERT_EQ(run("1MiB", "collectives: {all_reduce: {file: ring, bytes: 2MiB}}").status, 0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 73089856,"));
}

// Node 1, the only one of the workload, has the recorded ring, whatever the kind's algorithm is.
TEST_F(RecordedRing, MayBeForOneNodeAlone) {
    folder_.write("nodes.yml", "{1: ring}\n");
    ASSERT_EQ(run("1MiB", "collectives: {nodes: nodes.yml}").status, 0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 90179698,"));
    ASSERT_EQ(run("1MiB", "collectives: {nodes: {1: {file: ring}}}").status, 0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 90179698,"));
    ASSERT_EQ(run("1MiB", "endpoint_delay: 0ns, collectives: {nodes: {7: {file: ring}}}").status,
              0);
    EXPECT_THAT(result(), HasSubstr("\"simulated_ps\": 41179698,"));
}

TEST_F(RecordedRing, SaysWhatIsWrongInItsFiles) {
    std::filesystem::remove(folder_.file("ring.7.et"));
    const ProgramRun missing = run("1MiB", "collectives: {all_reduce: {file: ring}}");
    EXPECT_EQ(missing.status, 2);
    EXPECT_THAT(missing.error, HasSubstr("the files are for 7 ranks"));
    const ProgramRun nothing = run("1MiB", "collectives: {all_reduce: {file: rings}}");
    EXPECT_EQ(nothing.status, 2);
    EXPECT_THAT(nothing.error, HasSubstr("there is neither such a file nor "));
}

TEST_F(CustomCollective, ConvertNamesTheFormats) {
    const ProgramRun ran = run_captured(
        {"convert", collective_file("ring_all_reduce_8"), "--to=chakre", "--output=x"});
    EXPECT_EQ(ran.status, 2);
    EXPECT_THAT(ran.error, HasSubstr("--to: no format 'chakre'"));
    EXPECT_THAT(ran.error, HasSubstr("chakra"));
}

}  // namespace
}  // namespace astra::test
