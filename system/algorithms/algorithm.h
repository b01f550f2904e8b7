// An algorithm is a pure function that emits a program. To add one: a .cpp in this folder that
// defines `const CollectiveAlgorithm k<Name>Algorithm`, and one line in builtins.def. The verifier
// tries every registered algorithm on many group sizes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/registry.h"
#include "system/program/program_builder.h"

namespace astra {

// So many bytes cross the links for so many bytes that the program's messages hold.
struct WireShare {
    std::uint64_t wire_bytes = 1;
    std::uint64_t data_bytes = 1;
};

// A simple one is a name, a summary, its kinds and `emit`: the rest has defaults. The verifier
// finds a default that does not fit.
struct CollectiveAlgorithm {
    std::string_view name = {};
    std::string_view summary = {};
    std::initializer_list<CollectiveKind> kinds = {};  // that it does
    bool takes_parameter = false;                      // a number may follow the name
    std::uint32_t variants = 1;                        // chunk c runs variant c mod variants
    // Why it cannot do a shape of its kinds; "" if it can. nullptr: it does all of them.
    std::string (*limit)(const ProgramShape& shape) = nullptr;
    Relation (*relation)(const ProgramShape& shape) = [](const ProgramShape&) {
        return Relation::Rotation;
    };
    // Into how many blocks the buffer is cut.
    std::uint32_t (*blocks)(const ProgramShape& shape) = [](const ProgramShape& shape) {
        return shape.members;
    };
    // Emits the sequence of `member`; called once, for member 0, unless the relation is Absolute.
    void (*emit)(const ProgramShape& shape,
                 std::uint32_t member,
                 ProgramBuilder& builder) = nullptr;
    // The levels of an algorithm that runs others level by level. Its name is followed by the sizes
    // of the levels, from the innermost, and their algorithms: hierarchical8x4:ring-direct-bruck.
    std::vector<ProgramLevel> (*levels)(const ProgramShape& shape) = nullptr;
    // The names, with numbers, that `auto` tries; nullptr: the name as it is.
    std::vector<std::string> (*trials)(const ProgramShape& shape) = nullptr;
    // The bytes on links of an algorithm whose messages the switch reduces and multicasts; nullptr:
    // messages are what they are, and their receiver reduces them.
    WireShare (*in_switch)(const ProgramShape& shape) = nullptr;

    // Why it cannot do the shape; "" if it can. The shape has two members or more.
    std::string refusal(const ProgramShape& shape) const;
};

const Registry<CollectiveAlgorithm>& collective_algorithms();

// Its index in collective_algorithms().
std::uint32_t index_of(const CollectiveAlgorithm& algorithm);

// The refusal of an algorithm that does certain kinds only: "" for them.
std::string refuse_unless(const ProgramShape& shape, std::initializer_list<CollectiveKind> kinds);

// The refusal of a program of so many stored sends, that would not fit into memory; "" if it does.
// For programs that store more than some for each member.
std::string refuse_too_long(std::uint64_t sends);
// The same where the number behind the name multiplies the sends.
std::string refuse_too_long_by_number(std::uint64_t sends);

// Requires that the algorithm does not refuse the shape.
Program make_program(const CollectiveAlgorithm& algorithm, const ProgramShape& shape);

}  // namespace astra
