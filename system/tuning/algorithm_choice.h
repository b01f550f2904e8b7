// How configurations name the algorithm of a collective, or of each of its dimensions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "system/algorithms/algorithm.h"

namespace astra {

class ProgramSource;
struct SizeTable;

// What configurations give: "ring", "direct4", "oneRing", "hierarchical8:direct", or a file.
struct AlgorithmChoice {
    std::string name;                                // as it was given
    const CollectiveAlgorithm* algorithm = nullptr;  // null: one of the others, or unknown
    const ProgramSource* source = nullptr;           // outlives the choice
    std::uint32_t parameter = 0;
    bool flat = false;  // one group over all dimensions: "one…", or a source that stands alone
    bool measured = false;
    bool automatic = false;               // "auto": the one that is predicted to be the fastest
    const SizeTable* table = nullptr;     // one for each range of sizes; outlives the choice
    std::vector<LevelShape> levels = {};  // of an algorithm that has them
    std::string fault;                    // why the name is none, for messages
    // What the algorithm is asked for.
    ProgramShape shape(CollectiveKind kind, std::uint32_t members) const {
        return {kind, members, parameter, 0, 0, false, levels};
    }
    bool by_size() const { return automatic || table != nullptr; }
    bool valid() const {
        return algorithm != nullptr || source != nullptr || measured || by_size();
    }
};
AlgorithmChoice parse_algorithm(std::string_view name);
// Every name that parse_algorithm accepts, without numbers.
std::vector<std::string> algorithm_names();

}  // namespace astra
