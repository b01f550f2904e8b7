#include "workload/graph/graph_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace astra {
namespace {

using Indices = std::vector<std::uint32_t>;

template <typename T>
void permute(std::vector<T>& values, const Indices& order) {
    std::vector<T> sorted;
    sorted.reserve(values.size());
    for (const std::uint32_t i : order) {
        sorted.push_back(std::move(values[i]));
    }
    values = std::move(sorted);
}

// Numbers things by first appearance.
class Renumbering {
  public:
    explicit Renumbering(std::size_t size) : new_of_(size, kNoRole) {}
    std::uint32_t operator()(std::uint32_t old) {
        if (new_of_[old] == kNoRole) {
            new_of_[old] = static_cast<std::uint32_t>(order_.size());
            order_.push_back(old);
        }
        return new_of_[old];
    }
    const Indices& order() const { return order_; }

  private:
    Indices new_of_;
    Indices order_;
};

void renumber_details(ExecutionGraph& graph) {
    Indices computes;
    Indices memories;
    Indices points;
    Indices collectives;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        Indices* order = nullptr;
        switch (graph.kind[i]) {
            case OpKind::Compute:
                order = &computes;
                break;
            case OpKind::MemoryLoad:
            case OpKind::MemoryStore:
                order = &memories;
                break;
            case OpKind::Send:
            case OpKind::Recv:
                order = &points;
                break;
            case OpKind::Collective:
                order = &collectives;
                break;
            case OpKind::Metadata:
            case OpKind::Invalid:
                break;
        }
        if (order != nullptr) {
            order->push_back(graph.detail[i]);
            graph.detail[i] = static_cast<std::uint32_t>(order->size() - 1);
        }
    }
    permute(graph.computes, computes);
    permute(graph.memories, memories);
    permute(graph.points, points);
    permute(graph.collectives, collectives);
}

}  // namespace

std::vector<std::uint32_t> sort_ops(ExecutionGraph& graph,
                                    std::vector<std::uint32_t>& peers,
                                    std::vector<std::string>& groups) {
    Indices order(graph.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return graph.node_id[a] < graph.node_id[b];
    });
    permute(graph.kind, order);
    permute(graph.on_cpu, order);
    permute(graph.node_id, order);
    permute(graph.duration_ps, order);
    permute(graph.detail, order);
    permute(graph.name, order);
    permute(graph.parent_count, order);
    renumber_details(graph);

    Renumbering new_name(graph.names.size());
    Renumbering new_peer(peers.size());
    Renumbering new_group(groups.size());
    Renumbering new_pairs(graph.pairs.size());
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
        graph.name[i] = new_name(graph.name[i]);
        if (graph.kind[i] == OpKind::Send || graph.kind[i] == OpKind::Recv) {
            PointDetail& point = graph.points[graph.detail[i]];
            point.peer_role = new_peer(point.peer_role);
        } else if (graph.kind[i] == OpKind::Collective) {
            CollectiveDetail& collective = graph.collectives[graph.detail[i]];
            collective.group_role = new_group(collective.group_role);
            if (collective.root_role != kNoRole) {
                collective.root_role = new_peer(collective.root_role);
            }
            if (collective.pairs != kNoRole) {
                collective.pairs = new_pairs(collective.pairs);
            }
        }
    }
    permute(graph.names, new_name.order());
    permute(peers, new_peer.order());
    permute(groups, new_group.order());
    permute(graph.pairs, new_pairs.order());

    Indices new_index(order.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) {
        new_index[order[i]] = i;
    }
    return new_index;
}

}  // namespace astra
