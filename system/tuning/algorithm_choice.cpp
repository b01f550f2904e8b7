#include "system/tuning/algorithm_choice.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "astra/core/text/nearest.h"
#include "system/synthesis/synthesiser.h"

namespace astra {

namespace {

constexpr std::string_view kMeasured = "measured";
constexpr std::string_view kAuto = "auto";
constexpr std::string_view kFlatPrefix = "one";
constexpr std::size_t kMostLevels = 8;

// A whole number from 1.
bool read_number(std::string_view text, std::uint32_t& number) {
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, number);
    return parsed.ec == std::errc() && parsed.ptr == end && number > 0;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
}

// "8x4:ring-direct": sizes, and an algorithm for each and for what is left. The last algorithm
// serves the levels after it too. What is wrong with it; "" if nothing is.
std::string read_levels(std::string_view text, std::vector<LevelShape>& levels) {
    const std::size_t colon = text.find(':');
    const std::string_view sizes = text.substr(0, colon);
    if (!sizes.empty()) {
        for (const std::string_view size : split(sizes, 'x')) {
            LevelShape level;
            if (levels.size() == kMostLevels || !read_number(size, level.members)) {
                return fmt::format("'{}' is no list of at most {} group sizes, as in 8x4",
                                   sizes.substr(0, 64),
                                   kMostLevels);
            }
            levels.push_back(level);
        }
        levels.emplace_back();
    }
    if (colon == std::string_view::npos) {
        return "";
    }
    const std::vector<std::string_view> names = split(text.substr(colon + 1), '-');
    if (names.size() > levels.size()) {
        return fmt::format("{} algorithms for {} levels", names.size(), levels.size());
    }
    for (std::size_t i = 0; i < levels.size(); ++i) {
        const AlgorithmChoice choice = parse_algorithm(names[std::min(i, names.size() - 1)]);
        if (!choice.valid()) {
            return choice.fault;
        }
        if (choice.algorithm == nullptr || choice.flat || choice.algorithm->levels != nullptr ||
            choice.algorithm->in_switch != nullptr) {
            return fmt::format("'{}' cannot be the algorithm of a level",
                               names[std::min(i, names.size() - 1)]);
        }
        levels[i].algorithm = index_of(*choice.algorithm);
        levels[i].parameter = choice.parameter;
    }
    return "";
}

AlgorithmChoice invalid(std::string_view name, std::string fault) {
    AlgorithmChoice choice;
    choice.name = name;
    choice.fault = std::move(fault);
    if (choice.fault.find(name) == std::string::npos) {
        choice.fault = fmt::format("algorithm '{}': {}", name, choice.fault);
    }
    return choice;
}

}  // namespace

AlgorithmChoice parse_algorithm(std::string_view name) {
    AlgorithmChoice choice;
    choice.name = name;
    if (name == kMeasured) {
        choice.measured = true;
        return choice;
    }
    // A name of the table means that entry, whatever it looks like.
    if (const CollectiveAlgorithm* whole = collective_algorithms().find(name)) {
        choice.algorithm = whole;
        if (whole->levels != nullptr) {
            choice.fault = read_levels("", choice.levels);
        }
        return choice.fault.empty() ? choice : invalid(name, std::move(choice.fault));
    }
    std::string word(name);
    if (word.starts_with(kFlatPrefix) && word.size() > kFlatPrefix.size() &&
        std::isupper(static_cast<unsigned char>(word[kFlatPrefix.size()])) != 0) {
        choice.flat = true;
        word.erase(0, kFlatPrefix.size());
        word[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(word[0])));
    }
    if (word == kAuto) {
        choice.automatic = true;
        return choice;
    }
    const std::size_t letters = std::min(word.size(), word.find_first_of("0123456789:"));
    const std::string_view rest = std::string_view(word).substr(letters);
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        if (algorithm->name != std::string_view(word).substr(0, letters)) {
            continue;
        }
        choice.algorithm = algorithm;
        if (algorithm->levels != nullptr) {
            choice.fault = read_levels(rest, choice.levels);
        } else if (!rest.empty() &&
                   (!algorithm->takes_parameter || !read_number(rest, choice.parameter))) {
            break;
        }
        return choice.fault.empty() ? choice : invalid(name, std::move(choice.fault));
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        if (synthesiser->name == std::string_view(word).substr(0, letters) &&
            (rest.empty() || read_number(rest, choice.parameter))) {
            choice.source = &synthesiser->source;
            return choice;
        }
    }
    return invalid(
        name,
        "unknown algorithm '" + std::string(name) + "'" + suggestion(name, algorithm_names()));
}

std::vector<std::string> algorithm_names() {
    std::vector<std::string> names;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        names.emplace_back(algorithm->name);
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        names.emplace_back(synthesiser->name);
    }
    names.emplace_back(kAuto);
    const std::size_t plain = names.size();
    for (std::size_t i = 0; i < plain; ++i) {
        std::string flat = names[i];
        flat[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(flat[0])));
        names.push_back(std::string(kFlatPrefix) + flat);
    }
    names.emplace_back(kMeasured);
    return names;
}

}  // namespace astra
