// What can stand behind `collectives` is in the documents.
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "system/algorithms/algorithm.h"
#include "system/synthesis/synthesiser.h"
#include "tests/support/source_folder.h"

namespace astra {
namespace {

TEST(AlgorithmDocuments, EveryAlgorithmHasARow) {
    std::ifstream stream(test::source_file("docs/study.md"));
    ASSERT_TRUE(stream.good());
    const std::string study{std::istreambuf_iterator<char>(stream), {}};
    const auto expect_row = [&](std::string_view name) {
        EXPECT_NE(study.find("\n| `" + std::string(name)), std::string::npos)
            << "the table of algorithms in docs/study.md has no row for " << name;
    };
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        expect_row(algorithm->name);
    }
    for (const Synthesiser* synthesiser : synthesisers()) {
        expect_row(synthesiser->name);
    }
}

}  // namespace
}  // namespace astra
