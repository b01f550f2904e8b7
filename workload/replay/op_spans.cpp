#include "workload/replay/op_spans.h"

#include "workload/replay/replayed_job.h"

namespace astra {

namespace {

OpStream stream_of(const ExecutionGraph& graph, std::uint32_t op) {
    switch (graph.kind[op]) {
        case OpKind::Compute:
            return graph.on_cpu[op] != 0 ? OpStream::Cpu : OpStream::Compute;
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return OpStream::Memory;
        case OpKind::Send:
            return OpStream::Send;
        case OpKind::Recv:
            return OpStream::Receive;
        case OpKind::Collective:
            return OpStream::Collective;
        default:
            return OpStream::None;
    }
}

}  // namespace

void OpSpans::begin_recorded(const ReplayedRank& rank, std::uint32_t number, std::uint32_t op) {
    const ExecutionGraph& graph = rank.graph();
    Span span;
    span.kind = SpanKind::Op;
    span.stream = stream_of(graph, op);
    span.rank = RankId{rank.fabric_rank};
    span.number = graph.node_id[op];
    span.op = op;
    span.name = graph.name_of(OpId{op});
    span.detail = name_of(graph.kind[op]);
    causes_[number][op] = recorder_->begin(span);
}

}  // namespace astra
