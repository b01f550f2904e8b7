#include "astra/results/timeline/timeline.h"

#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "astra/core/error.h"
#include "tests/support/trace_reader.h"

namespace astra {
namespace {

using test::read_bytes;
using test::read_perfetto;
using test::ReadSlice;
using test::ReadTrace;
using testing::ElementsAre;
using testing::HasSubstr;

struct TimelineTest : testing::Test {
    TimelineTest() {
        folder = std::filesystem::path(testing::TempDir()) /
                 testing::UnitTest::GetInstance()->current_test_info()->name();
        std::filesystem::remove_all(folder);
        std::filesystem::create_directories(folder);
        options.path = (folder / "trace").string();
    }
    ~TimelineTest() override { std::filesystem::remove_all(folder); }
    TimelineTest(const TimelineTest&) = delete;
    TimelineTest& operator=(const TimelineTest&) = delete;

    // The trace that `tell` makes of a timeline of 16 ranks.
    template <class Tell>
    ReadTrace written(const Tell& tell) {
        write(tell);
        return read_perfetto(read_bytes(options.path));
    }
    template <class Tell>
    void write(const Tell& tell) {
        Timeline timeline(
            options, 16, [](LinkId link) { return fmt::format("link {}", index(link)); });
        tell(timeline);
        timeline.close();
    }

    std::filesystem::path folder;
    TimelineOptions options;
};

Span op(OpStream stream, std::uint32_t rank, std::uint64_t begin, std::uint64_t end) {
    Span span;
    span.kind = SpanKind::Op;
    span.stream = stream;
    span.rank = RankId{rank};
    span.begin = {begin};
    span.end = {end};
    span.name = "gemm";
    return span;
}

Span message(std::uint32_t id,
             std::uint32_t from,
             std::uint32_t to,
             std::uint64_t begin,
             std::uint64_t end) {
    Span span;
    span.kind = SpanKind::Message;
    span.id = Cause{id};
    span.rank = RankId{from};
    span.peer = RankId{to};
    span.begin = {begin};
    span.end = {end};
    span.bytes = {4096};
    return span;
}

// 9,007,199,254,740,993 ps is 2^53 + 1: a double would lose it.
TEST_F(TimelineTest, TimesAreExactPicoseconds) {
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_span(op(OpStream::Compute, 3, 7, 9'007'199'254'740'993));
    });
    ASSERT_EQ(trace.slices.size(), 1U);
    const ReadSlice& slice = trace.slices[0];
    EXPECT_EQ(slice.process, "rank 3");
    EXPECT_EQ(slice.thread, "compute");
    EXPECT_EQ(slice.name, "gemm");
    EXPECT_EQ(slice.category, "compute");
    EXPECT_EQ(slice.begin, 7U);
    EXPECT_EQ(slice.end, 9'007'199'254'740'993U);
}

// [0, 10) and [5, 12) overlap; [10, 15) follows the first, [12, 20) the second.
TEST_F(TimelineTest, SlicesOfATrackNeverOverlap) {
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_span(op(OpStream::Compute, 0, 0, 10));
        timeline.on_span(op(OpStream::Compute, 0, 5, 12));
        timeline.on_span(op(OpStream::Compute, 0, 10, 15));
        timeline.on_span(op(OpStream::Compute, 0, 12, 20));
    });
    ASSERT_EQ(trace.slices.size(), 4U);
    EXPECT_NE(trace.slices[0].track, trace.slices[1].track);
    EXPECT_EQ(trace.slices[0].track, trace.slices[2].track);
    EXPECT_EQ(trace.slices[1].track, trace.slices[3].track);
    EXPECT_EQ(trace.covered("rank 0", {"compute"}), 20U);
}

// Whatever overlaps and in whatever order it ends: the reader would refuse what does not nest.
TEST_F(TimelineTest, ManyOverlappingSlicesNest) {
    std::uint64_t state = 1;
    const auto random = [&](std::uint64_t below) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33U) % below;
    };
    std::size_t told = 0;
    const ReadTrace trace = written([&](Timeline& timeline) {
        for (std::uint64_t end = 100; end < 20'000; end += random(4)) {
            timeline.on_span(op(OpStream::Compute, 0, end - random(100), end));
            timeline.on_span(message(static_cast<std::uint32_t>(++told), 0, 1, end - 50, end));
        }
    });
    EXPECT_EQ(trace.slices.size(), 3 * told);
}

TEST_F(TimelineTest, AnArrowGoesFromAMessageToItsArrival) {
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_span(message(12, 1, 2, 100, 180));
        timeline.on_span(message(11, 2, 1, 90, 190));
    });
    std::map<std::uint64_t, int> begun;
    std::map<std::uint64_t, int> ended;
    for (const ReadSlice& slice : trace.slices) {
        for (const std::uint64_t flow : slice.flows) {
            ++begun[flow];
        }
        for (const std::uint64_t flow : slice.ended_flows) {
            ++ended[flow];
        }
    }
    EXPECT_EQ(begun, (std::map<std::uint64_t, int>{{11, 1}, {12, 1}}));
    EXPECT_EQ(ended, begun);
    EXPECT_EQ(trace.slices[0].thread, "messages sent");
    EXPECT_EQ(trace.slices[0].name, "4096 B to 2");
    EXPECT_EQ(trace.slices[1].process, "rank 2");
    EXPECT_EQ(trace.slices[1].thread, "messages received");
    EXPECT_EQ(trace.slices[1].name, "4096 B from 1");
    EXPECT_EQ(trace.slices[1].begin, 180U);
    EXPECT_TRUE(trace.slices[1].instant);
}

TEST_F(TimelineTest, AnArrowNeedsBothOfItsRanks) {
    options.ranks = parse_rank_ranges("0-1,8");
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_span(message(1, 1, 2, 0, 5));
        timeline.on_span(message(2, 2, 8, 0, 6));
        timeline.on_span(message(3, 0, 8, 0, 7));
        timeline.on_span(message(4, 2, 3, 0, 8));
        timeline.on_span(op(OpStream::Cpu, 2, 0, 9));
    });
    ASSERT_EQ(trace.slices.size(), 4U);
    EXPECT_TRUE(trace.slices[0].flows.empty());
    EXPECT_TRUE(trace.slices[1].ended_flows.empty());
    EXPECT_THAT(trace.slices[2].flows, ElementsAre(3));
    EXPECT_THAT(trace.slices[3].ended_flows, ElementsAre(3));
}

TEST_F(TimelineTest, ShowsAWindowAndWhatLastsLongEnough) {
    options.from = {100};
    options.until = {200};
    options.least = {10};
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_span(op(OpStream::Compute, 0, 50, 99));
        timeline.on_span(op(OpStream::Compute, 0, 99, 108));
        timeline.on_span(op(OpStream::Compute, 0, 108, 118));
        timeline.on_span(op(OpStream::Compute, 0, 150, 900));
        timeline.on_span(op(OpStream::Compute, 0, 201, 950));
    });
    ASSERT_EQ(trace.slices.size(), 2U);
    EXPECT_EQ(trace.slices[0].begin, 108U);
    EXPECT_EQ(trace.slices[1].end, 900U);
}

TEST_F(TimelineTest, PhasesAndWaitingSayWhatTheyAre) {
    Span phase = op(OpStream::None, 4, 10, 20);
    phase.kind = SpanKind::Phase;
    phase.name = "reduce_scatter";
    phase.detail = "ring";
    phase.chunk = 3;
    phase.phase = 1;
    phase.dimension = 2;
    Span waiting = op(OpStream::None, 4, 12, 18);
    waiting.kind = SpanKind::Waiting;
    waiting.peer = RankId{9};
    const ReadTrace trace = written([&](Timeline& timeline) {
        timeline.on_span(phase);
        timeline.on_span(waiting);
    });
    ASSERT_EQ(trace.slices.size(), 2U);
    EXPECT_EQ(trace.slices[0].thread, "chunks");
    EXPECT_EQ(trace.slices[0].inside, "collectives");
    EXPECT_EQ(trace.slices[0].name, "chunk 3, phase 1: reduce_scatter ring, dimension 2");
    EXPECT_EQ(trace.slices[1].thread, "waiting");
    EXPECT_EQ(trace.slices[1].name, "for rank 9");
}

// A link that carries 5 in [0, 10) and 7 in [10, 20), nothing until 30, then 2.
TEST_F(TimelineTest, ACounterHoldsForItsIntervalAndFallsToZero) {
    const ReadTrace trace = written([](Timeline& timeline) {
        timeline.on_link({LinkId{6}, {0}, {10}, {5}, {}});
        timeline.on_link({LinkId{6}, {10}, {20}, {7}, {}});
        timeline.on_link({LinkId{6}, {30}, {40}, {2}, {}});
    });
    ASSERT_EQ(trace.counters.size(), 1U);
    const auto& counter = trace.counters.begin()->second;
    EXPECT_EQ(counter.name, "link 6");
    using Value = std::pair<std::uint64_t, std::int64_t>;
    EXPECT_THAT(counter.values,
                ElementsAre(Value{0, 5}, Value{10, 7}, Value{20, 0}, Value{30, 2}, Value{40, 0}));
}

TEST_F(TimelineTest, AJsonNameMakesAChromeTrace) {
    options.path += ".json";
    write([](Timeline& timeline) {
        timeline.on_span(op(OpStream::Compute, 1, 1'000'001, 3'500'000));
        timeline.on_span(message(5, 1, 2, 2'000'000, 4'000'000));
        timeline.on_link({LinkId{0}, {0}, {10'000'000}, {4096}, {}});
    });
    const std::string text = read_bytes(options.path);
    EXPECT_THAT(text, HasSubstr(R"("ts": 1.000001)"));
    EXPECT_THAT(text, HasSubstr(R"("dur": 2.499999)"));
    const auto trace = nlohmann::json::parse(text);
    std::map<std::string, int> phases;
    for (const auto& event : trace.at("traceEvents")) {
        ++phases[event.at("ph").get<std::string>()];
    }
    EXPECT_EQ(phases,
              (std::map<std::string, int>{{"M", 5}, {"X", 3}, {"s", 1}, {"f", 1}, {"C", 2}}));
}

TEST_F(TimelineTest, WithoutCloseThereIsNoFile) {
    {
        Timeline timeline(options, 16, [](LinkId) { return std::string(); });
        timeline.on_span(op(OpStream::Compute, 1, 0, 5));
        EXPECT_FALSE(std::filesystem::exists(options.path));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder));
}

TEST_F(TimelineTest, RefusesAFileThatCannotBeWritten) {
    options.path = (folder / "none" / "trace").string();
    EXPECT_THROW(write([](Timeline&) {}), ConfigError);
    options.path = folder.string();
    EXPECT_THROW(write([](Timeline&) {}), ConfigError);
}

TEST_F(TimelineTest, RefusesWhatIsNoListOfRanks) {
    for (const char* text : {"", "a", "3-1", "1,,2", "1-", "-1", "1-2-3", "4294967296"}) {
        EXPECT_THROW(parse_rank_ranges(text), ConfigError) << text;
    }
}

// 40 bytes a slice, counted as viewers count: a message is one where it is sent and one where it
// arrives. Times of some milliseconds, as 2,000 messages and ops of 8 ranks take them.
TEST_F(TimelineTest, ASliceTakesFortyBytes) {
    constexpr std::uint32_t kRounds = 5'000;
    const ReadTrace trace = written([](Timeline& timeline) {
        for (std::uint32_t i = 1; i <= kRounds; ++i) {
            const std::uint64_t begin = std::uint64_t{i} * 1'000'000;
            timeline.on_span(op(OpStream::Compute, i % 8, begin, begin + 900'000));
            timeline.on_span(message(i, i % 8, (i + 1) % 8, begin, begin + 950'000));
        }
    });
    EXPECT_EQ(trace.slices.size(), 3 * kRounds);
    EXPECT_LE(std::filesystem::file_size(options.path), 40 * trace.slices.size());
}

}  // namespace
}  // namespace astra
