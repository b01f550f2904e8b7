// As RandomSetsEndAndJoinAsTheTracesSay, more of them. ASTRA_SETS=10000 and ASTRA_FIRST_SET=0 in
// the environment choose how many and which.
#include <cstdlib>

#include "tests/validation/independent_collectives.h"

namespace astra::test {
namespace {

std::uint64_t number_in(const char* variable, std::uint64_t fallback) {
    const char* text = std::getenv(variable);
    return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

TEST(CollectiveOrder, ManyRandomSets) {
    const std::uint64_t first = number_in("ASTRA_FIRST_SET", 1000);
    const std::uint64_t sets = number_in("ASTRA_SETS", 1000);
    for (std::uint64_t seed = first; seed < first + sets && !testing::Test::HasFailure(); ++seed) {
        check_independent_collectives(seed);
    }
}

}  // namespace
}  // namespace astra::test
