#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostCount = 1'000'000'000;

void emit(const GeneratorParameters& parameters, std::uint32_t /*rank*/, NodeSink& sink) {
    const std::uint64_t count = parameters.integer("count", 1, kMostCount);
    parameters.limit_nodes("count", count);
    const Duration duration = parameters.duration("duration");
    const bool chained = parameters.flag("chained");
    NodeChain chain(sink);
    NodeChain::Parents parents;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t id = chain.compute("compute", parents, duration);
        if (chained) {
            parents = {id};
        }
    }
}

}  // namespace

Generator compute_generator() {
    return {"compute",
            "Computations of one length, one after the other or all at once.",
            {{"count", "how many", "1"},
             {"duration", "of each", "1us"},
             {"chained", "whether each waits for the one before", "true"}},
            true,
            emit,
            no_groups};
}

}  // namespace astra
