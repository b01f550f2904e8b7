#include "system/collective/algorithm.h"

#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "system/synthesis/synthesiser.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const CollectiveAlgorithm k##name##Algorithm;
#include "system/collective/builtins.def"
#undef ASTRA_BUILTIN

namespace {

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kFlatPrefix = "one";
constexpr std::uint64_t kMostSends = std::uint64_t{1} << 22U;

}  // namespace

std::span<const CollectiveAlgorithm* const> collective_algorithms() {
    static constexpr std::array table = {
#define ASTRA_BUILTIN(name) &k##name##Algorithm,
#include "system/collective/builtins.def"
#undef ASTRA_BUILTIN
    };
    return table;
}

AlgorithmChoice parse_algorithm(std::string_view name) {
    AlgorithmChoice choice;
    choice.name = name;
    if (name == kMeasured) {
        choice.measured = true;
        return choice;
    }
    std::string word(name);
    if (word.starts_with(kFlatPrefix) && word.size() > kFlatPrefix.size() &&
        std::isupper(static_cast<unsigned char>(word[kFlatPrefix.size()])) != 0) {
        choice.flat = true;
        word.erase(0, kFlatPrefix.size());
        word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    }
    std::size_t digits = word.size();
    while (digits > 0 && std::isdigit(static_cast<unsigned char>(word[digits - 1])) != 0) {
        --digits;
    }
    const bool has_parameter = digits < word.size();
    if (has_parameter) {
        const auto parsed =
            std::from_chars(word.data() + digits, word.data() + word.size(), choice.parameter);
        if (parsed.ec != std::errc() || choice.parameter == 0) {
            return {};
        }
        word.resize(digits);
    }
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        if (algorithm->name == word && (algorithm->takes_parameter || !has_parameter)) {
            choice.algorithm = algorithm;
            return choice;
        }
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        if (synthesiser->name == word) {
            choice.source = &synthesiser->source;
            return choice;
        }
    }
    return {};
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        names.emplace_back(algorithm->name);
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        names.emplace_back(synthesiser->name);
    }
    const std::size_t plain = names.size();
    for (std::size_t i = 0; i < plain; ++i) {
        std::string flat = names[i];
        flat[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(flat[0])));
        names.push_back(std::string(kFlatPrefix) + flat);
    }
    names.emplace_back(kMeasured);
    return names;
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
        "its program would store {} messages, at most {} are possible; a smaller number behind the "
        "name makes it shorter",
        sends,
        kMostSends);
}

Program make_program(const CollectiveAlgorithm& algorithm, const ProgramShape& shape) {
    const Relation relation = algorithm.relation(shape);
    const std::uint32_t row = relation == Relation::Grid ? shape.parameter : 1;
    ProgramBuilder builder(relation, shape.members, algorithm.blocks(shape), row);
    const std::uint32_t roles = relation == Relation::Absolute ? shape.members : 1;
    for (std::uint32_t member = 0; member < roles; ++member) {
        builder.begin_role();
        algorithm.emit(shape, member, builder);
    }
    return builder.finish();
}

}  // namespace astra
