#include "workload/training/schedule_trace.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "astra/core/check.h"
#include "workload/training/dependencies.h"

namespace astra {

namespace {

constexpr std::uint32_t kDimensionBits = 32;

// Group role, iteration, number.
using TransferKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;

class ScheduleWriter {
  public:
    ScheduleWriter(const Workload& workload,
                   std::uint32_t rank,
                   std::span<const LaunchRecord> launches,
                   NodeSink& sink)
        : workload_(workload),
          trace_(workload.ranks[rank]),
          graph_(*trace_.graph),
          edges_(graph_),
          sink_(sink) {
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (is_transfer(op)) {
                const CollectiveDetail& detail = detail_of(op);
                transfers_[{detail.group_role, detail.iteration, detail.transfer}] = op;
            }
        }
        launches_of_.resize(graph_.size());
        std::uint64_t id = graph_.size() == 0 ? 0 : graph_.node_id.back();
        for (const LaunchRecord& launch : launches) {
            const auto role =
                std::find(trace_.groups.begin(), trace_.groups.end(), index(launch.group));
            if (role == trace_.groups.end()) {
                continue;  // of a group without this rank
            }
            mine_.push_back(
                {&launch, static_cast<std::uint32_t>(role - trace_.groups.begin()), ++id});
            for (const TransferPiece& part : launch.pieces) {
                launches_of_[transfer_of(mine_.back(), part)].push_back(id);
            }
        }
    }

    void write(std::span<const std::uint32_t> computed) {
        order(computed);
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (!is_transfer(op)) {
                write_op(op);
            }
        }
        for (std::size_t i = 0; i < mine_.size(); ++i) {
            write_launch(i);
        }
    }

  private:
    struct Mine {
        const LaunchRecord* launch;
        std::uint32_t role;
        std::uint64_t id;
    };

    const CollectiveDetail& detail_of(std::uint32_t op) const {
        return graph_.collectives[graph_.detail[op]];
    }
    bool is_transfer(std::uint32_t op) const {
        return graph_.kind[op] == OpKind::Collective && detail_of(op).transfer != kNoTransfer;
    }
    std::uint32_t transfer_of(const Mine& mine, const TransferPiece& part) const {
        const auto found = transfers_.find({mine.role, part.iteration, part.transfer});
        ASTRA_CHECK(found != transfers_.end(), "what was launched is in the trace");
        return found->second;
    }

    // What runs on the GPU for the model, one after the other.
    void order(std::span<const std::uint32_t> computed) {
        std::vector<std::uint8_t> follows(graph_.size(), 0);
        for (const std::uint32_t op : edges_.sorted()) {
            follows[op] = follows[op] != 0 || is_transfer(op) ? 1 : 0;
            for (const std::uint32_t child : edges_.children(op)) {
                if (follows[op] != 0 && graph_.iteration[child] == graph_.iteration[op]) {
                    follows[child] = 1;
                }
            }
        }
        before_.assign(graph_.size(), graph_.size());
        std::uint32_t last = graph_.size();
        for (const std::uint32_t op : computed) {
            if (graph_.kind[op] == OpKind::Compute && graph_.on_cpu[op] == 0 && follows[op] == 0) {
                before_[op] = last;
                last = op;
            }
        }
    }

    void add_parents(std::uint32_t op) {
        for (const std::uint32_t parent : edges_.parents(op)) {
            if (!is_transfer(parent)) {
                node_.parents.push_back(graph_.node_id[parent]);
                continue;
            }
            node_.parents.insert(
                node_.parents.end(), launches_of_[parent].begin(), launches_of_[parent].end());
        }
    }

    void describe_collective(const CollectiveDetail& detail) {
        node_.collective = detail.kind;
        node_.priority = detail.priority;
        node_.group = workload_.groups[trace_.groups[detail.group_role]].name;
        if (detail.has_dimensions) {
            node_.involved_dimensions.emplace();
            for (std::uint32_t bit = 0; bit < kDimensionBits; ++bit) {
                node_.involved_dimensions->push_back((detail.dimensions >> bit & 1U) != 0);
            }
        }
        if (detail.root_role != kNoRole) {
            node_.source = trace_.peers[detail.root_role];
        }
    }

    void write_op(std::uint32_t op) {
        node_.clear();
        node_.id = graph_.node_id[op];
        node_.name = graph_.name_of(OpId{op});
        node_.kind = graph_.kind[op];
        node_.on_cpu = graph_.on_cpu[op] != 0;
        node_.duration_ps = graph_.duration_ps[op];
        if (graph_.in_named_stream(op)) {
            const NamedStream& stream = graph_.streams[graph_.stream[op]];
            (stream.is_thread ? node_.stream_note.thread : node_.stream_note.stream) =
                stream.number;
        }
        add_parents(op);
        if (before_[op] != graph_.size()) {
            node_.control_parents.push_back(graph_.node_id[before_[op]]);
        }
        switch (node_.kind) {
            case OpKind::Compute: {
                const ComputeDetail& detail = graph_.computes[graph_.detail[op]];
                if (detail.has_operations) {
                    node_.operations = detail.operations;
                }
                if (detail.has_tensor) {
                    node_.tensor_bytes = detail.tensor_bytes;
                }
                break;
            }
            case OpKind::MemoryLoad:
            case OpKind::MemoryStore:
                node_.tensor_bytes = graph_.memories[graph_.detail[op]].bytes.count;
                break;
            case OpKind::Send:
            case OpKind::Recv: {
                const PointDetail& detail = graph_.points[graph_.detail[op]];
                auto& peer = node_.kind == OpKind::Send ? node_.destination : node_.source;
                peer = trace_.peers[detail.peer_role];
                node_.tag = detail.tag;
                node_.comm_bytes = detail.bytes.count;
                break;
            }
            case OpKind::Collective:
                describe_collective(detail_of(op));
                node_.comm_bytes = detail_of(op).bytes.count;
                if (detail_of(op).pairs != kNoRole) {
                    node_.pair_sends = graph_.pairs[detail_of(op).pairs].sends;
                    node_.pair_receives = graph_.pairs[detail_of(op).pairs].receives;
                }
                break;
            case OpKind::Metadata:
                // A join of iterations; not every simulator waits for metadata.
                node_.kind = OpKind::Compute;
                node_.on_cpu = true;
                node_.operations = 0;
                break;
            case OpKind::Invalid:
                break;
        }
        sink_.add(node_);
    }

    void write_launch(std::size_t number) {
        const Mine& mine = mine_[number];
        const LaunchRecord& launch = *mine.launch;
        node_.clear();
        std::uint64_t bytes = 0;
        for (const TransferPiece& part : launch.pieces) {
            bytes += part.bytes.count;
            add_parents(transfer_of(mine, part));
        }
        const std::uint32_t first = transfer_of(mine, launch.pieces.front());
        describe_collective(detail_of(first));
        node_.id = mine.id;
        node_.kind = OpKind::Collective;
        node_.name = std::string(graph_.name_of(OpId{first}));
        if (launch.pieces.size() > 1) {
            node_.name += "_and_" + std::to_string(launch.pieces.size() - 1) + "_more";
        } else if (launch.pieces.front().bytes != detail_of(first).bytes) {
            node_.name += "_part";
        }
        node_.comm_bytes = bytes;
        const Mine* before = nullptr;
        for (std::size_t i = number; i-- > 0 && before == nullptr;) {
            const bool ended = mine_[i].role == mine.role && mine_[i].launch->end <= launch.start;
            before = ended ? &mine_[i] : nullptr;
        }
        if (before != nullptr) {
            node_.control_parents.push_back(before->id);
        }
        sink_.add(node_);
    }

    const Workload& workload_;
    const RankTrace& trace_;
    const ExecutionGraph& graph_;
    Dependencies edges_;
    NodeSink& sink_;
    std::map<TransferKey, std::uint32_t> transfers_;
    std::vector<Mine> mine_;
    std::vector<std::vector<std::uint64_t>> launches_of_;  // by op, the ids of launches
    std::vector<std::uint32_t> before_;                    // by op; size() = none
    TraceNode node_;
};

}  // namespace

void emit_schedule(const Workload& workload,
                   std::uint32_t rank,
                   std::span<const LaunchRecord> launches,
                   std::span<const std::uint32_t> computed,
                   NodeSink& sink) {
    ScheduleWriter(workload, rank, launches, sink).write(computed);
}

}  // namespace astra
