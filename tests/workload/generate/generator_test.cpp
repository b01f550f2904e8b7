#include "workload/generate/generator.h"

#include <set>

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/workload/trace_maker.h"
#include "workload/chakra/chakra_writer.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Workload generate(const std::string& kind, const ParameterMap& parameters, std::uint32_t ranks) {
    Warnings warnings;
    Workload workload = generate_workload(kind, parameters, ranks, warnings);
    EXPECT_THAT(warnings.texts(), IsEmpty());
    return workload;
}

std::string failure(const std::string& kind, const ParameterMap& parameters, std::uint32_t ranks) {
    Warnings warnings;
    try {
        generate_workload(kind, parameters, ranks, warnings);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

TEST(Generator, WrittenTracesEqualGeneratedOnes) {
    for (const Generator* generator : generators()) {
        const std::string kind(generator->name);
        const Folder folder;
        Warnings warnings;
        const ParameterMap parameters =
            kind == "tensor_parallel" ? ParameterMap{{"group_size", "2"}} : ParameterMap{};
        write_traces(kind, parameters, 4, folder.file("t"), warnings);
        const std::string groups = folder.file("t.groups.json");
        const Workload read =
            load(folder, 4, warnings, std::filesystem::exists(groups) ? groups : std::string());
        const Workload made = generate(kind, parameters, 4);
        EXPECT_THAT(warnings.texts(), IsEmpty());
        EXPECT_EQ(read.groups, made.groups) << kind;
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            EXPECT_EQ(*read.ranks[rank].graph, *made.ranks[rank].graph) << kind;
            EXPECT_EQ(read.ranks[rank].peers, made.ranks[rank].peers);
            EXPECT_EQ(read.ranks[rank].groups, made.ranks[rank].groups);
        }
    }
}

TEST(Generator, SharesEqualRanks) {
    std::set<const ExecutionGraph*> graphs;
    for (const RankTrace& rank : generate("shift", {{"offset", "3"}}, 16).ranks) {
        graphs.insert(rank.graph.get());
    }
    EXPECT_EQ(graphs.size(), 1U);
    EXPECT_EQ(generate("training", {}, 1000).ranks.size(), 1000U);
}

TEST(Generator, Training) {
    const Workload workload =
        generate("training", {{"layers", "2"}, {"iterations", "2"}, {"forward", "1500ns"}}, 2);
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    EXPECT_EQ(graph.size(), 16U);
    EXPECT_EQ(graph.duration_ps[0], 1'500'000U);
    // The second iteration's layers wait for the computation before and for their update.
    EXPECT_EQ(graph.parent_count[8], 2U);
    EXPECT_EQ(graph.parent_count[9], 2U);
}

TEST(Generator, PipelineSendsMeetReceives) {
    const Workload workload = generate("pipeline", {{"microbatches", "3"}}, 4);
    std::multiset<std::vector<std::uint64_t>> sent;
    std::multiset<std::vector<std::uint64_t>> received;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        const RankTrace& trace = workload.ranks[rank];
        for (std::uint32_t i = 0; i < trace.graph->size(); ++i) {
            const OpKind kind = trace.graph->kind[i];
            if (kind != OpKind::Send && kind != OpKind::Recv) {
                continue;
            }
            const PointDetail& point = trace.graph->points[trace.graph->detail[i]];
            const std::uint64_t peer = trace.peers[point.peer_role];
            if (kind == OpKind::Send) {
                sent.insert({rank, peer, point.tag, point.bytes.count});
            } else {
                received.insert({peer, rank, point.tag, point.bytes.count});
            }
        }
    }
    EXPECT_EQ(sent, received);
    EXPECT_EQ(sent.size(), 18U);
}

TEST(Generator, TensorParallelGroups) {
    const Workload workload = generate("tensor_parallel", {{"group_size", "2"}}, 4);
    EXPECT_THAT(workload.groups,
                ElementsAre(GroupDefinition{"tensor_0", {0, 1}},
                            GroupDefinition{"data_0", {0, 2}},
                            GroupDefinition{"data_1", {1, 3}},
                            GroupDefinition{"tensor_1", {2, 3}}));
}

TEST(Generator, ChecksParameters) {
    EXPECT_THAT(failure("colective", {}, 2), HasSubstr("'collective'"));
    EXPECT_THAT(failure("collective", {{"byte", "1MiB"}}, 2),
                HasSubstr("generate: collective: byte: unknown parameter; did you mean 'bytes'?"));
    EXPECT_THAT(failure("collective", {{"bytes", "12 parsecs"}}, 2), HasSubstr("not a size"));
    EXPECT_THAT(failure("collective", {{"collective", "all_redduce"}}, 2), HasSubstr("all_reduce"));
    EXPECT_THAT(failure("compute", {{"duration", "soon"}}, 2), HasSubstr("not a time"));
    EXPECT_THAT(failure("compute", {{"count", "-1"}}, 2), HasSubstr("count: '-1' is not a whole"));
    EXPECT_THAT(failure("tensor_parallel", {{"group_size", "3"}}, 4), HasSubstr("does not divide"));
    EXPECT_THAT(failure("compute", {}, 0), HasSubstr("at least one rank"));
}

TEST(Generator, RefusesWhatMakesNoSense) {
    EXPECT_THAT(failure("", {}, 0), HasSubstr("generate: unknown kind ''"));
    EXPECT_THAT(failure("shift", {{"offset", "0"}}, 4),
                HasSubstr("generate: shift: offset: '0' is not a whole number within 1 and 3"));
    EXPECT_THAT(failure("shift", {{"offset", "4"}}, 4), HasSubstr("within 1 and 3"));
    EXPECT_THAT(failure("shift", {}, 1), HasSubstr("shift: at least 2 ranks are needed, not 1"));
    EXPECT_THAT(failure("pipeline", {}, 1), HasSubstr("pipeline: at least 2 ranks are needed"));
}

TEST(Generator, LimitsTheNodesOfARank) {
    EXPECT_EQ(failure("training", {{"layers", "1000000"}, {"iterations", "34"}}, 4),
              "generate: training: layers, iterations: 136000000 nodes a rank are too many; at "
              "most 134217728");
    EXPECT_THAT(failure("training", {{"layers", "1000000"}, {"iterations", "1000000"}}, 4),
                HasSubstr("layers, iterations: 4000000000000 nodes"));
    EXPECT_THAT(failure("compute", {{"count", "134217729"}}, 4),
                HasSubstr("generate: compute: count: 134217729 nodes"));
}

std::string write_failure(const ParameterMap& parameters, const std::string& prefix) {
    Warnings warnings;
    try {
        write_traces("compute", parameters, 2, prefix, warnings);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

TEST(Generator, ChecksTheFolderFirst) {
    const Folder folder;
    const ParameterMap many = {{"count", "134217728"}};
    EXPECT_EQ(write_failure(many, folder.file("nowhere/t")),
              "generate: output: the folder " + folder.file("nowhere") + " does not exist");
    folder.write("file", "");
    EXPECT_THAT(write_failure(many, folder.file("file/t")), HasSubstr("file is not a folder"));
    std::filesystem::create_directory(folder.file("closed"));
    ::chmod(folder.file("closed").c_str(), 0500);
    if (::geteuid() != 0) {  // who may write everywhere
        EXPECT_THAT(write_failure(many, folder.file("closed/t")),
                    HasSubstr("cannot be written to"));
    }
    EXPECT_EQ(write_failure({}, folder.file("t")), "");
}

TEST(Generator, ChecksWhatItWrites) {
    const Folder folder;
    Warnings warnings;
    const ParameterMap parameters = {{"bytes", "9223372036854775809B"}};
    EXPECT_THROW(write_traces("collective", parameters, 2, folder.file("t"), warnings), TraceError);
    EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));
}

TEST(Generator, DescribesItself) {
    for (const Generator* generator : generators()) {
        const std::string kind(generator->name);
        EXPECT_THAT(describe_generators(),
                    HasSubstr(kind + ": " + std::string(generator->summary) + "\n"));
    }
}

// duration_micros holds the nearest microsecond, duration_ps the duration.
TEST(ChakraWriter, KeepsFractionsOfMicroseconds) {
    for (const std::uint64_t ps : {1ULL, 499'999ULL, 500'000ULL, 7'654'321ULL, 3'000'000ULL}) {
        const Folder folder;
        TraceNode node;
        node.name = "x";
        node.kind = OpKind::Compute;
        node.duration_ps = ps;
        {
            ChakraWriter writer(folder.file("t.0.et"));
            writer.add(node);
        }
        EXPECT_TRUE(std::filesystem::is_empty(folder.file("")));  // it was not closed
        ChakraWriter writer(folder.file("t.0.et"));
        writer.add(node);
        writer.close();
        Warnings warnings;
        EXPECT_EQ(load(folder, 1, warnings).ranks[0].graph->duration_ps[0], ps);
    }
}

TEST(ChakraReader, RefusesDurationsThatContradict) {
    const Folder folder;
    folder.write("t.0.json",
                 R"({"workload_graph": [{"id": 3, "name": "x", "type": 4, "duration_micros": 2,
                     "duration_ps": 3000001}]})");
    Warnings warnings;
    try {
        load(folder, 1, warnings);
        FAIL();
    } catch (const TraceError& error) {
        EXPECT_THAT(error.what(),
                    HasSubstr("node 3 (x): attribute duration_ps: 3000001 is not within a "
                              "microsecond of the duration"));
    }
}

TEST(ChakraWriter, NamesFilesItCannotWrite) {
    const Folder folder;
    try {
        const ChakraWriter writer(folder.file("nowhere/t.0.et"));
        FAIL();
    } catch (const TraceError& error) {
        EXPECT_THAT(error.what(), HasSubstr("nowhere/t.0.et: cannot be written: No such file"));
    }
}

TEST(ChakraWriter, KeepsEveryField) {
    const Folder folder;
    TraceNode node;
    node.id = 0;
    node.name = "bcast";
    node.kind = OpKind::Collective;
    node.duration_ps = 5'000'000;
    node.collective = CollectiveKind::Broadcast;
    node.comm_bytes = std::uint64_t{1} << 63U;
    node.priority = 4;
    node.source = 0;
    node.involved_dimensions = {false, true};
    ChakraWriter writer(folder.file("t.0.et"));
    writer.add(node);
    writer.close();
    Warnings warnings;
    const Workload workload = load(folder, 1, warnings);
    const CollectiveDetail& detail = workload.ranks[0].graph->collectives[0];
    EXPECT_EQ(detail.bytes.count, std::uint64_t{1} << 63U);
    EXPECT_EQ(detail.priority, 4U);
    EXPECT_EQ(detail.root_role, 0U);
    EXPECT_EQ(detail.dimensions, 2U);
    EXPECT_EQ(workload.ranks[0].graph->duration_ps[0], 5'000'000U);
}

}  // namespace
}  // namespace astra::test
