#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostLayers = 1'000'000;

std::string label(const char* what, std::uint64_t layer) {
    return std::string(what) + "_" + std::to_string(layer);
}

void emit(const GeneratorParameters& parameters, std::uint32_t /*rank*/, NodeSink& sink) {
    const std::uint64_t layers = parameters.integer("layers", 1, kMostLayers);
    const std::uint64_t iterations = parameters.integer("iterations", 1, kMostLayers);
    const Duration forward = parameters.duration("forward");
    const Duration backward = parameters.duration("backward");
    const Bytes bytes = parameters.bytes("bytes");
    parameters.limit_nodes("layers, iterations", 3 * layers * iterations);
    NodeChain chain(sink);
    NodeChain::Parents reduced(layers);  // the all-reduce of each layer in the iteration before
    NodeChain::Parents last;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        for (std::uint64_t layer = 0; layer < layers; ++layer) {
            if (iteration > 0) {
                last.push_back(reduced[layer]);
            }
            last = {chain.compute(label("forward", layer), last, forward)};
        }
        for (std::uint64_t layer = layers; layer-- > 0;) {
            last = {chain.compute(label("backward", layer), last, backward)};
            reduced[layer] = chain.collective(
                label("all_reduce", layer), last, CollectiveKind::AllReduce, bytes);
        }
    }
}

}  // namespace

Generator training_generator() {
    return {
        "training",
        "Data-parallel training: the gradients of a layer are reduced while earlier layers still "
        "compute.",
        {{"layers", "of the model", "4"},
         {"forward", "computation of a layer", "100us"},
         {"backward", "computation of a layer", "200us"},
         {"bytes", "gradients of a layer", "4MiB"},
         {"iterations", "the forward pass of a layer waits for its gradients", "1"}},
        true,
        emit,
        no_groups};
}

}  // namespace astra
