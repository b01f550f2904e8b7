#include "workload/order/graph_program.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace astra {

namespace {

bool ascends(const ExecutionGraph& graph) {
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        // Children ascend within an op.
        if (graph.child_begin[op] < graph.child_begin[op + 1] &&
            graph.child[graph.child_begin[op]] <= op) {
            return false;
        }
    }
    return true;
}

}  // namespace

std::vector<std::uint32_t> program_order(const ExecutionGraph& graph) {
    if (ascends(graph)) {
        return {};
    }
    std::vector<std::uint32_t> waiting = graph.parent_count;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ready;
    for (std::uint32_t op = 0; op < graph.size(); ++op) {
        if (waiting[op] == 0) {
            ready.push(op);
        }
    }
    std::vector<std::uint32_t> order;
    order.reserve(graph.size());
    while (!ready.empty()) {
        const std::uint32_t op = ready.top();
        ready.pop();
        order.push_back(op);
        for (std::uint32_t i = graph.child_begin[op]; i < graph.child_begin[op + 1]; ++i) {
            if (--waiting[graph.child[i]] == 0) {
                ready.push(graph.child[i]);
            }
        }
    }
    return order;
}

Channel channel_of(const ExecutionGraph& graph, std::uint32_t op) {
    const PointDetail& point = graph.points[graph.detail[op]];
    return {point.peer_role, point.tag, graph.kind[op] == OpKind::Send};
}

bool takes_communication_stream(const ExecutionGraph& graph, std::uint32_t op) {
    switch (graph.kind[op]) {
        case OpKind::MemoryLoad:
        case OpKind::MemoryStore:
            return graph.on_cpu[op] == 0;
        case OpKind::Send:
        case OpKind::Collective:
            return true;
        default:
            return false;
    }
}

GraphProgram::GraphProgram(const ExecutionGraph& graph, const CollectiveNaming& naming)
    : graph_(graph), roles_(graph.group_roles) {
    const std::vector<std::uint32_t> order = program_order(graph);
    positions_.resize(order.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        const std::uint32_t op = order.empty() ? i : order[i];
        if (!order.empty()) {
            positions_[op] = i;
        }
        switch (graph.kind[op]) {
            case OpKind::Send:
            case OpKind::Recv:
                points_.push_back(op);
                communication_.push_back(op);
                break;
            case OpKind::Collective:
                add_collective(op, naming);
                communication_.push_back(op);
                break;
            default:
                if (takes_communication_stream(graph, op)) {
                    communication_.push_back(op);
                }
                break;
        }
    }
    number_collectives();
    number_messages();
}

void GraphProgram::add_collective(std::uint32_t op, const CollectiveNaming& naming) {
    const CollectiveDetail& detail = graph_.collectives[graph_.detail[op]];
    RoleCollectives& role = roles_[detail.group_role];
    if (naming.transfers_wait && detail.transfer != kNoTransfer) {
        role.transfers.push_back(op);
        return;
    }
    role.ops.push_back(op);
    const bool by_pair = detail.pairs != kNoRole;
    role.content.add_word((std::uint64_t{static_cast<std::uint8_t>(detail.kind)} << 2U) |
                          (by_pair ? 2U : 0U) | (detail.has_dimensions ? 1U : 0U));
    role.content.add_word(by_pair ? 0 : detail.bytes.count);
    role.content.add_word(detail.has_dimensions ? detail.dimensions : ~0U);
    role.content.add_word(naming.node_algorithm ? naming.node_algorithm(graph_.node_id[op]) : 0);
    role.has_roots = role.has_roots || detail.root_role != kNoRole;
    const std::string_view name = graph_.name_of(OpId{op});
    role.names.add(name.data(), name.size());
}

void GraphProgram::number_collectives() {
    collective_numbers_.resize(graph_.collectives.size());
    for (RoleCollectives& role : roles_) {
        std::stable_sort(
            role.transfers.begin(), role.transfers.end(), [&](std::uint32_t a, std::uint32_t b) {
                const CollectiveDetail& left = graph_.collectives[graph_.detail[a]];
                const CollectiveDetail& right = graph_.collectives[graph_.detail[b]];
                return std::tie(left.iteration, left.transfer) <
                       std::tie(right.iteration, right.transfer);
            });
        for (const auto* ops : {&role.ops, &role.transfers}) {
            for (std::uint32_t i = 0; i < ops->size(); ++i) {
                collective_numbers_[graph_.detail[(*ops)[i]]] = i;
            }
        }
    }
}

void GraphProgram::number_messages() {
    std::vector<std::pair<Channel, std::uint32_t>> messages;
    messages.reserve(points_.size());
    for (const std::uint32_t op : points_) {
        messages.emplace_back(channel_of(graph_, op), op);
    }
    std::stable_sort(messages.begin(), messages.end(), [](const auto& a, const auto& b) {
        return a.first < b.first;
    });
    point_numbers_.resize(graph_.points.size());
    for (std::uint32_t i = 0; i < messages.size(); ++i) {
        const auto& [channel, op] = messages[i];
        if (channels_.empty() || channels_.back() != channel) {
            channels_.push_back(channel);
            channel_begin_.push_back(i);
        }
        points_[i] = op;
        point_numbers_[graph_.detail[op]] = i - channel_begin_.back();
    }
    channel_begin_.push_back(static_cast<std::uint32_t>(points_.size()));
}

std::size_t GraphProgram::index_of(const Channel& channel) const {
    return static_cast<std::size_t>(std::lower_bound(channels_.begin(), channels_.end(), channel) -
                                    channels_.begin());
}

std::span<const std::uint32_t> GraphProgram::channel(const Channel& channel) const {
    const std::size_t i = index_of(channel);
    if (i == channels_.size() || channels_[i] != channel) {
        return {};
    }
    return std::span(points_).subspan(channel_begin_[i], channel_begin_[i + 1] - channel_begin_[i]);
}

std::uint32_t GraphProgram::message(const Channel& channel, std::uint32_t number) const {
    const std::span<const std::uint32_t> messages = this->channel(channel);
    return number < messages.size() ? messages[number] : kNoOp;
}

std::vector<Channel> GraphProgram::receiving_from(std::uint32_t peer_role) const {
    std::vector<Channel> channels;
    for (std::size_t i = index_of({peer_role, 0, false});
         i < channels_.size() && channels_[i].peer_role == peer_role;
         ++i) {
        if (!channels_[i].sends) {
            channels.push_back(channels_[i]);
        }
    }
    return channels;
}

std::uint32_t GraphProgram::number_of(std::uint32_t op) const {
    const std::uint32_t detail = graph_.detail[op];
    return graph_.kind[op] == OpKind::Collective ? collective_numbers_[detail]
                                                 : point_numbers_[detail];
}

}  // namespace astra
