#include "workload/chakra/trace_loader.h"

#include <chrono>
#include <filesystem>

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string failure(const Folder& folder, std::uint32_t ranks, const std::string& groups = "") {
    Warnings warnings;
    try {
        load(folder, ranks, warnings, groups);
    } catch (const InputError& error) {
        return error.what();
    }
    return "";
}

std::string zstd(const std::string& bytes) {
    std::string result(ZSTD_compressBound(bytes.size()), '\0');
    result.resize(ZSTD_compress(result.data(), result.size(), bytes.data(), bytes.size(), 3));
    return result;
}

void write_gzip(const std::string& file, const std::string& bytes) {
    gzFile out = gzopen(file.c_str(), "wb");
    gzwrite(out, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(out);
}

std::string shift(std::uint32_t to, std::uint32_t from) {
    const std::string rest = int64_attribute("comm_tag", 0) + int64_attribute("comm_size", 64);
    return node(1, "s", Send, {}, rest + int64_attribute("comm_dst", to)) +
           node(2, "r", Recv, {}, rest + int64_attribute("comm_src", from));
}

TEST(TraceLoader, ReadsGzipAndZstdWhateverTheName) {
    const Folder folder;
    std::string trace = metadata("0.0.4");
    for (std::uint64_t i = 1; i < 20'000; ++i) {
        trace += node(i, "n" + std::to_string(i * 7919), Comp, {i - 1}, number_field(7, i));
    }
    folder.write("t.0.et", trace);
    write_gzip(folder.file("t.1.et.gz"), trace);
    folder.write("t.2.et.zst", zstd(trace));
    folder.write("t.3.et", zstd(trace.substr(0, 1000)).append(zstd(trace.substr(1000))));
    write_gzip(folder.file("t.4.et.zst"), trace);
    Warnings warnings;
    const Workload workload = load(folder, 5, warnings);
    for (const RankTrace& rank : workload.ranks) {
        EXPECT_EQ(rank.graph, workload.ranks[0].graph);
    }
    EXPECT_EQ(workload.dropped_dependencies, 5U);
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("t.0.et (and 4 more files): dropped 1")));
}

TEST(TraceLoader, ReportsDamagedCompression) {
    const Folder folder;
    std::string trace = metadata("0.0.4");
    for (std::uint64_t i = 1; i < 1000; ++i) {
        trace += node(i, "n" + std::to_string(i * 7919), Comp);
    }
    write_gzip(folder.file("t.0.et"), trace);
    const std::string gzip = folder.read("t.0.et");
    folder.write("t.0.et", gzip.substr(0, gzip.size() / 2));
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et: truncated gzip data"));
    std::string damaged = gzip;
    damaged[gzip.size() / 2] = static_cast<char>(~damaged[gzip.size() / 2]);
    folder.write("t.0.et", damaged);
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et"));
    const std::string packed = zstd(trace);
    folder.write("t.0.et", packed.substr(0, packed.size() / 2));
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et: truncated zstd data"));
}

TEST(TraceLoader, SharesGraphsOfRelativePeers) {
    const Folder folder;
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        folder.write("t." + std::to_string(rank) + ".et", shift((rank + 1) % 4, (rank + 3) % 4));
    }
    Warnings warnings;
    const Workload workload = load(folder, 4, warnings);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(workload.ranks[rank].graph, workload.ranks[0].graph);
        EXPECT_THAT(workload.ranks[rank].peers, ElementsAre((rank + 1) % 4, (rank + 3) % 4));
        EXPECT_THAT(workload.ranks[rank].file, HasSubstr("t." + std::to_string(rank) + ".et"));
    }
}

TEST(TraceLoader, EqualBytesStillCheckTheOwnRank) {
    const Folder folder;
    const std::string trace =
        node(1,
             "s",
             Send,
             {},
             int64_attribute("comm_tag", 0) + int64_attribute("comm_size", 64) +
                 int64_attribute("comm_dst", 0) + int64_attribute("comm_src", 0));
    folder.write("t.0.et", trace);
    folder.write("t.1.et", trace);
    EXPECT_EQ(failure(folder, 1), "");
    EXPECT_THAT(failure(folder, 2),
                HasSubstr("rank 1, node 1 (s): attribute comm_src: 0 is not the rank"));
}

TEST(TraceLoader, NamesMissingFiles) {
    const Folder folder;
    for (const char* name : {"t.0.et", "t.1.et", "t.3.et"}) {
        folder.write(name, all_reduce(1));
    }
    EXPECT_THAT(failure(folder, 10),
                AllOf(HasSubstr("missing ranks 2, 4-9"), HasSubstr("t.<rank>.et")));
    Warnings warnings;
    try {
        load_traces({folder.file("nowhere/x"), "", 2, 1}, warnings);
        FAIL();
    } catch (const TraceError& error) {
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("no file matches"),
                          HasSubstr("nowhere/x.<rank>.et"),
                          HasSubstr("nowhere does not exist")));
    }
    load(folder, 1, warnings);
    EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("t.1.et is not read")));
}

TEST(TraceLoader, RefusesDirectories) {
    const Folder folder;
    std::filesystem::create_directory(folder.file("t.0.et"));
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et: is a directory"));
}

TEST(TraceLoader, RefusesWhatIsNoRegularFile) {
    const Folder folder;
    ASSERT_EQ(::mkfifo(folder.file("t.0.et").c_str(), 0600), 0);
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et: is not a regular file"));
    std::filesystem::remove(folder.file("t.0.et"));
    std::filesystem::create_symlink("/dev/zero", folder.file("t.0.et"));
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.et: is not a regular file"));
    std::filesystem::remove(folder.file("t.0.et"));
    folder.write("t.0.json", R"([{"id": 1, "type": 4}])");
    ASSERT_EQ(::mkfifo(folder.file("g.json").c_str(), 0600), 0);
    EXPECT_THAT(failure(folder, 1, folder.file("g.json")),
                HasSubstr("g.json: is not a regular file"));
}

TEST(TraceLoader, RefusesZerosAtOnce) {
    const std::string zeros(std::size_t{16} << 20U, '\0');
    const auto start = std::chrono::steady_clock::now();
    const Folder folder;
    folder.write("t.0.et", zeros);
    EXPECT_THAT(failure(folder, 1), HasSubstr("node 0 (): the id is used again by node 0 ()"));
    folder.write("t.0.et", zstd(zeros));
    EXPECT_THAT(failure(folder, 1), HasSubstr("the id is used again"));
    write_gzip(folder.file("t.0.et"), zeros);
    EXPECT_THAT(failure(folder, 1), HasSubstr("the id is used again"));
    std::filesystem::remove(folder.file("t.0.et"));
    folder.write("t.0.json.zst", zstd(zeros));
    EXPECT_THAT(failure(folder, 1), HasSubstr(":1:1: a JSON trace is an object or a list"));
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST(TraceLoader, NamesThatSayJsonAreNeverProtobuf) {
    const Folder folder;
    for (const std::string text : {"null", "12", "\"x\"", " \n", "true", "{} 5"}) {
        folder.write("t.0.json", text);
        EXPECT_THAT(failure(folder, 1), HasSubstr("a JSON trace is an object or a list")) << text;
    }
    folder.write("t.0.json", metadata("0.0.4") + all_reduce(1));
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.json:1:1: a JSON trace is an object or a list"));
    folder.write("t.0.json", "");
    EXPECT_THAT(failure(folder, 1), HasSubstr("the file is empty"));
    folder.write("t.0.json", "[1]");
    EXPECT_THAT(failure(folder, 1), HasSubstr("t.0.json:1:3: rank 0: a list of nodes holds a"));
    for (const std::string text : {"{}", "[]", " {\"workload_graph\": []}", "\xef\xbb\xbf[]"}) {
        folder.write("t.0.json", text);
        Warnings warnings;
        load(folder, 1, warnings);
        EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("the trace has no nodes"))) << text;
    }
}

TEST(TraceLoader, OpensOneFileAtATime) {
    const Folder folder;
    for (std::uint32_t rank = 0; rank < 100; ++rank) {
        const std::string name = "t." + std::to_string(rank) + ".et";
        folder.write(name, all_reduce(1, int64_attribute("comm_priority", rank % 7)));
        ::chmod(folder.file(name).c_str(), 0400);
    }
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    rlimit few = before;
    few.rlim_cur = 16;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
    const std::string what = failure(folder, 100);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(what, "");
}

class TraceGroups : public testing::Test {
  protected:
    void write_ranks(const std::vector<std::string>& groups) {
        for (std::size_t rank = 0; rank < groups.size(); ++rank) {
            folder_.write("t." + std::to_string(rank) + ".et",
                          all_reduce(1, text_attribute("pg_name", groups[rank])));
        }
    }
    Workload load_all(std::uint32_t ranks) { return load(folder_, ranks, warnings_, file_); }

    Folder folder_;
    Warnings warnings_;
    std::string file_;
};

TEST_F(TraceGroups, DefaultsToAllRanks) {
    write_ranks({"", "0"});
    const Workload workload = load_all(2);
    EXPECT_THAT(workload.groups, ElementsAre(GroupDefinition{"0", {0, 1}}));
    EXPECT_EQ(workload.ranks[0].graph, workload.ranks[1].graph);
}

TEST_F(TraceGroups, FileDefinesAnyName) {
    write_ranks({"tp", "tp", "0"});
    file_ = folder_.write("g.json", R"({"tp": [1, 0], "0": [2]})");
    const Workload workload = load_all(3);
    EXPECT_THAT(workload.groups,
                ElementsAre(GroupDefinition{"tp", {1, 0}}, GroupDefinition{"0", {2}}));
    EXPECT_THAT(workload.ranks[2].groups, ElementsAre(1U));
}

TEST_F(TraceGroups, NamesUnknownGroups) {
    write_ranks({"5"});
    EXPECT_THAT(failure(folder_, 1),
                HasSubstr("rank 0, node 1 (ar): group '5' is not defined: there is no group file"));
    file_ = folder_.write("g.json", R"({"1": [0], "2": [0]})");
    EXPECT_THAT(failure(folder_, 1, file_),
                AllOf(HasSubstr("t.0.et: rank 0, node 1 (ar): group '5' is not defined in "),
                      HasSubstr("g.json; known: 1, 2")));
}

TEST_F(TraceGroups, RefusesRanksOutsideTheirGroup) {
    write_ranks({"g", "g"});
    file_ = folder_.write("g.json", R"({"g": [0]})");
    EXPECT_THAT(failure(folder_, 2, file_),
                HasSubstr("rank 1, node 1 (ar): group 'g' does not have rank 1 in it"));
}

TEST_F(TraceGroups, RefusesWrongFiles) {
    write_ranks({"g", "g"});
    for (const char* text : {R"({"g": []})",
                             R"({"g": [0, 0]})",
                             R"({"g": [2]})",
                             R"({"g": 1})",
                             R"({"g": ["x"]})",
                             R"([1])",
                             R"({"g": )"}) {
        const std::string file = folder_.write("g.json", text);
        EXPECT_THAT(failure(folder_, 2, file), HasSubstr("g.json")) << text;
    }
}

TEST_F(TraceGroups, MetadataDefinesGroups) {
    const auto trace = [](const std::string& values) {
        return node(1,
                    "## process_group:init ##",
                    Metadata,
                    {},
                    text_field(8, text_field(1, values))) +
               all_reduce(2, text_attribute("pg_name", "dp"));
    };
    const std::string plain =
        R"([{"pg_name": "dp", "ranks": [1, 0]}, {"pg_name": "0", "ranks": []}])";
    const std::string escaped = R"(["[{\"pg_name\": \"dp\", \"ranks\": [1, 0]}]"])";
    const std::string python = R"(['[{"pg_name": "dp", "ranks": [1, 0]}]'])";
    for (const std::string& values : {plain, escaped, python}) {
        folder_.write("t.0.et", trace(values));
        folder_.write("t.1.et", all_reduce(2, text_attribute("pg_name", "dp")));
        Warnings warnings;
        const Workload workload = load(folder_, 2, warnings);
        EXPECT_THAT(workload.groups, ElementsAre(GroupDefinition{"dp", {1, 0}})) << values;
        EXPECT_THAT(warnings.texts(), IsEmpty());
    }
    file_ = folder_.write("g.json", R"({"dp": [0, 1]})");
    EXPECT_THAT(load_all(2).groups, ElementsAre(GroupDefinition{"dp", {0, 1}}));
    EXPECT_THAT(warnings_.texts(), IsEmpty());
    file_ = folder_.write("g.json", R"({"dp": [0, 1, 2]})");
    folder_.write("t.2.et", all_reduce(2));
    EXPECT_THAT(load_all(3).groups[0].ranks, ElementsAre(0, 1, 2));
    EXPECT_THAT(warnings_.texts(), ElementsAre(HasSubstr("those of the file are taken")));
}

TEST_F(TraceGroups, MalformedMetadataIsAWarning) {
    for (const char* values : {"[{\"pg_name\"", "7", R"([{"pg_name": "x", "ranks": [9]}])", ""}) {
        Warnings warnings;
        load_bytes(
            node(1, "## process_group:init ##", Metadata, {}, text_field(8, text_field(1, values))),
            warnings);
        EXPECT_THAT(warnings.texts(), ElementsAre(HasSubstr("process groups cannot be read")));
    }
}

TEST_F(TraceGroups, RootMustBeInTheGroup) {
    folder_.write("t.0.et",
                  node(1,
                       "b",
                       Coll,
                       {},
                       int64_attribute("comm_type", 5) + int64_attribute("comm_size", 8) +
                           int64_attribute("comm_src", 1) + text_attribute("pg_name", "g")));
    folder_.write("t.1.et", metadata("0.0.4"));
    file_ = folder_.write("g.json", R"({"g": [0]})");
    EXPECT_THAT(failure(folder_, 2, file_), HasSubstr("the root 1 is not in the group 'g'"));
    file_ = folder_.write("g.json", R"({"g": [0, 1]})");
    const Workload workload = load_all(2);
    EXPECT_EQ(workload.ranks[0].peers[workload.ranks[0].graph->collectives[0].root_role], 1U);
}

}  // namespace
}  // namespace astra::test
