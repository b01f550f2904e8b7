#include "tests/support/hierarchy.h"

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/program/verifier/verifier.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

std::vector<Sizes> factorisations(std::uint32_t members) {
    std::vector<Sizes> found;
    for (std::uint32_t first = 2; first < members; ++first) {
        if (members % first != 0) {
            continue;
        }
        found.push_back({first, members / first});
        for (std::uint32_t second = 2; second < members / first; ++second) {
            if (members / first % second == 0) {
                found.push_back({first, second, members / first / second});
            }
        }
    }
    return found;
}

std::string hierarchy(const Sizes& sizes, const std::vector<std::string>& algorithms) {
    std::string name = "hierarchical";
    for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
        name += (i == 0 ? "" : "x") + std::to_string(sizes[i]);
    }
    for (std::size_t i = 0; i < algorithms.size(); ++i) {
        name += (i == 0 ? ":" : "-") + algorithms[i];
    }
    return name;
}

bool expect_proved(const std::string& name, CollectiveKind kind, std::uint32_t members) {
    const AlgorithmChoice choice = parse_algorithm(name);
    if (!choice.valid()) {
        ADD_FAILURE() << choice.fault;
        return false;
    }
    ProgramShape shape = choice.shape(kind, members);
    if (!choice.algorithm->refusal(shape).empty()) {
        return false;
    }
    for (shape.variant = 0; shape.variant < choice.algorithm->variants; ++shape.variant) {
        const Verdict verdict = verify(make_program(*choice.algorithm, shape), kind, 0);
        EXPECT_TRUE(verdict.correct)
            << name << " " << name_of(kind) << " of " << members << ": " << verdict.fault;
    }
    return true;
}

std::uint32_t prove_hierarchies(std::uint32_t members) {
    std::uint32_t proved = 0;
    for (const Sizes& sizes : factorisations(members)) {
        for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
            if (algorithm->levels != nullptr || algorithm->in_switch != nullptr) {
                continue;
            }
            const std::string name(algorithm->name);
            std::vector<std::vector<std::string>> choices = {{name}};
            for (std::size_t level = 0; level < sizes.size(); ++level) {
                choices.emplace_back(sizes.size(), "ring")[level] = name;
            }
            for (const auto& algorithms : choices) {
                for (const CollectiveKind kind : {CollectiveKind::AllReduce,
                                                  CollectiveKind::ReduceScatter,
                                                  CollectiveKind::AllGather,
                                                  CollectiveKind::AllToAll}) {
                    const bool done = expect_proved(hierarchy(sizes, algorithms), kind, members);
                    proved += done ? 1 : 0;
                }
            }
        }
    }
    return proved;
}

}  // namespace astra
