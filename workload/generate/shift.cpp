#include <array>

#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostCount = 1'000'000;

void emit(const GeneratorParameters& parameters, std::uint32_t rank, NodeSink& sink) {
    const std::uint32_t ranks = parameters.ranks();
    parameters.need_ranks(2);
    const auto offset = static_cast<std::uint32_t>(parameters.integer("offset", 1, ranks - 1));
    const Bytes bytes = parameters.bytes("bytes");
    const auto count = static_cast<std::uint32_t>(parameters.integer("count", 1, kMostCount));
    const auto to = static_cast<std::uint32_t>((std::uint64_t{rank} + offset) % ranks);
    const auto from = static_cast<std::uint32_t>((std::uint64_t{rank} + ranks - offset) % ranks);
    NodeChain chain(sink);
    NodeChain::Parents parents;
    for (std::uint32_t i = 0; i < count; ++i) {
        const std::uint64_t sent = chain.send("send", parents, to, i, bytes);
        const std::uint64_t received = chain.receive("receive", parents, from, i, bytes);
        parents = {sent, received};
    }
}

constexpr std::array kParameters = {
    GeneratorParameter{.name = "bytes", .doc = "of each message", .fallback = "1MiB"},
    GeneratorParameter{.name = "offset", .doc = "between sender and receiver", .fallback = "1"},
    GeneratorParameter{
        .name = "count", .doc = "rounds, each after the one before", .fallback = "1"},
};

}  // namespace

extern const Generator kShiftGenerator;
const Generator kShiftGenerator = {
    .name = "shift",
    .summary = "Each rank sends to the rank `offset` after it and receives from the one before it",
    .parameters = kParameters,
    .same_for_all_ranks = false,
    .emit = emit,
};

}  // namespace astra
