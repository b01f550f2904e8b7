// The order that the streams of a trace add to its dependencies.
#include "workload/graph/stream_order.h"

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"
#include "workload/graph/graph_builder.h"
#include "workload/graph/graph_edges.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

TraceNode host(std::uint64_t id, std::vector<std::uint64_t> parents = {}, std::uint64_t tid = 1) {
    TraceNode node;
    node.id = id;
    node.kind = OpKind::Compute;
    node.on_cpu = true;
    node.duration_ps = 1'000'000;
    node.parents = std::move(parents);
    node.stream_note.thread = tid;
    return node;
}

TraceNode kernel(std::uint64_t id, std::uint64_t stream, std::vector<std::uint64_t> parents = {}) {
    TraceNode node;
    node.id = id;
    node.kind = OpKind::Compute;
    node.duration_ps = 100'000'000;
    node.parents = std::move(parents);
    node.stream_note.stream = stream;
    return node;
}

TraceNode all_reduce_on(std::uint64_t id,
                        std::uint64_t stream,
                        std::vector<std::uint64_t> parents = {}) {
    TraceNode node = kernel(id, stream, std::move(parents));
    node.kind = OpKind::Collective;
    node.collective = CollectiveKind::AllReduce;
    node.comm_bytes = 1024;
    return node;
}

TraceNode call(std::uint64_t id,
               Synchronisation means,
               std::vector<std::uint64_t> parents,
               std::uint64_t stream = StreamNote::kNone) {
    TraceNode node = host(id, std::move(parents));
    node.stream_note.synchronisation = means;
    node.stream_note.stream = stream;
    return node;
}

struct Ordered {
    std::shared_ptr<const ExecutionGraph> graph;
    StreamReport report;
    std::set<std::pair<std::uint64_t, std::uint64_t>> edges;  // of ids
};

Ordered order(const std::vector<TraceNode>& nodes, const StreamUse& use = {}) {
    GraphBuilder builder("t", 0, 2);
    builder.use_streams(use);
    for (const TraceNode& node : nodes) {
        builder.add(node);
    }
    Warnings warnings;
    Ordered result;
    result.graph = builder.finish(warnings).graph;
    result.report = builder.streams();
    for (const Edge& edge : edges_of(*result.graph)) {
        result.edges.emplace(result.graph->node_id[edge.parent], result.graph->node_id[edge.child]);
    }
    return result;
}

using Edges = std::set<std::pair<std::uint64_t, std::uint64_t>>;

TEST(StreamOrder, ChainsTheOpsOfAStream) {
    const Ordered ordered = order({kernel(1, 7), kernel(2, 36), kernel(3, 7), kernel(4, 36)});
    EXPECT_EQ(ordered.edges, (Edges{{1, 3}, {2, 4}}));
    EXPECT_EQ(ordered.report.in_stream, 2U);
    EXPECT_EQ(ordered.report.launched_only, 0U);
    EXPECT_THAT(ordered.graph->stream, ElementsAre(0U, 1U, 0U, 1U));
    EXPECT_EQ(ordered.graph->streams[1], (NamedStream{false, 36}));
}

// Nothing changes for traces that name no stream of a GPU, whatever threads they name.
TEST(StreamOrder, NeedsAStreamOfTheGpu) {
    TraceNode plain = kernel(3, StreamNote::kNone, {1});
    const Ordered ordered = order({host(1), host(2, {}, 2), plain, host(4)});
    EXPECT_EQ(ordered.edges, (Edges{{1, 3}}));
    EXPECT_THAT(ordered.graph->stream, IsEmpty());
    // In Chakra the tid of a kernel is its launcher's thread, in Kineto its stream.
    plain.stream_note.thread = 1;
    EXPECT_THAT(order({host(1), plain}).graph->stream, IsEmpty());
    plain.stream_note.thread = 7;
    EXPECT_THAT(order({host(1), plain}).graph->stream, ElementsAre(0U, 1U));
    TraceNode other = plain;
    other.id = 4;
    EXPECT_THAT(order({plain, other}).graph->stream, IsEmpty()) << "one thread may be a launcher's";
    other.stream_note.thread = 8;
    EXPECT_THAT(order({plain, other}).graph->stream, ElementsAre(0U, 1U));
}

TEST(StreamOrder, TheOrderIsThatOfTheLaunches) {
    // By id: 11, 12; by launchers: 12, 11; by start; by correlation.
    std::vector<TraceNode> nodes = {host(1), host(2, {1}), kernel(11, 7, {2}), kernel(12, 7, {1})};
    EXPECT_TRUE(order(nodes).edges.contains({12, 11}));
    nodes[2].stream_note.start = 5;
    nodes[3].stream_note.start = 9;
    EXPECT_TRUE(order(nodes).edges.contains({11, 12}));
    nodes[2].stream_note.correlation = 101;
    EXPECT_TRUE(order(nodes).edges.contains({11, 12})) << "only one of them has a correlation";
    nodes[3].stream_note.correlation = 100;
    EXPECT_TRUE(order(nodes).edges.contains({12, 11}));
    nodes[3].stream_note.correlation = 101;
    EXPECT_TRUE(order(nodes).edges.contains({11, 12}))
        << "a graph of kernels: one call launched both";
}

// What PyTorch makes every collective wait for: the computation that the same thread launched last.
TEST(StreamOrder, CommunicationFollowsTheComputationBefore) {
    const std::vector<TraceNode> nodes = {host(1),
                                          host(2, {1}),
                                          host(3, {2}),
                                          host(5, {}, 2),
                                          kernel(11, 7, {1}),
                                          kernel(12, 7, {2}),
                                          all_reduce_on(13, 20, {3}),
                                          kernel(15, 9, {5})};
    const Ordered ordered = order(nodes);
    EXPECT_TRUE(ordered.edges.contains({12, 13}));
    EXPECT_FALSE(ordered.edges.contains({15, 13})) << "another thread launched it";
    EXPECT_EQ(ordered.report.before_comm, 1U);
    EXPECT_EQ(ordered.report.launched_only, 4U);
    // A trace that knows better: the collective ran beside the kernel, or waits for another.
    std::vector<TraceNode> beside = nodes;
    beside[5].stream_note.start = 1'000;
    beside[6].stream_note.start = 50'000;  // the kernel takes 100 us
    EXPECT_EQ(order(beside).report.before_comm, 0U);
    beside[6].stream_note.start = 101'000;
    EXPECT_EQ(order(beside).report.before_comm, 1U);
    std::vector<TraceNode> known = nodes;
    known[6].parents.push_back(11);
    EXPECT_EQ(order(known).report.before_comm, 0U);
}

// A policy that orders transfers itself must find them free.
TEST(StreamOrder, CollectivesMayStandOutside) {
    const Ordered ordered = order(
        {host(1), all_reduce_on(11, 20, {1}), kernel(12, 20, {1}), all_reduce_on(13, 20, {1})},
        {.collectives = false});
    EXPECT_FALSE(ordered.edges.contains({11, 12}));
    EXPECT_FALSE(ordered.edges.contains({11, 13}));
    EXPECT_FALSE(ordered.graph->in_named_stream(1));
    EXPECT_TRUE(ordered.graph->in_named_stream(2));
}

TEST(StreamOrder, EventsJoinStreams) {
    // The kernel of stream 7, its event, stream 20 waits for it; what stream 7 does later is free.
    std::vector<TraceNode> nodes = {host(1),
                                    call(2, Synchronisation::RecordEvent, {1}, 7),
                                    host(3, {2}),
                                    call(4, Synchronisation::StreamWaits, {3}, 20),
                                    host(5, {4}),
                                    host(6, {5}),
                                    kernel(11, 7, {1}),
                                    kernel(13, 7, {3}),
                                    all_reduce_on(15, 20, {5}),
                                    kernel(16, 20, {6})};
    nodes[1].stream_note.event = 77;
    nodes[3].stream_note.event = 77;
    const Ordered ordered = order(nodes);
    EXPECT_TRUE(ordered.edges.contains({11, 15}));
    EXPECT_FALSE(ordered.edges.contains({13, 15})) << "launched after the event";
    EXPECT_EQ(ordered.report.synchronised, 1U);
    EXPECT_EQ(ordered.report.before_comm, 0U) << "calls tell what it waits for";
    EXPECT_EQ(ordered.graph->duration_ps[3], 1'000'000U) << "the call itself does not wait";

    // By the correlation of the call that recorded it, as Kineto has it.
    nodes[1].stream_note.event = nodes[3].stream_note.event = StreamNote::kNone;
    nodes[1].stream_note.correlation = 5;
    nodes[3].stream_note.record = 5;
    EXPECT_TRUE(order(nodes).edges.contains({11, 15}));
    // By the stream alone.
    nodes[3].stream_note.record = StreamNote::kNone;
    nodes[3].stream_note.waits_on = 7;
    EXPECT_TRUE(order(nodes).edges.contains({13, 15})) << "all that was launched before the call";
}

TEST(StreamOrder, TheHostWaits) {
    const std::vector<TraceNode> nodes = {
        host(1),
        call(2, Synchronisation::HostWaitsForStream, {1}, 7),
        host(3, {2}),
        call(4, Synchronisation::HostWaitsForDevice, {3}),
        kernel(11, 7, {1}),
        kernel(12, 9, {1}),
        kernel(13, 7, {3}),
    };
    const Ordered ordered = order(nodes);
    EXPECT_TRUE(ordered.edges.contains({11, 2}));
    EXPECT_FALSE(ordered.edges.contains({12, 2}));
    EXPECT_TRUE(ordered.edges.contains({13, 4}));
    EXPECT_TRUE(ordered.edges.contains({12, 4}));
    EXPECT_EQ(ordered.graph->duration_ps[1], 0U) << "what was recorded is the wait";
    EXPECT_EQ(ordered.graph->duration_ps[2], 1'000'000U);
}

// Two kernels whose dependency contradicts the order of their stream: the dependency holds, the
// stream still runs one after the other.
TEST(StreamOrder, DependenciesComeFirst) {
    std::vector<TraceNode> nodes = {kernel(1, 7, {3}), kernel(2, 7), kernel(3, 7)};
    const Ordered ordered = order(nodes);
    EXPECT_EQ(ordered.report.contradictions, 2U) << "both others run before the first";
    EXPECT_TRUE(ordered.edges.contains({3, 1}));
    EXPECT_EQ(ordered.edges.size(), 2U);
}

// Random traces of several threads and streams, with and without correlations and starts, with
// random further dependencies and calls. In the result there is no cycle, every dependency of the
// trace is there, each stream is one chain, and it is the order of the launches wherever no
// dependency contradicts.
TEST(StreamOrder, HoldsForRandomTraces) {
    std::mt19937_64 random(7);
    const auto pick = [&](std::uint64_t most) { return random() % (most + 1); };
    for (int trial = 0; trial < 400; ++trial) {
        std::vector<TraceNode> nodes;
        std::map<std::uint64_t, std::uint64_t> last_of_thread;
        const bool correlated = pick(1) == 1;
        const bool wild = pick(3) == 0;
        for (std::uint64_t id = 1; id <= 60; ++id) {
            const std::uint64_t tid = 1 + pick(1);
            std::vector<std::uint64_t> parents;
            if (last_of_thread.contains(tid)) {
                parents.push_back(last_of_thread[tid]);
            }
            TraceNode node;
            switch (pick(5)) {
                case 0:
                    node = host(id, parents, tid);
                    break;
                case 1:
                    node = call(id,
                                static_cast<Synchronisation>(1 + pick(4)),
                                parents,
                                pick(1) == 0 ? StreamNote::kNone : 7 + pick(2));
                    node.stream_note.thread = tid;
                    node.stream_note.event = pick(2);
                    break;
                case 2:
                    node = all_reduce_on(id, 7 + pick(2), parents);
                    break;
                default:
                    node = kernel(id, 7 + pick(2), parents);
                    break;
            }
            if (correlated) {
                node.stream_note.correlation = 1000 + id;
            }
            if (node.on_cpu) {
                last_of_thread[tid] = id;
            } else if (wild && id > 2) {
                node.parents.push_back(1 + pick(id - 2));
            }
            nodes.push_back(std::move(node));
        }
        if (wild) {
            std::shuffle(nodes.begin(), nodes.end(), random);
        }
        const Ordered ordered = order(nodes);
        const ExecutionGraph& graph = *ordered.graph;
        ASSERT_THAT(find_cycle(graph), IsEmpty());
        std::uint64_t asked = 0;
        for (const TraceNode& node : nodes) {
            std::set<std::uint64_t> parents(node.parents.begin(), node.parents.end());
            asked += parents.size();
            for (const std::uint64_t parent : parents) {
                ASSERT_TRUE(ordered.edges.contains({parent, node.id}));
            }
        }
        EXPECT_EQ(ordered.edges.size(), asked + ordered.report.added());
        std::map<std::uint32_t, std::vector<std::uint32_t>> members;
        for (std::uint32_t op = 0; op < graph.size(); ++op) {
            if (graph.in_named_stream(op)) {
                members[graph.stream[op]].push_back(op);
            }
        }
        for (const auto& [stream, ops] : members) {
            // A chain of n ops within the stream: n - 1 ops have one of it as a child at least,
            // and all ops come in one line.
            std::map<std::uint32_t, std::uint32_t> next;
            for (const std::uint32_t op : ops) {
                for (const std::uint32_t other : ops) {
                    const bool linked =
                        ordered.edges.contains({graph.node_id[op], graph.node_id[other]});
                    if (linked && (!next.contains(op) || ordered.report.contradictions == 0)) {
                        next.try_emplace(op, other);
                    }
                }
            }
            EXPECT_EQ(next.size(), ops.size() - 1) << "trial " << trial;
            for (std::size_t i = 1;
                 i < ops.size() && correlated && ordered.report.contradictions == 0;
                 ++i) {
                EXPECT_TRUE(
                    ordered.edges.contains({graph.node_id[ops[i - 1]], graph.node_id[ops[i]]}))
                    << "trial " << trial;
            }
        }
    }
}

// Through the readers: attributes as writers have them, in protobuf and in JSON.
TEST(StreamOrder, ReadersTakeTheAttributes) {
    const auto gpu = [](std::uint64_t id, std::int64_t stream, std::uint64_t parent) {
        return node(
            id, "gemm", Comp, {parent}, number_field(7, 100) + int64_attribute("stream", stream));
    };
    const std::string cpu = attribute("is_cpu_op", number_field(27, 1)) + number_field(7, 2);
    Warnings warnings;
    const Workload workload = load_bytes(
        metadata("0.0.4") + node(1, "a", Comp, {}, cpu + int64_attribute("tid", 4)) +
            node(2, "cudaDeviceSynchronize", Comp, {1}, cpu + int64_attribute("tid", 4)) +
            gpu(11, 7, 1) + gpu(12, 7, 1) + gpu(13, -1, 1),
        warnings);
    const ExecutionGraph& graph = *workload.ranks[0].graph;
    EXPECT_TRUE(has_edge(graph, {2, 3}));
    EXPECT_TRUE(has_edge(graph, {3, 1})) << "the host waits for the device";
    EXPECT_FALSE(graph.in_named_stream(4)) << "a stream of -1 is none";
    EXPECT_THAT(
        warnings.texts(),
        ElementsAre(testing::AllOf(
            testing::HasSubstr("2 of 2 ops of the GPU wait for nothing but their launchers"),
            testing::HasSubstr("2 dependencies are added"))));

    Warnings of_json;
    const Workload same = load_bytes(
        R"([{"id": 1, "name": "a", "type": 4, "is_cpu_op": true, "runtime": 2, "tid": 4},
            {"id": 2, "name": "cudaDeviceSynchronize", "type": 4, "is_cpu_op": true, "runtime": 2,
             "tid": 4, "data_deps": [1]},
            {"id": 11, "name": "gemm", "type": 4, "runtime": 100, "stream": "stream 7", "data_deps": [1]},
            {"id": 12, "name": "gemm", "type": 4, "runtime": 100, "stream": 7, "data_deps": [1]},
            {"id": 13, "name": "gemm", "type": 4, "runtime": 100, "stream": -1, "data_deps": [1]}])",
        of_json);
    EXPECT_EQ(*same.ranks[0].graph, graph);
}

}  // namespace
}  // namespace astra::test
