#include <array>

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

constexpr std::array kParameters = {
    GeneratorParameter{.name = "count", .doc = "how many", .fallback = "1"},
    GeneratorParameter{.name = "duration", .doc = "of each", .fallback = "1us"},
    GeneratorParameter{
        .name = "chained", .doc = "whether each waits for the one before", .fallback = "true"},
};

}  // namespace

extern const Generator kComputeGenerator;
const Generator kComputeGenerator = {
    .name = "compute",
    .summary = "Computations of one length, one after the other or all at once",
    .parameters = kParameters,
    .same_for_all_ranks = true,
    .emit = emit,
};

}  // namespace astra
