// Cases 12 to 20: what traces may look like.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/validation/case_check.h"
#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

constexpr double kR8 = 43700.16;  // case 1, decimal

// R8 with the same bytes as the trace of every rank.
Experiment raw(const std::string& bytes, std::uint32_t ranks = 8, const char* ending = "et") {
    Experiment experiment;
    experiment.dimensions = {ring(ranks)};
    experiment.network_only();
    experiment.network_unit = "GB";
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        experiment.files[fmt::format("trace.{}.{}", rank, ending)] = bytes;
    }
    return experiment;
}

std::string raw_all_reduce(const std::string& size_value) {
    return metadata("0.0.4") +
           astra::test::node(1,
                             "ar",
                             Coll,
                             {},
                             int64_attribute("comm_type", 0) + attribute("comm_size", size_value));
}

TEST(Case12, AnyIntegerType) {
    constexpr std::uint64_t zigzag = 2 * kMiB;
    for (const auto& value : {number_field(7, kMiB),
                              number_field(9, kMiB),
                              number_field(11, kMiB),
                              number_field(13, kMiB),
                              number_field(17, zigzag)}) {
        expect_ns(run(raw(raw_all_reduce(value))), kR8);
    }
}

TEST(Case12, WholeDoubleIsTaken) {
    expect_ns(run(raw(raw_all_reduce(fixed_field(3, 1048576.0)))), kR8);
}

TEST(Case12, NegativeAndFractionalSizes) {
    expect_failure(run_captured(raw(raw_all_reduce(number_field(9, ~std::uint64_t{0})))),
                   2,
                   {"rank 0", "node 1", "(ar)", "comm_size", "-1"});
    expect_failure(run_captured(raw(raw_all_reduce(fixed_field(3, 1000.5)))),
                   2,
                   {"rank 0", "node 1", "(ar)", "comm_size", "1000.5"});
}

TEST(Case14, MissingAttributes) {
    const std::string no_size =
        metadata("0.0.4") + astra::test::node(1, "ar", Coll, {}, int64_attribute("comm_type", 0));
    expect_failure(run_captured(raw(no_size)), 2, {"rank 0", "node 1", "(ar)", "comm_size"});
    const std::string no_kind =
        metadata("0.0.4") + astra::test::node(1, "ar", Coll, {}, int64_attribute("comm_size", 8));
    expect_failure(run_captured(raw(no_kind)), 2, {"rank 0", "node 1", "(ar)", "comm_type"});
}

TEST(Case14, ProcessorOfACollective) {
    expect_ns(run(raw(metadata("0.0.4") + all_reduce(1))), kR8);
    const RunResult on_cpu =
        run(raw(metadata("0.0.4") + all_reduce(1, attribute("is_cpu_op", number_field(27, 1)))));
    expect_ns(on_cpu, kR8);
    EXPECT_THAT(on_cpu.warnings, testing::Contains(testing::HasSubstr("is_cpu_op")));
}

TEST(Case15, MetadataAndInvalidNodes) {
    const std::string after = text_field(4, varint(1));
    const std::string reduction = astra::test::node(
        2,
        "ar",
        Coll,
        {},
        after + int64_attribute("comm_type", 0) + int64_attribute("comm_size", kMiB));
    expect_ns(run(raw(metadata("0.0.4") + astra::test::node(1, "process_group:init", Metadata) +
                      reduction)),
              kR8);
    const RunResult result =
        run(raw(metadata("0.0.4") + astra::test::node(1, "nothing", Invalid) + reduction));
    expect_ns(result, kR8);
    EXPECT_EQ(result.counts.skipped_ops, 8U);
}

TEST(Case16, NoDurationIsNoTime) {
    Trace chain;
    for (std::uint64_t id = 1; id <= 100; ++id) {
        chain.push_back(
            compute(id, 0, id > 1 ? std::vector{id - 1} : std::vector<std::uint64_t>{}));
    }
    Experiment experiment = on({ring(2)}, chain);
    const RunResult result = run(experiment);
    EXPECT_EQ(result.simulated.ps, 0U);
    EXPECT_EQ(result.counts.ops_without_duration, 200U);
    const ProgramRun program = run_captured(experiment);
    EXPECT_EQ(program.status, 0);
    EXPECT_THAT(program.out, testing::HasSubstr("200 compute ops without a duration"));
}

TEST(Case16, MillionNodesBelowAMicrosecond) {
    const RunResult result = run_study(R"(
workload: {generate: {kind: compute, count: 1000000, duration: 400ns}}
network: {dimensions: [{topology: ring, ranks: 1, bandwidth: 50GB/s, latency: 500ns}]}
)");
    EXPECT_EQ(result.simulated.ps, 400'000'000'000U);
}

TEST(Case18, VersionsAndJson) {
    for (const char* version : {"0.0.4", "1.0.2-chakra.1.0.0", "", "9.9"}) {
        SCOPED_TRACE(version);
        const RunResult result = run(raw(metadata(version) + all_reduce(1)));
        expect_ns(result, kR8);
        const bool unknown = std::string(version) == "9.9";
        EXPECT_EQ(result.warnings.empty(), !unknown);
    }
    const RunResult json = run(raw(R"([{"version": "0.0.4"}, {"id": "1", "name": "ar",
        "type": "COMM_COLL_NODE", "attr": [{"name": "comm_type", "int64Val": "0"},
        {"name": "comm_size", "int64Val": "1048576"}]}])",
                                   8,
                                   "json"));
    const RunResult binary = run(raw(metadata("0.0.4") + all_reduce(1)));
    EXPECT_EQ(json.simulated, binary.simulated);
    EXPECT_EQ(json.counts.events, binary.counts.events);
    EXPECT_EQ(json.configuration, binary.configuration);
}

// 8·L + 2(1 - 1/8)·S/B over both dimensions; 6(L + S/4B) over the first.
TEST(Case19, InvolvedDimensions) {
    TraceNode node = collective(1, CollectiveKind::AllReduce, kMiB);
    const auto with = [&](std::optional<std::vector<bool>> dimensions) {
        node.involved_dimensions = std::move(dimensions);
        return on({ring(4), ring(2)}, {node});
    };
    expect_both_units(with(std::vector{true, false}), 34457.28, 32296.88);
    expect_both_units(with(std::nullopt), 40700.16, 38179.69);
    expect_both_units(with(std::vector<bool>{}), 40700.16, 38179.69);
    expect_both_units(with(std::vector{true, true, true, true}), 40700.16, 38179.69);
    const std::string wrong = metadata("0.0.4") + all_reduce(1, int64_attribute("involved_dim", 1));
    expect_failure(run_captured(raw(wrong)), 2, {"rank 0", "node 1", "(ar)", "involved_dim"});
}

TEST(Case20, NumberOfTraces) {
    Experiment experiment = r8_all_reduce();
    experiment.dimensions = {ring(16)};
    expect_failure(run_captured(experiment), 2, {"missing ranks 8-15"});
    experiment.dimensions = {ring(8)};
    experiment.traces.push_back(experiment.traces.front());
    const ProgramRun extra = run_captured(experiment);
    EXPECT_EQ(extra.status, 0);
    EXPECT_THAT(extra.error, testing::HasSubstr("trace.8.et"));
    experiment.files["network.yml"] =
        "topology: [Ring, Ring]\nnpus_count: [8]\nbandwidth: [50, 50]\nlatency: [500, 500]\n";
    expect_failure(run_captured(experiment), 2, {"npus_count", "network.yml"});
    Experiment none = r8_all_reduce();
    none.traces.clear();
    expect_failure(run_captured(none), 2, {"no file matches", "trace."});
}

}  // namespace
}  // namespace astra::test
