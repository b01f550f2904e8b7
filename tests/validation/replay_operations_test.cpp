// Messages, groups, memory and computation of the reference's table.
#include <gtest/gtest.h>

#include "tests/support/replay_check.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kMiB = 1U << 20U;
constexpr const char* kAware = "congestion_aware";

// Each rank sends to the rank `offset` ahead.
Experiment shift(std::vector<NetworkDimension> network, std::uint32_t offset, std::string backend) {
    Experiment experiment;
    experiment.dimensions = std::move(network);
    experiment.backend = std::move(backend);
    const std::uint32_t n = experiment.ranks();
    for (std::uint32_t rank = 0; rank < n; ++rank) {
        experiment.traces.push_back({send(1, rank, (rank + offset) % n, 0, kMiB),
                                     receive(2, (rank + n - offset) % n, rank, 0, kMiB)});
    }
    return experiment;
}

// Ranks 0 and 1 exchange a message there and back three times; the others compute for a
// microsecond.
Experiment ping_pong(const NetworkDimension& network, std::string backend) {
    constexpr std::uint64_t size = 1'000'000;
    Experiment experiment;
    experiment.dimensions = {network};
    experiment.backend = std::move(backend);
    experiment.traces = everywhere(network.ranks, {compute(1, 1)});
    for (std::uint32_t me = 0; me < 2; ++me) {
        Trace trace;
        for (std::uint32_t i = 0; i < 6; ++i) {
            const std::uint32_t from = i % 2;
            std::vector<std::uint64_t> parents;
            if (i > 0) {
                parents.push_back(i);
            }
            trace.push_back(from == me ? send(i + 1, me, 1 - me, i, size, parents)
                                       : receive(i + 1, from, me, i, size, parents));
        }
        experiment.traces[me] = trace;
    }
    return experiment;
}

Experiment incast(const NetworkDimension& network, std::string backend) {
    Experiment experiment;
    experiment.dimensions = {network};
    experiment.backend = std::move(backend);
    experiment.traces.resize(1);
    for (std::uint32_t rank = 1; rank < network.ranks; ++rank) {
        experiment.traces[0].push_back(receive(rank, rank, 0, 0, kMiB));
        experiment.traces.push_back({send(1, rank, 0, 0, kMiB)});
    }
    return experiment;
}

Experiment in_groups(const NetworkDimension& network,
                     CollectiveKind kind,
                     std::vector<std::vector<std::uint32_t>> groups) {
    Experiment experiment;
    experiment.dimensions = {network};
    experiment.traces.resize(network.ranks);
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const std::string name = std::to_string(g + 1);
        for (const std::uint32_t rank : groups[g]) {
            experiment.traces[rank] = {collective(1, kind, kMiB, {}, name)};
        }
        experiment.groups[name] = std::move(groups[g]);
    }
    return experiment;
}

void check(const Experiment& experiment, const FinishRange& expected, const Reference& reference) {
    const RunResult result = run(experiment);
    expect_finish(result, expected);
    expect_reference(result, reference);
}

// Every message crosses min(offset, n - offset) links.
TEST(ReplayMessages, ShiftsOnARing) {
    const struct {
        std::uint32_t offset = 0;
        const char* backend = nullptr;
        std::uint64_t reference_ns = 0;
    } rows[] = {{1, "congestion_unaware", 20031},
                {3, "congestion_unaware", 21031},
                {4, "congestion_unaware", 21531},
                {1, kAware, 20031},
                {3, kAware, 60093},
                {4, kAware, 80124}};
    for (const auto& row : rows) {
        SCOPED_TRACE(std::string(row.backend) + " " + std::to_string(row.offset));
        const Experiment experiment = shift({ring(8)}, row.offset, row.backend);
        const std::uint64_t time = ClosedForm(experiment).travel(kMiB, row.offset);
        check(experiment, {time, time}, {row.reference_ns, row.reference_ns});
    }
}

// The receiver's request of 8192 bytes goes before the message.
TEST(ReplayMessages, ShiftUnderRendezvous) {
    for (const char* backend : {"congestion_unaware", kAware}) {
        Experiment experiment = shift({ring(8)}, 1, backend);
        experiment.rendezvous = true;
        const ClosedForm form(experiment);
        const std::uint64_t time = form.travel(8192, 1) + form.travel(kMiB, 1);
        check(experiment, {time, time}, {20683, 20683});
    }
}

// Ring 4 × switch 4, rank r to r + 5: one ring link and two switch links; the switch is the slower
// one. The reference charges the first dimension only.
TEST(ReplayRight, ShiftAcrossTwoDimensions) {
    const std::vector<NetworkDimension> network = {{"Ring", 4, 100, 100'000},
                                                   {"Switch", 4, 25, 1'000'000}};
    const Experiment experiment = shift(network, 5, "congestion_unaware");
    const std::uint64_t time = 100'000 + ClosedForm(experiment).travel(kMiB, 2, 1);
    check(experiment, {time, time}, {41162, 41162});
}

TEST(ReplayMessages, PingPong) {
    const struct {
        NetworkDimension network;
        const char* backend = nullptr;
        std::uint64_t hops = 0;
        std::uint64_t reference_ns = 0;
    } rows[] = {{connected(4), "congestion_unaware", 1, 114756},
                {connected(4), kAware, 1, 114756},
                {ring(4), "congestion_unaware", 1, 114756},
                {switched(4), kAware, 2, 229512}};
    for (const auto& row : rows) {
        SCOPED_TRACE(row.network.topology + " " + row.backend);
        const Experiment experiment = ping_pong(row.network, row.backend);
        const std::uint64_t time = 6 * ClosedForm(experiment).travel(1'000'000, row.hops);
        check(experiment, {1'000'000, time}, {1000, row.reference_ns});
    }
}

// On the switch all messages arrive there together and leave one after the other: 2 latencies and 2
// to 8 times the wire. On the ring a message's next link is free when it gets there: h (latency +
// wire), at most four links.
TEST(ReplayMessages, Incast) {
    const Experiment on_switch = incast(switched(8), kAware);
    const std::uint64_t wire = ClosedForm(on_switch).wire(kMiB);
    check(on_switch, {1'000'000 + 2 * wire, 1'000'000 + 8 * wire}, {40062, 157248});
    check(incast(ring(8), kAware), {500'000 + wire, 4 * (500'000 + wire)}, {20031, 80124});
}

// A ring of ranks 0 to 3 of eight: the way back from 3 to 0 crosses three links. Of six steps a
// chain that ends at rank 1 or 0 crosses it twice, one that ends at rank 2 or 3 once.
FinishRange contiguous_group(const Experiment& experiment) {
    const ClosedForm form(experiment);
    const std::uint64_t m = kMiB / 4;
    const std::uint64_t base = 7 * form.delay() + 6 * form.travel(m, 1) + 3 * form.reduction(m);
    return {base + 1'000'000, base + 2'000'000};
}

TEST(ReplayGroups, ContiguousRing) {
    const Experiment experiment =
        in_groups(ring(8), CollectiveKind::AllReduce, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    check(experiment, contiguous_group(experiment), {34829, 35829});
}

// The reference pays 10 ns inside groups, whatever the system file says.
TEST(ReplayRight, EndpointDelayInsideGroups) {
    Experiment experiment =
        in_groups(ring(8), CollectiveKind::AllReduce, {{0, 1, 2, 3}, {4, 5, 6, 7}});
    experiment.endpoint_delay_ns = 1000;
    check(experiment, contiguous_group(experiment), {41759, 42759});
}

// Two links a message, shared by both groups: when a message comes to its second link, the other
// group's has just left it.
TEST(ReplayGroups, StridedRingOnSharedLinks) {
    Experiment experiment =
        in_groups(ring(8), CollectiveKind::AllReduce, {{0, 2, 4, 6}, {1, 3, 5, 7}});
    experiment.backend = kAware;
    const ClosedForm form(experiment);
    const std::uint64_t m = kMiB / 4;
    const std::uint64_t time = 7 * form.delay() + 6 * form.travel(m, 2) + 3 * form.reduction(m);
    check(experiment, {time, time}, {66121, 66121});
}

TEST(ReplayGroups, StridedAllToAllOnASwitch) {
    Experiment experiment =
        in_groups(switched(8), CollectiveKind::AllToAll, {{0, 2, 4, 6}, {1, 3, 5, 7}});
    experiment.algorithms = {"direct"};
    const ClosedForm form(experiment);
    const std::uint64_t wire = form.wire(kMiB / 4);
    const std::uint64_t ends = 2 * form.delay() + 1'000'000;
    check(experiment, {ends + wire, ends + wire}, {5902, 5902});
    experiment.backend = kAware;
    check(experiment, {ends + 4 * wire, ends + 4 * wire}, {20548, 20548});
}

constexpr const char* kPool =
    R"({"memory-type": "MEMORY_POOL", "remote-mem-latency": 1000, "remote-mem-bw": 100})";
constexpr const char* kPerRank =
    R"({"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 1000,
        "remote-mem-bw": 100})";
constexpr const char* kPerNode =
    R"({"memory-type": "PER_NODE_MEMORY_EXPANSION", "remote-mem-latency": 1000,
        "remote-mem-bw": 100, "num-nodes": 2, "num-npus-per-node": 2})";

// Three loads and a store of a megabyte, one after the other: 1000 ns + 10^6 / 10^11 s = 11 us
// each. A memory that k ranks share serves them in turn: the first rank ends three services before
// the last.
TEST(ReplayMemory, PrivatePooledAndOfANode) {
    Experiment experiment;
    experiment.dimensions = {ring(4)};
    const Trace trace = {memory_access(1, OpKind::MemoryLoad, 1'000'000),
                         memory_access(2, OpKind::MemoryLoad, 1'000'000, {1}),
                         memory_access(3, OpKind::MemoryLoad, 1'000'000, {2}),
                         memory_access(4, OpKind::MemoryStore, 1'000'000, {3})};
    experiment.traces = everywhere(4, trace);
    constexpr std::uint64_t access = 11'000'000;
    experiment.memory = kPerRank;
    check(experiment, {4 * access, 4 * access}, {44000, 44000});
    experiment.memory = kPool;
    check(experiment, {13 * access, 16 * access}, {143000, 176000});
    experiment.memory = kPerNode;
    check(experiment, {7 * access, 8 * access}, {77000, 88000});
}

// Computation between the third load and the store hides behind the other ranks' loads where they
// share.
TEST(ReplayMemory, WithComputationBetween) {
    Experiment experiment;
    experiment.dimensions = {ring(4)};
    experiment.memory_bandwidth = 1000;
    experiment.peak_tflops = 100;
    experiment.roofline = true;
    constexpr std::uint64_t size = 1'000'050;
    experiment.traces = everywhere(4,
                                   {memory_access(1, OpKind::MemoryLoad, size),
                                    memory_access(2, OpKind::MemoryLoad, size, {1}),
                                    memory_access(3, OpKind::MemoryLoad, size, {2}),
                                    roofline_compute(4, 1'000'000'000, 1'000'000, {3}),
                                    memory_access(5, OpKind::MemoryStore, size, {4})});
    const std::uint64_t access = 1'000'000 + transfer_ps(size, 800'000'000'000);
    experiment.memory = kPerRank;
    check(experiment, {4 * access + 10'000'000, 4 * access + 10'000'000}, {54000, 54000});
    experiment.memory = kPool;
    check(experiment, {13 * access, 16 * access}, {143000, 176000});
    experiment.memory = kPerNode;
    check(experiment, {7 * access, 8 * access}, {77000, 88000});
}

// 10.7 ns and 2.9 GB/s; the reference cuts both to whole numbers.
TEST(ReplayRight, FractionsOfMemory) {
    Experiment experiment;
    experiment.dimensions = {ring(4)};
    experiment.memory =
        R"({"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": 10.7,
            "remote-mem-bw": 2.9})";
    experiment.traces = everywhere(4,
                                   {memory_access(1, OpKind::MemoryLoad, 1'000'000),
                                    memory_access(2, OpKind::MemoryStore, 1'000'000, {1})});
    const std::uint64_t time = 2 * (10'700 + transfer_ps(1'000'000, 23'200'000'000));
    check(experiment, {time, time}, {689677, 689677});
}

Experiment computing(const TraceNode& node) {
    Experiment experiment;
    experiment.dimensions = {ring(4)};
    experiment.memory_bandwidth = 1000;
    experiment.peak_tflops = 100;
    experiment.traces = everywhere(4, {node});
    return experiment;
}

TEST(ReplayCompute, RooflineAndDuration) {
    check(computing(compute(1, 7)), {7'000'000, 7'000'000}, {7000, 7000});
    // Bound by the peak: 10^12 / 10^14 s. Bound by memory: 10^9 B / 10^12 B/s.
    Experiment bound_by_peak = computing(roofline_compute(1, 1'000'000'000'000, 1'000'000));
    bound_by_peak.roofline = true;
    check(bound_by_peak, {10'000'000'000, 10'000'000'000}, {10'000'000, 10'000'000});
    Experiment bound_by_memory = computing(roofline_compute(1, 1'000'000, 1'000'000'000));
    bound_by_memory.roofline = true;
    check(bound_by_memory, {1'000'000'000, 1'000'000'000}, {1'000'000, 1'000'000});
}

// The reference takes 1 ns.
TEST(ReplayRight, ComputationWithoutDurationIsFree) {
    check(computing(roofline_compute(1, 1'000'000'000'000, 1'000'000)), {0, 0}, {0, 0});
}

// Twelve layers of 5 ms forward and 10 ms backward; the all-reduce of a layer goes on beside the
// layers before it, so that the last one alone is exposed.
Experiment training(std::uint32_t layers) {
    Experiment experiment;
    experiment.memory_bandwidth = 1000;
    experiment.peak_tflops = 100;
    experiment.roofline = true;
    experiment.chunks = 4;
    Trace trace;
    std::uint64_t id = 0;
    std::vector<std::uint64_t> last;
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        trace.push_back(roofline_compute(++id, 500'000'000'000, 400'000'000, last));
        last = {id};
    }
    for (std::uint32_t layer = 0; layer < layers; ++layer) {
        trace.push_back(roofline_compute(++id, 1'000'000'000'000, 400'000'000, last));
        last = {id};
        trace.push_back(collective(++id, CollectiveKind::AllReduce, 4 * kMiB, last));
    }
    experiment.traces = {trace};
    return experiment;
}

void check_training(Experiment experiment, std::uint64_t reference_ns) {
    constexpr std::uint64_t computing = 12 * 15'000'000'000ULL;
    experiment.traces = everywhere(experiment.ranks(), experiment.traces.front());
    const std::uint64_t time =
        computing + ClosedForm(experiment).collective(CollectiveKind::AllReduce, 4 * kMiB);
    const RunResult result = run(experiment);
    expect_finish(result, {time, time});
    expect_reference(result, {reference_ns, reference_ns});
    EXPECT_EQ(rank_record(result, 0).compute.ps, computing);
    EXPECT_EQ(rank_record(result, 0).exposed_communication.ps, time - computing);
}

TEST(ReplayTraining, OverlapsCommunication) {
    Experiment experiment = training(12);
    check_training(experiment, 180176300);
    experiment.active_chunks = 4;
    check_training(experiment, 180044075);
    experiment.active_chunks = 1;
    experiment.dimensions = {ring(64)};
    check_training(experiment, 180422896);
    experiment.backend = kAware;
    check_training(experiment, 180422896);
}

TEST(ReplayTraining, OverThreeDimensions) {
    Experiment experiment = training(12);
    experiment.dimensions = {{"Ring", 2, 200, 50'000},
                             {"FullyConnected", 4, 100, 500'000},
                             {"Switch", 8, 50, 2'000'000}};
    check_training(experiment, 180261197);
}

// Nothing of the trace has a duration; the reference takes 1 ns a node.
TEST(ReplayRight, ReplayWithoutDurationsIsFree) {
    Experiment experiment = training(4);
    experiment.dimensions = {ring(4)};
    experiment.roofline = false;
    experiment.replay_only = true;
    experiment.traces = everywhere(4, experiment.traces.front());
    check(experiment, {0, 0}, {0, 0});
}

}  // namespace
}  // namespace astra::test
