#include "system/algorithms/algorithm.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace astra {

#define ASTRA_BUILTIN(name) extern const CollectiveAlgorithm k##name##Algorithm;
#include "system/algorithms/builtins.def"
#undef ASTRA_BUILTIN

namespace {

constexpr std::uint64_t kMostSends = std::uint64_t{1} << 22U;
}  // namespace

const Registry<CollectiveAlgorithm>& collective_algorithms() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Algorithm,
#include "system/algorithms/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<CollectiveAlgorithm> table("algorithm", entries);
    return table;
}

std::string CollectiveAlgorithm::refusal(const ProgramShape& shape) const {
    std::string text = refuse_unless(shape, kinds);
    return text.empty() && limit != nullptr ? limit(shape) : text;
}

std::uint32_t index_of(const CollectiveAlgorithm& algorithm) {
    const auto table = collective_algorithms();
    return static_cast<std::uint32_t>(std::find(table.begin(), table.end(), &algorithm) -
                                      table.begin());
}

std::string refuse_unless(const ProgramShape& shape, std::initializer_list<CollectiveKind> kinds) {
    std::string text = "it does";
    for (const CollectiveKind kind : kinds) {
        if (kind == shape.kind) {
            return "";
        }
        text += std::string(kind == *kinds.begin() ? " " : ", ") + name_of(kind);
    }
    return text + " only";
}

std::string refuse_too_long(std::uint64_t sends) {
    if (sends <= kMostSends) {
        return "";
    }
    return fmt::format(
        "its program would store {} messages, at most {} are possible", sends, kMostSends);
}

std::string refuse_too_long_by_number(std::uint64_t sends) {
    const std::string text = refuse_too_long(sends);
    return text.empty() ? text : text + "; a smaller number behind the name makes it shorter";
}

Program make_program(const CollectiveAlgorithm& algorithm, const ProgramShape& shape) {
    const Relation relation = algorithm.relation(shape);
    ProgramBuilder builder(relation, shape.members, algorithm.blocks(shape));
    builder.set_variant(2 * (shape.variant % 2) + (shape.reversed ? 1 : 0));
    if (algorithm.levels != nullptr) {
        builder.add_levels(algorithm.levels(shape), shape.kind == CollectiveKind::AllToAll);
    }
    const std::uint32_t roles = relation == Relation::Absolute ? shape.members : 1;
    for (std::uint32_t member = 0; member < roles; ++member) {
        builder.begin_role();
        algorithm.emit(shape, member, builder);
    }
    return builder.finish();
}

}  // namespace astra
