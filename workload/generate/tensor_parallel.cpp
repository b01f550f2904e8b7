#include <array>

#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostLayers = 1'000'000;

std::uint32_t group_size(const GeneratorParameters& parameters) {
    const auto size =
        static_cast<std::uint32_t>(parameters.integer("group_size", 1, parameters.ranks()));
    if (parameters.ranks() % size != 0) {
        parameters.fail("group_size",
                        std::to_string(size) + " does not divide the " +
                            std::to_string(parameters.ranks()) + " ranks");
    }
    return size;
}

std::string label(const char* what, std::uint64_t number) {
    return std::string(what) + "_" + std::to_string(number);
}

void emit(const GeneratorParameters& parameters, std::uint32_t rank, NodeSink& sink) {
    const std::uint64_t layers = parameters.integer("layers", 1, kMostLayers);
    const Duration forward = parameters.duration("forward");
    const Bytes bytes = parameters.bytes("bytes");
    const Bytes gradients = parameters.bytes("gradients");
    const std::uint32_t size = group_size(parameters);
    NodeChain chain(sink);
    NodeChain::Parents last;
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        last = {chain.compute(label("forward", layer), last, forward)};
        last = {chain.collective(label("all_reduce", layer),
                                 last,
                                 CollectiveKind::AllReduce,
                                 bytes,
                                 label("tensor", rank / size))};
    }
    if (size < parameters.ranks()) {
        chain.collective("all_reduce_gradients",
                         last,
                         CollectiveKind::AllReduce,
                         gradients,
                         label("data", rank % size));
    }
}

std::vector<GroupDefinition> groups(const GeneratorParameters& parameters) {
    const std::uint32_t size = group_size(parameters);
    const std::uint32_t replicas = parameters.ranks() / size;
    std::vector<GroupDefinition> result;
    for (std::uint32_t i = 0; i < replicas; ++i) {
        GroupDefinition group{label("tensor", i), {}};
        for (std::uint32_t k = 0; k < size; ++k) {
            group.ranks.push_back(i * size + k);
        }
        result.push_back(std::move(group));
    }
    for (std::uint32_t k = 0; k < size && replicas > 1; ++k) {
        GroupDefinition group{label("data", k), {}};
        for (std::uint32_t i = 0; i < replicas; ++i) {
            group.ranks.push_back(i * size + k);
        }
        result.push_back(std::move(group));
    }
    return result;
}

constexpr std::array kParameters = {
    GeneratorParameter{.name = "layers", .doc = "of the model", .fallback = "4"},
    GeneratorParameter{.name = "forward", .doc = "computation of a layer", .fallback = "100us"},
    GeneratorParameter{
        .name = "bytes", .doc = "activations that a layer reduces", .fallback = "4MiB"},
    GeneratorParameter{.name = "group_size", .doc = "ranks that share a layer", .fallback = "1"},
    GeneratorParameter{
        .name = "gradients", .doc = "reduced across the groups", .fallback = "16MiB"},
};

}  // namespace

extern const Generator kTensorParallelGenerator;
const Generator kTensorParallelGenerator = {
    .name = "tensor_parallel",
    .summary =
        "Layers split over groups of consecutive ranks, each with an all-reduce in its group; at "
        "the end one of the gradients across the groups",
    .parameters = kParameters,
    .same_for_all_ranks = false,
    .emit = emit,
    .groups = groups,
};

}  // namespace astra
