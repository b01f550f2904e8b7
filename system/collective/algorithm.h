// An algorithm is a pure function that emits a program. To add one: a .cpp in this folder that
// defines `const CollectiveAlgorithm k<Name>Algorithm`, and one line in builtins.def. The verifier
// tries every registered algorithm on many group sizes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "system/collective/program.h"

namespace astra {

struct CollectiveAlgorithm {
    std::string_view name;
    std::string_view doc;
    bool takes_parameter;    // a number may follow the name
    std::uint32_t variants;  // chunk c runs variant c mod variants
    // Why this algorithm cannot do the shape; "" if it can. The shape has two members or more.
    std::string (*refusal)(const ProgramShape& shape);
    // A grid has rows of `shape.parameter`.
    Relation (*relation)(const ProgramShape& shape);
    // Into how many blocks the buffer is cut.
    std::uint32_t (*blocks)(const ProgramShape& shape);
    // Emits the sequence of `member`; called once, for member 0, unless the relation is Absolute.
    void (*emit)(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder);
};

std::span<const CollectiveAlgorithm* const> collective_algorithms();

// A name as configurations give it: "ring", "direct4", "oneRing".
struct AlgorithmChoice {
    const CollectiveAlgorithm* algorithm = nullptr;  // null: "measured" or an unknown name
    std::uint32_t parameter = 0;
    bool flat = false;  // "one…": one group over all dimensions
    bool measured = false;
    bool valid() const { return algorithm != nullptr || measured; }
};
AlgorithmChoice parse_algorithm(std::string_view name);
// Every name that parse_algorithm accepts, without numbers.
std::vector<std::string> algorithm_names();

// The refusal of an algorithm that does certain kinds only: "" for them.
std::string refuse_unless(const ProgramShape& shape, std::initializer_list<CollectiveKind> kinds);

// The refusal of a program of so many stored sends, that would not fit into memory; "" if it does.
// For algorithms whose sends the user's number multiplies.
std::string refuse_too_long(std::uint64_t sends);

// Requires that the algorithm does not refuse the shape.
Program make_program(const CollectiveAlgorithm& algorithm, const ProgramShape& shape);

}  // namespace astra
