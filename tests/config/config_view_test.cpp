#include "astra/config/config_view.h"

#include <array>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"

namespace astra {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

std::string parse_error(const std::string& text) {
    return error_of([&] { ConfigTree::parse_text(text, "a.yml"); });
}

ConfigTree parsed(const std::string& text) {
    return ConfigTree::parse_text(text, "a.yml", "folder");
}

std::string temporary_file(const std::string& name, const std::string& text) {
    std::string file = testing::TempDir() + "/" + name;
    std::ofstream(file, std::ios::binary) << text;
    return file;
}

TEST(ConfigView, ReadsEveryKindOfValue) {
    const ConfigTree tree = parsed(
        "text: hello\nswitch: yes\nnumber: -1.5e3\ncount: 8.0\ntime: 936.25ns\nsize: 1MiB\n"
        "rate: 312TFLOPS\nspeed: 50GiB/s\nkind: fifo\nlist: [1, 2]\none: x\n");
    const ConfigView root = tree.root();
    const std::array<std::string, 2> kinds = {"lifo", "fifo"};
    EXPECT_EQ(root.at("text").as_string(), "hello");
    EXPECT_TRUE(root.at("switch").as_bool());
    EXPECT_EQ(root.at("number").as_number(), -1500);
    EXPECT_EQ(root.at("count").as_integer(1, 8), 8U);
    EXPECT_EQ(root.at("time").as_duration().ps, 936'250U);
    EXPECT_EQ(root.at("size").as_bytes().count, 1'048'576U);
    EXPECT_EQ(root.at("rate").as_rate(), 312e12);
    EXPECT_EQ(root.at("speed").as_bandwidth().bits_per_s, 429'496'729'600U);
    EXPECT_EQ(root.at("kind").as_choice(kinds), "fifo");
    EXPECT_EQ(root.at("list").items().at(1).as_integer(0, 9), 2U);
    EXPECT_EQ(root.at("list").items().at(1).path(), "list.1");
    EXPECT_EQ(root.at("one").items().size(), 1U);
    EXPECT_NO_THROW(tree.reject_unread());
}

TEST(ConfigView, ErrorsSayWherePathWhatAndWhatIsExpected) {
    const ConfigTree tree = parsed(
        "net:\n  delay: 500\n  ranks: 2.5\n  on: \"true\"\n  empty:\n  list: [1]\n  kind: Rign\n"
        "  big: 1e999\n");
    const ConfigView net = tree.root().at("net");
    EXPECT_EQ(error_of([&] { net.at("delay").as_duration(); }),
              "a.yml:2:10: net.delay: '500' has no unit; a time with a unit (ps, ns, us, ms, s, "
              "min, h) such as 500ns is expected");
    EXPECT_EQ(error_of([&] { net.at("ranks").as_integer(1, 4); }),
              "a.yml:3:10: net.ranks: '2.5' is not valid; a whole number from 1 to 4 is expected");
    EXPECT_EQ(error_of([&] { net.at("on").as_bool(); }),
              "a.yml:4:7: net.on: 'true' is text in quotes; true or false is expected");
    EXPECT_THAT(error_of([&] { net.at("empty").as_string(); }),
                HasSubstr("net.empty: has no value; a text is expected"));
    EXPECT_EQ(error_of([&] { net.at("list").as_number(); }),
              "a.yml:6:9: net.list: is a list; a number is expected");
    EXPECT_EQ(error_of([&] { net.at("list").at("x"); }),
              "a.yml:6:9: net.list: is a list; a map of keys is expected");
    const std::array<std::string, 2> kinds = {"Ring", "Switch"};
    EXPECT_EQ(error_of([&] { net.at("kind").as_choice(kinds); }),
              "a.yml:7:9: net.kind: 'Rign' is not one of Ring, Switch; did you mean 'Ring'?");
    EXPECT_THAT(error_of([&] { net.at("big").as_number(); }), StartsWith("a.yml:8:8: net.big:"));
    EXPECT_EQ(error_of([&] { net.items(); }), "a.yml:2:3: net: is a map; a list is expected");
}

TEST(ConfigView, IntegersKeepTheirBounds) {
    const ConfigTree tree = parsed("{a: 18446744073709551615, b: 18446744073709551616, c: -1}");
    EXPECT_EQ(tree.root().at("a").as_integer(0, ~0ULL), ~0ULL);
    EXPECT_THROW(tree.root().at("b").as_integer(0, ~0ULL), ConfigError);
    EXPECT_THROW(tree.root().at("c").as_integer(0, ~0ULL), ConfigError);
}

TEST(ConfigView, MissingKeyNamesTheMapAndAMisspelling) {
    const ConfigTree tree = parsed("net:\n  bandwith: 1GB/s\n");
    EXPECT_EQ(error_of([&] { tree.root().at("net").at("bandwidth"); }),
              "a.yml:2:3: net: the key 'bandwidth' is missing; is 'bandwith' a misspelling of it?");
}

TEST(ConfigView, FirstUnreadKeyIsAnErrorWithTheNearestName) {
    const ConfigTree tree = parsed("net:\n  - ranks: 4\n    bandwith: 1GB/s\nother: {x: 1}\n");
    const ConfigView item = tree.root().at("net").items().at(0);
    item.at("ranks");
    item.bandwidth_or("bandwidth", {1});
    EXPECT_EQ(error_of([&] { tree.reject_unread(); }),
              "a.yml:3:5: net.0.bandwith: unknown key 'bandwith'; did you mean 'bandwidth'?");
    item.at("bandwith");
    EXPECT_EQ(error_of([&] { tree.reject_unread(); }),
              "a.yml:4:1: other: unknown key 'other'; valid: net");
}

TEST(ConfigView, HasRegistersTheKeyButDoesNotReadIt) {
    const ConfigTree tree = parsed("job: 1");
    EXPECT_FALSE(tree.root().has("jobs"));
    EXPECT_TRUE(tree.root().has("job"));
    EXPECT_THAT(error_of([&] { tree.reject_unread(); }), HasSubstr("unknown key 'job'"));
}

TEST(ConfigView, EntriesReadEveryKeyInFileOrder) {
    const ConfigTree tree = parsed("{b: 1, a: 2}");
    const auto entries = tree.root().entries();
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[0].first, "b");
    EXPECT_EQ(entries[1].second.as_integer(0, 9), 2U);
    EXPECT_NO_THROW(tree.reject_unread());
}

TEST(EffectiveJson, HoldsValuesAsWrittenThenDefaults) {
    const ConfigTree tree =
        parsed("system: {chunks: 4, scale: 1.5, rendezvous: yes, name: \"7\", version: 1.50}\n");
    const ConfigView system = tree.root().section("system");
    system.integer_or("chunks", 1, 1, 9);
    system.number_or("scale", 1);
    system.bool_or("rendezvous", false);
    system.string_or("name", "");
    system.string_or("version", "");
    system.duration_or("delay", {10'000});
    system.duration_or("delay", {10'000});
    system.bandwidth_or("speed", {536'870'912'000});
    system.bytes_or("size", {1024});
    system.number_or("noise", 0.25);
    system.integer_or("queues", 1, 1, 9);
    system.choice_or("kind", "fifo", {});
    system.bool_or("roofline", false);
    tree.root().section("memory").string_or("kind", "none");
    tree.root().section("memory");
    EXPECT_FALSE(tree.root().has("memory"));
    EXPECT_FALSE(system.has("delay"));
    EXPECT_NO_THROW(tree.reject_unread());
    EXPECT_EQ(tree.effective_json(-1),
              R"({"system":{"chunks":4,"scale":1.5,"rendezvous":true,"name":"7",)"
              R"("version":"1.50","delay":"10ns","speed":"536870912000bps","size":"1KiB",)"
              R"("noise":0.25,"queues":1,"kind":"fifo","roofline":false},)"
              R"("memory":{"kind":"none"}})");
}

TEST(EffectiveJson, LeavesOutFoldersAndTheOutputDirectory) {
    const ConfigTree tree = parsed(
        "trace: /some/where/run\ngroups: sub/g.json\noutput: {directory: /out, links: true}\n"
        "directory: kept\n");
    EXPECT_EQ(tree.root().at("trace").as_file_name(), "/some/where/run");
    EXPECT_EQ(tree.root().at("groups").as_file_name(), "folder/sub/g.json");
    EXPECT_EQ(tree.effective_json(-1),
              R"({"trace":"run","groups":"g.json","output":{"links":true},"directory":"kept"})");
}

TEST(ConfigTree, SetOverridesAndCreates) {
    ConfigTree tree = parsed("net: {dims: [{ranks: 4}, {ranks: 2}]}\ntrace: old\n");
    tree.set("net.dims.1.ranks=8");
    tree.set("net.dims.2.ranks=16");
    tree.set("system.collectives.all_reduce=[ring, direct]");
    tree.set("trace=new=1");
    tree.set("empty=");
    EXPECT_EQ(tree.effective_json(-1),
              R"({"net":{"dims":[{"ranks":4},{"ranks":8},{"ranks":16}]},"trace":"new=1",)"
              R"("system":{"collectives":{"all_reduce":["ring","direct"]}},"empty":null})");
    EXPECT_EQ(tree.root().at("trace").as_file_name(), "new=1");
    EXPECT_EQ(tree.root().at("trace").where(), "--set trace");
    const ConfigView dims = tree.root().at("net").at("dims");
    EXPECT_EQ(error_of([&] { dims.items().at(1).at("ranks").as_integer(1, 2); }),
              "--set net.dims.1.ranks: '8' is not valid; a whole number from 1 to 2 is expected");
}

// `--set` over `--seed` over the file over the default, whoever reads first and how often.
TEST(ConfigTree, TheSeedOfAllIsThatOfEverySeedThatIsRead) {
    ConfigTree tree = ConfigTree::parse_text("a: {seed: 3}\nb: {seed: 4, size: 5}", "study.yml");
    EXPECT_EQ(tree.root().at("a").seed_or("seed", 1), 3U);
    tree.set_seed(9);
    tree.set("b.seed=7");
    tree.set("c={seed: 8}");
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(tree.root().at("a").seed_or("seed", 1), 9U);
        EXPECT_EQ(tree.root().at("b").seed_or("seed", 1), 7U);
        EXPECT_EQ(tree.root().at("c").seed_or("seed", 1), 8U);
        EXPECT_EQ(tree.root().section("d").seed_or("seed", 1), 9U);
    }
    EXPECT_EQ(ConfigTree(tree).root().section("e").seed_or("seed", 1), 9U);
    EXPECT_EQ(tree.root().at("b").integer_or("size", 1, 0, 9), 5U);
    EXPECT_NO_THROW(tree.reject_unread());
    EXPECT_EQ(tree.effective_json(-1),
              R"({"a":{"seed":9},"b":{"seed":7,"size":5},"c":{"seed":8},"d":{"seed":9}})");
}

TEST(ConfigTree, SetErrorsNameTheOption) {
    ConfigTree tree = parsed("a: {b: 1, list: [1, 2]}\n");
    EXPECT_EQ(error_of([&] { tree.set("a.b"); }), "--set a.b: key.path=value is expected");
    EXPECT_EQ(error_of([&] { tree.set("=1"); }), "--set =1: key.path=value is expected");
    EXPECT_THAT(error_of([&] { tree.set("a..b=1"); }), StartsWith("--set a..b: a part of the key"));
    EXPECT_EQ(error_of([&] { tree.set("a.b.c=1"); }),
              "--set a.b.c: 'a.b' is a value; a map of keys is expected");
    EXPECT_EQ(error_of([&] { tree.set("a.list.5=1"); }),
              "--set a.list.5: 'a.list' is a list of 2; a position in it is expected, not '5'");
    EXPECT_THAT(error_of([&] { tree.set("a.b=[1"); }), StartsWith("--set a.b"));
    std::string deep = "x";
    for (int i = 0; i < 100; ++i) {
        deep += ".x";
    }
    EXPECT_THAT(error_of([&] { tree.set(deep + "=1"); }), HasSubstr("more than 64 parts"));
    tree.set("netwrk.x=1");
    tree.root().has("network");
    tree.root().find("a")->entries();
    EXPECT_EQ(error_of([&] { tree.reject_unread(); }),
              "--set netwrk.x: netwrk: unknown key 'netwrk'; did you mean 'network'?");
}

TEST(ConfigTree, PutKeepsWhereTheOriginIs) {
    ConfigTree study = ConfigTree::empty_map("command line");
    {
        const ConfigTree file = ConfigTree::parse_text("lat:\n - 5\n", "net.yml", "there");
        const ConfigView value = file.root().at("lat").items().at(0);
        study.put("network.dimensions.0.latency", "5", value);
        study.put_list("algorithms", {"ring", "direct"}, value);
        study.put("file", "f", value);
    }
    const ConfigView dimensions = study.root().at("network").at("dimensions");
    ASSERT_TRUE(dimensions.is_list());
    EXPECT_THAT(error_of([&] { dimensions.items().at(0).at("latency").as_duration(); }),
                StartsWith("net.yml:2:4: network.dimensions.0.latency: '5' has no unit"));
    EXPECT_EQ(study.root().at("algorithms").items().at(1).as_string(), "direct");
    EXPECT_EQ(study.root().at("file").as_file_name(), "there/f");
    EXPECT_EQ(ConfigTree::empty_map("command line").root().where(), "command line");
}

TEST(ConfigTree, ReadsJsonWithTabsAndSurrogatePairs) {
    const ConfigTree tree = parsed(
        "\t{\n\t\"a\":\t[1,2],\"b\":{\"c\":\"x\ty\"},\n\t\"d\": \"\\ud83d\\ude00\\\"\\/\"\n}\n");
    EXPECT_EQ(tree.root().at("a").items().size(), 2U);
    EXPECT_EQ(tree.root().at("b").at("c").as_string(), "x\ty");
    EXPECT_EQ(tree.root().at("b").at("c").where(), "a.yml:2:22");
    EXPECT_EQ(tree.root().at("d").as_string(), "\xF0\x9F\x98\x80\"/");
}

TEST(ConfigTree, ReadsLongJsonOnOneLine) {
    std::string text = "{\"groups\":{\"1\":[0";
    for (int i = 1; i < 20'000; ++i) {
        text += "," + std::to_string(i);
    }
    const ConfigTree tree = parsed(text + "],\"2\":[{\"a\":[],\"b\":{}}]}}");
    const ConfigView groups = tree.root().at("groups");
    EXPECT_EQ(groups.at("1").items().size(), 20'000U);
    EXPECT_EQ(groups.at("1").items().at(19'999).as_integer(0, 20'000), 19'999U);
    EXPECT_TRUE(groups.at("2").items().at(0).at("b").is_map());
    EXPECT_TRUE(parsed("[" + text + "]}}]").root().is_list());
}

TEST(ConfigTree, RejectsTextAfterTheEnd) {
    EXPECT_THAT(parse_error("{\"a\": 1} x"), StartsWith("a.yml:1:"));
    EXPECT_THAT(parse_error("{\"a\": 1}\n{\"b\": 1}"), StartsWith("a.yml:2:1: text after"));
    EXPECT_THAT(parse_error("{\"a\": 1}}"), StartsWith("a.yml:1:"));
    EXPECT_THAT(parse_error("a: 1\n---\nb: 1\n"), HasSubstr("text after the end"));
}

TEST(ConfigTree, RejectsDuplicateAndOddKeys) {
    EXPECT_EQ(parse_error("a: 1\nb: 2\na: 3\n"),
              "a.yml:3:1: the key 'a' was given before, at line 1");
    EXPECT_EQ(parse_error("{\"x\": {\"a\": 1,\n \"a\": 2}}"),
              "a.yml:2:2: the key 'a' was given before, at line 1");
    EXPECT_THAT(parse_error("[1, 2]: x"), HasSubstr("a key must be plain text"));
    EXPECT_THAT(parse_error("{a: 1}: x"), HasSubstr("a key must be plain text"));
    EXPECT_THAT(parse_error("~: x"), HasSubstr("a key must be plain text"));
    EXPECT_THAT(parse_error("a: !odd x"), HasSubstr("is not supported"));
}

TEST(ConfigTree, SyntaxErrorsHaveAPlace) {
    EXPECT_THAT(parse_error("a: [1, 2\nb: 3"), StartsWith("a.yml:"));
    EXPECT_THAT(parse_error("a: b: c"), StartsWith("a.yml:1:5: "));
    EXPECT_THAT(parse_error("a: *nobody"), StartsWith("a.yml:1:"));
    EXPECT_EQ(parse_error(""), "a.yml: holds nothing; a map of keys is expected");
    EXPECT_EQ(parse_error("# only a comment\n"), "a.yml: holds nothing; a map of keys is expected");
}

TEST(ConfigTree, BoundsNesting) {
    std::string fine = "a: ";
    for (int i = 0; i < 63; ++i) {
        fine += "[";
    }
    EXPECT_EQ(parse_error(fine + "1" + std::string(63, ']')), "no error");
    EXPECT_THAT(parse_error(fine + "[1" + std::string(64, ']')),
                HasSubstr("nested deeper than 64 levels"));
    EXPECT_THAT(parse_error(std::string(200'000, '[')), HasSubstr("nested deeper"));
    EXPECT_THAT(parse_error("a: " + std::string(200'000, '{')), HasSubstr("nested deeper"));
    std::string dashes;
    for (int i = 0; i < 1000; ++i) {
        dashes += "- ";
    }
    EXPECT_THAT(parse_error(dashes), HasSubstr("nested deeper"));
}

TEST(ConfigTree, BoundsAliases) {
    std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    for (int i = 1; i < 12; ++i) {
        const std::string last = "*a" + std::to_string(i - 1);
        bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
        for (int copy = 1; copy < 10; ++copy) {
            bomb += ", " + last;
        }
        bomb += "]\n";
    }
    EXPECT_THAT(parse_error(bomb), HasSubstr("more than 1000000 values"));
    EXPECT_EQ(parse_error("a: &x\n  b: *x\n"),
              "a.yml:2:6: an alias inside the value that it stands for");
    EXPECT_THAT(parse_error("&x [*x]"), HasSubstr("an alias inside"));
    std::string deep = "a0: &a0 [1]\n";
    for (int i = 1; i < 100; ++i) {
        deep += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [*a" +
                std::to_string(i - 1) + "]\n";
    }
    EXPECT_THAT(parse_error(deep), HasSubstr("nested deeper than 64 levels"));
    const ConfigTree tree = parsed("a: &x {n: 5ns}\nb: *x\n");
    EXPECT_EQ(tree.root().at("b").at("n").as_duration().ps, 5'000U);
    EXPECT_EQ(tree.root().at("b").at("n").where(), "a.yml:1:11");
}

TEST(ConfigTree, RejectsWhatIsNotText) {
    EXPECT_EQ(parse_error(std::string("a: 1\nb\0: 2", 10)),
              "a.yml:2:2: byte 0x00 is not text; YAML or JSON in UTF-8 is expected");
    EXPECT_THAT(parse_error("a: 1\n\x04\nb: 2"), StartsWith("a.yml:2:1: byte 0x04 is not text"));
    EXPECT_THAT(parse_error("\x80\x81\xFF"), StartsWith("a.yml:1:1: byte 0x80 is not text"));
    EXPECT_THAT(parse_error("a: \xC3"), StartsWith("a.yml:1:4: byte 0xC3"));
    EXPECT_THAT(parse_error("a: \xED\xA0\x80"), StartsWith("a.yml:1:4: byte 0xED"));
    EXPECT_EQ(parse_error("\xEF\xBB\xBF"
                          "a: \xC3\xA9"),
              "no error");
}

TEST(ConfigTree, SurvivesGarbage) {
    std::uint32_t state = 1;
    constexpr std::string_view alphabet = "[]{}:,-?&*!|>'\"%@`#ab1 \n\t~<=.\\";
    for (int round = 0; round < 3000; ++round) {
        std::string text;
        for (int i = 0; i < 40; ++i) {
            state = state * 1'664'525U + 1'013'904'223U;
            text.push_back(alphabet[(state >> 16) % alphabet.size()]);
        }
        EXPECT_NO_FATAL_FAILURE(parse_error(text));
    }
}

TEST(ConfigTree, FileErrorsSayWhy) {
    const std::string missing = testing::TempDir() + "/no_such_file.yml";
    EXPECT_EQ(error_of([&] { ConfigTree::parse_file(missing); }),
              missing + ": cannot be read: No such file or directory");
    EXPECT_THAT(error_of([&] { ConfigTree::parse_file(testing::TempDir()); }),
                HasSubstr("cannot be read: Is a directory"));
    const std::string pipe = testing::TempDir() + "/config_pipe.yml";
    ::unlink(pipe.c_str());
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    EXPECT_EQ(error_of([&] { ConfigTree::parse_file(pipe); }), pipe + ": is not a regular file");
    ::unlink(pipe.c_str());
    EXPECT_EQ(error_of([&] { ConfigTree::parse_file("/dev/zero"); }),
              "/dev/zero: is not a regular file");
    const std::string huge = temporary_file("config_huge.yml", "");
    std::ofstream(huge).seekp((64 << 20) + 1).put('x');
    EXPECT_THAT(error_of([&] { ConfigTree::parse_file(huge); }), HasSubstr("larger than 64 MiB"));
    std::ofstream(huge, std::ios::trunc).flush();
    const std::string file = temporary_file("config_small.yml", "a: b\n");
    const ConfigTree tree = ConfigTree::parse_file(file);
    EXPECT_EQ(tree.root().at("a").where(), file + ":1:4");
}

}  // namespace
}  // namespace astra
