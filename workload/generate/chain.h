// Nodes with ids in order, for generators.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "workload/generate/generator.h"

namespace astra {

class NodeChain {
  public:
    using Parents = std::vector<std::uint64_t>;

    explicit NodeChain(NodeSink& sink) : sink_(sink) {}

    // All return the id of the new node.
    std::uint64_t compute(std::string name, Parents parents, Duration duration) {
        start(OpKind::Compute, std::move(name), std::move(parents));
        node_.duration_ps = duration.ps;
        return finish();
    }
    // A computation that says that it has nothing to compute.
    std::uint64_t instant(std::string name, Parents parents) {
        start(OpKind::Compute, std::move(name), std::move(parents));
        node_.operations = 0;
        return finish();
    }
    std::uint64_t collective(std::string name,
                             Parents parents,
                             CollectiveKind kind,
                             Bytes bytes,
                             const std::string& group = "",
                             std::uint64_t priority = 0) {
        start(OpKind::Collective, std::move(name), std::move(parents));
        node_.collective = kind;
        node_.comm_bytes = bytes.count;
        node_.group = group;
        node_.priority = priority;
        return finish();
    }
    // What this rank sends to each and receives from each.
    std::uint64_t all_to_all(std::string name,
                             Parents parents,
                             std::vector<std::uint64_t> sends,
                             std::vector<std::uint64_t> receives) {
        start(OpKind::Collective, std::move(name), std::move(parents));
        node_.collective = CollectiveKind::AllToAll;
        node_.comm_bytes = std::accumulate(sends.begin(), sends.end(), std::uint64_t{0});
        node_.pair_sends = std::move(sends);
        node_.pair_receives = std::move(receives);
        return finish();
    }
    std::uint64_t send(
        std::string name, Parents parents, std::uint32_t to, std::uint32_t tag, Bytes bytes) {
        start(OpKind::Send, std::move(name), std::move(parents));
        node_.destination = to;
        node_.tag = tag;
        node_.comm_bytes = bytes.count;
        return finish();
    }
    std::uint64_t receive(
        std::string name, Parents parents, std::uint32_t from, std::uint32_t tag, Bytes bytes) {
        start(OpKind::Recv, std::move(name), std::move(parents));
        node_.source = from;
        node_.tag = tag;
        node_.comm_bytes = bytes.count;
        return finish();
    }

  private:
    void start(OpKind kind, std::string name, Parents parents) {
        node_.clear();
        node_.id = next_++;
        node_.kind = kind;
        node_.name = std::move(name);
        node_.parents = std::move(parents);
    }
    std::uint64_t finish() {
        sink_.add(node_);
        return node_.id;
    }

    NodeSink& sink_;
    TraceNode node_;
    std::uint64_t next_ = 1;
};

}  // namespace astra
