#include <array>

#include "astra/core/kind_names.h"
#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostCount = 100'000'000;

void emit(const GeneratorParameters& parameters, std::uint32_t /*rank*/, NodeSink& sink) {
    const auto kind =
        static_cast<CollectiveKind>(parameters.choice("collective", collective_kind_names()));
    const Bytes bytes = parameters.bytes("bytes");
    const std::uint64_t count = parameters.integer("count", 1, kMostCount);
    const std::uint64_t step = parameters.integer("priority_step", 0, kMostCount);
    const bool chained = parameters.flag("chained");
    NodeChain chain(sink);
    NodeChain::Parents parents;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t id =
            chain.collective(name_of(kind), parents, kind, bytes, "", i * step);
        if (chained) {
            parents = {id};
        }
    }
}

constexpr std::array kParameters = {
    GeneratorParameter{.name = "collective",
                       .doc = "what each does: all_reduce, all_gather, ...",
                       .fallback = "all_reduce"},
    GeneratorParameter{.name = "bytes", .doc = "comm_size of each", .fallback = "1MiB"},
    GeneratorParameter{.name = "count", .doc = "how many", .fallback = "1"},
    GeneratorParameter{
        .name = "chained", .doc = "whether each waits for the one before", .fallback = "true"},
    GeneratorParameter{.name = "priority_step",
                       .doc = "comm_priority grows by it from one to the next",
                       .fallback = "0"},
};

}  // namespace

extern const Generator kCollectiveGenerator;
const Generator kCollectiveGenerator = {
    .name = "collective",
    .summary = "Collectives over all ranks, one after the other or all at once",
    .parameters = kParameters,
    .same_for_all_ranks = true,
    .emit = emit,
};

}  // namespace astra
