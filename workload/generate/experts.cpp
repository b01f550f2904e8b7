#include <array>

#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostLayers = 1'000'000;
constexpr std::uint64_t kMostSkew = 1'000'000;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 40U;

// What a rank sends to each expert: shares that fall evenly from the most wanted expert to the
// least, which gets 1/skew of it. Expert `layer` modulo the ranks is the most wanted of a layer.
std::vector<std::uint64_t> shares(const GeneratorParameters& parameters, std::uint64_t layer) {
    const std::uint64_t ranks = parameters.ranks();
    const std::uint64_t bytes = parameters.bytes("bytes").count;
    const std::uint64_t skew = parameters.integer("skew", 1, kMostSkew);
    if (bytes > kMostBytes) {
        parameters.fail("bytes", "more than 1 TiB");
    }
    std::vector<std::uint64_t> weights(ranks);
    std::uint64_t sum = 0;
    for (std::uint64_t behind = 0; behind < ranks; ++behind) {
        const std::uint64_t weight =
            ranks == 1 ? 1 : (ranks - 1) + (ranks - 1 - behind) * (skew - 1);
        weights[(layer + behind) % ranks] = weight;
        sum += weight;
    }
    for (std::uint64_t& weight : weights) {
        weight = static_cast<std::uint64_t>(static_cast<unsigned __int128>(bytes) * weight / sum);
    }
    return weights;
}

void emit(const GeneratorParameters& parameters, std::uint32_t rank, NodeSink& sink) {
    const std::uint64_t layers = parameters.integer("layers", 1, kMostLayers);
    const Duration attention = parameters.duration("attention");
    const Duration expert = parameters.duration("expert");
    NodeChain chain(sink);
    NodeChain::Parents last;
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        const std::string number = std::to_string(layer);
        const std::vector<std::uint64_t> to_experts = shares(parameters, layer);
        const std::vector<std::uint64_t> to_me(parameters.ranks(), to_experts[rank]);
        last = {chain.compute("attention_" + number, last, attention)};
        last = {chain.all_to_all("dispatch_" + number, last, to_experts, to_me)};
        last = {chain.compute("expert_" + number, last, expert)};
        last = {chain.all_to_all("combine_" + number, last, to_me, to_experts)};
    }
}

constexpr std::array kParameters = {
    GeneratorParameter{.name = "layers", .doc = "of the model", .fallback = "4"},
    GeneratorParameter{
        .name = "attention", .doc = "computation before the experts", .fallback = "100us"},
    GeneratorParameter{.name = "expert", .doc = "computation of an expert", .fallback = "100us"},
    GeneratorParameter{.name = "bytes",
                       .doc = "tokens of a rank, those that stay on it included",
                       .fallback = "16MiB"},
    GeneratorParameter{.name = "skew",
                       .doc = "how much more the most wanted expert gets than the least",
                       .fallback = "1"},
};

}  // namespace

extern const Generator kExpertsGenerator;
const Generator kExpertsGenerator = {
    .name = "experts",
    .summary =
        "Layers of experts, one a rank: every rank sends some of its tokens to each expert and "
        "gets them back, by all_to_alls with a size for each pair",
    .parameters = kParameters,
    .same_for_all_ranks = false,
    .emit = emit,
};

}  // namespace astra
