// Turns the attributes of one node, in whatever type a producer wrote them, into a TraceNode.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"
#include "workload/graph/graph_builder.h"
#include "workload/nodes/attribute_value.h"

namespace astra {

// What a trace file is read for.
struct TraceContext {
    std::string file;
    std::uint32_t rank = 0;
    std::uint32_t ranks = 0;
    std::uint64_t element_bytes = 1;
};

class NodeAssembler {
  public:
    // Those that matter.
    enum Attribute : std::uint8_t {
        IsCpuOp,
        NumOps,
        TensorSize,
        CommType,
        CommSize,
        CommPriority,
        CommSrc,
        CommDst,
        CommTag,
        PgName,
        InvolvedDim,
        InSplitSize,
        OutSplitSize,
        DurationMicros,
        DurationPs,
        StreamNumber,
        Tid,
        Correlation,
        StartTimeMicros,
        Ts,
        Event,
        EventId,
        WaitOnStream,
        WaitOnEvent,
        WaitOnRecord,
        AttributeCount,
    };

    NodeAssembler(const TraceContext& context, GraphBuilder& builder, Warnings& warnings);

    // Starts a node; one that was not finished is forgotten.
    void begin();
    TraceNode& node() { return node_; }  // the reader sets id, name and parents
    void set_type(std::uint64_t node_type);
    void set_input_values(std::string_view text) { input_values_ = text; }
    // AttributeCount for an attribute that does not matter: it needs no value.
    static Attribute attribute_of(std::string_view name);
    static bool is_known(std::string_view name) { return attribute_of(name) != AttributeCount; }
    static std::span<const std::string_view> names();  // of these
    // An absent value leaves the attribute as it is. Two values of one attribute must mean the
    // same, or finish() refuses the node.
    void set(Attribute attribute, AttributeValue value);
    void set(std::string_view name, AttributeValue value) {
        set(attribute_of(name), std::move(value));
    }
    // Checks the node and gives it to the builder.
    void finish();
    [[noreturn]] void fail(const std::string& what) const;  // "file: rank, node: what"

    std::uint64_t nodes() const { return nodes_; }
    const TraceContext& context() const { return context_; }
    Warnings& warnings() { return warnings_; }
    // Defined by METADATA nodes.
    const std::vector<GroupDefinition>& groups() const { return groups_; }
    // The rank that a SEND or RECV says it runs on.
    std::optional<std::uint32_t> stated_rank() const { return stated_rank_; }

  private:
    std::optional<std::uint64_t> integer(Attribute attribute) const;
    std::optional<std::uint32_t> small_integer(Attribute attribute) const;
    std::uint64_t duration_ps() const;
    std::uint64_t rounded_duration_ps() const;  // of duration_micros
    std::optional<std::uint64_t> communication_bytes() const;
    void fill_collective();
    void fill_pairs();
    void fill_point();
    void fill_stream();
    std::uint64_t number_or_none(Attribute attribute, std::uint64_t unit = 1) const;
    void define_groups();
    void refuse_contradictions() const;

    TraceContext context_;
    GraphBuilder& builder_;
    Warnings& warnings_;
    TraceNode node_;
    std::uint64_t type_ = 0;
    std::uint64_t nodes_ = 0;
    std::string input_values_;
    std::array<AttributeValue, AttributeCount> values_;
    std::uint32_t given_ = 0;  // bit k: attribute k has a value
    std::uint32_t contradicted_ = 0;
    std::vector<GroupDefinition> groups_;
    std::optional<std::uint32_t> stated_rank_;
};

}  // namespace astra
