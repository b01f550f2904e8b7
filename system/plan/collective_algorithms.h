// Which algorithms the study names: for each kind of collective, and for single nodes of a trace.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program_source.h"
#include "system/tuning/algorithm_choice.h"
#include "system/tuning/tuning_config.h"

namespace astra {

class MeasuredTimes;

struct NamedAlgorithms {
    std::vector<AlgorithmChoice> choices;  // one a dimension, or one for all
    std::string where;                     // for messages
};

class CollectiveAlgorithms {
  public:
    // Reads system.collectives. `dimensions` of the network, by which lists are checked. Throws
    // ConfigError.
    static CollectiveAlgorithms from_config(const ConfigView& system,
                                            std::uint32_t dimensions,
                                            const std::vector<Protocol>& protocols,
                                            const MeasuredTimes& measured,
                                            const ProgramReader& reader);

    const NamedAlgorithms& of(CollectiveKind kind) const {
        return by_kind_[static_cast<std::size_t>(kind)];
    }
    void set(CollectiveKind kind, NamedAlgorithms algorithms) {
        by_kind_[static_cast<std::size_t>(kind)] = std::move(algorithms);
    }

    // The number of the algorithm that the study names for this node of a trace; 0: none, the node
    // runs what its kind does.
    std::uint32_t number_of_node(std::uint64_t node_id) const {
        const auto found = number_of_node_.find(node_id);
        return found == number_of_node_.end() ? 0 : found->second;
    }
    // `number` as number_of_node() gives it, not 0.
    const NamedAlgorithms& of_node(std::uint32_t number) const { return of_nodes_[number - 1]; }

  private:
    friend class AlgorithmReader;
    std::array<NamedAlgorithms, kCollectiveKinds> by_kind_;
    std::vector<NamedAlgorithms> of_nodes_;
    std::map<std::uint64_t, std::uint32_t> number_of_node_;  // by node id
    // What choices refer to.
    std::vector<std::unique_ptr<const ProgramSource>> sources_;
    std::vector<std::unique_ptr<const SizeTable>> tables_;
};

}  // namespace astra
