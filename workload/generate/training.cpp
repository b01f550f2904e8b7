#include <array>
#include <cmath>
#include <utility>

#include "workload/generate/chain.h"
#include "workload/generate/tensor_table.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostLayers = 1'000'000;
constexpr std::uint64_t kMostBatch = 1U << 30U;
constexpr double kMostPs = 1e18;
constexpr std::uint64_t kNodesOfTensor = 4;  // one more with weights apart

struct Tensor {
    std::string name;
    Duration forward;
    Duration backward;
    Bytes gradient;
};

std::vector<Tensor> uniform_tensors(const GeneratorParameters& parameters) {
    const std::uint64_t layers = parameters.integer("layers", 1, kMostLayers);
    const Duration forward = parameters.duration("forward");
    const Duration backward = parameters.duration("backward");
    const Bytes bytes = parameters.bytes("bytes");
    std::vector<Tensor> tensors;
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
        tensors.push_back({std::to_string(layer), forward, backward, bytes});
    }
    return tensors;
}

std::vector<Tensor> tensors_of_table(const GeneratorParameters& parameters) {
    for (const char* name : {"layers", "forward", "backward", "bytes"}) {
        if (parameters.is_given(name)) {
            parameters.fail(name, "does not go with a table, which says it for each tensor");
        }
    }
    const std::uint64_t batch = parameters.integer("batch", 1, kMostBatch);
    const double rate = parameters.rate("rate");
    const Bytes element = parameters.bytes("gradient");
    std::vector<Tensor> tensors;
    for (TensorRow& row : read_tensor_table(parameters.text("table"))) {
        const double ps =
            static_cast<double>(row.operations) * static_cast<double>(batch) / rate * 1e12;
        if (!(ps < kMostPs)) {
            parameters.fail("rate", "tensor " + row.name + " computes for more than 11 days");
        }
        const auto forward = static_cast<std::uint64_t>(std::llround(ps));
        const std::uint64_t bytes = saturating_multiply(row.parameters, element.count);
        tensors.push_back({std::move(row.name), {forward}, {2 * forward}, {bytes}});
    }
    return tensors;
}

std::vector<Tensor> tensors_of(const GeneratorParameters& parameters) {
    if (!parameters.text("table").empty()) {
        return tensors_of_table(parameters);
    }
    for (const char* name : {"batch", "rate", "gradient"}) {
        if (parameters.is_given(name)) {
            parameters.fail(name, "goes with a table");
        }
    }
    return uniform_tensors(parameters);
}

// A tensor that is only looked up computes nothing, which is not the same as an unknown duration.
std::uint64_t compute(NodeChain& chain,
                      std::string name,
                      NodeChain::Parents parents,
                      Duration duration) {
    return duration.ps == 0 ? chain.instant(std::move(name), std::move(parents))
                            : chain.compute(std::move(name), std::move(parents), duration);
}

// What the computation of a gradient hands on to the layer below, and what makes the gradient.
struct Backward {
    NodeChain::Parents below;
    NodeChain::Parents gradient;
};

// In halves, apart: nobody needs the input gradient of the first layer, and only the transfer needs
// that of the weights.
Backward backward(NodeChain& chain,
                  const Tensor& tensor,
                  const NodeChain::Parents& above,
                  bool apart,
                  bool is_first) {
    if (!apart) {
        const NodeChain::Parents whole = {
            compute(chain, "backward_" + tensor.name, above, tensor.backward)};
        return {whole, whole};
    }
    const Duration half{tensor.backward.ps / 2};
    Backward made;
    made.below = above;
    if (!is_first) {
        made.below = {compute(chain, "backward_input_" + tensor.name, above, half)};
    }
    made.gradient = {
        compute(chain, "backward_weight_" + tensor.name, above, {tensor.backward.ps - half.ps})};
    return made;
}

void emit(const GeneratorParameters& parameters, std::uint32_t /*rank*/, NodeSink& sink) {
    const std::vector<Tensor> tensors = tensors_of(parameters);
    const bool apart = parameters.flag("weights_apart");
    const std::uint64_t iterations = parameters.integer("iterations", 1, kMostLayers);
    parameters.limit_nodes("layers, iterations",
                           (kNodesOfTensor + (apart ? 1 : 0)) *
                               static_cast<std::uint64_t>(tensors.size()) * iterations);
    NodeChain chain(sink);
    NodeChain::Parents updated(tensors.size());  // of the iteration before; 0 = none
    NodeChain::Parents last;
    for (std::uint64_t iteration = 0; iteration < iterations; ++iteration) {
        for (std::size_t t = 0; t < tensors.size(); ++t) {
            if (updated[t] != 0) {
                last.push_back(updated[t]);
            }
            last = {compute(chain, "forward_" + tensors[t].name, last, tensors[t].forward)};
        }
        for (std::size_t t = tensors.size(); t-- > 0;) {
            const Tensor& tensor = tensors[t];
            const Backward made = backward(chain, tensor, last, apart, t == 0);
            last = made.below;
            if (tensor.gradient.count > 0) {
                const std::uint64_t reduced = chain.collective("all_reduce_" + tensor.name,
                                                               made.gradient,
                                                               CollectiveKind::AllReduce,
                                                               tensor.gradient);
                updated[t] = chain.instant("update_" + tensor.name, {reduced});
            }
        }
    }
}

constexpr std::array kParameters = {
    GeneratorParameter{
        .name = "layers", .doc = "of the model, all alike, each one tensor", .fallback = "4"},
    GeneratorParameter{.name = "forward", .doc = "computation of a layer", .fallback = "100us"},
    GeneratorParameter{.name = "backward", .doc = "computation of a layer", .fallback = "200us"},
    GeneratorParameter{.name = "bytes", .doc = "gradients of a layer", .fallback = "4MiB"},
    GeneratorParameter{
        .name = "table",
        .doc = "CSV with a row a tensor in place of layers: columns tensor, params and "
               "fwd_flops_per_sample; a backward computation takes twice the forward one",
        .fallback = "",
        .is_file = true},
    GeneratorParameter{
        .name = "batch", .doc = "samples a rank and iteration, with a table", .fallback = "32"},
    GeneratorParameter{
        .name = "rate", .doc = "at which a rank computes, with a table", .fallback = "8TFLOPS"},
    GeneratorParameter{.name = "gradient",
                       .doc = "size of a parameter's gradient, with a table",
                       .fallback = "4B"},
    GeneratorParameter{.name = "weights_apart",
                       .doc =
                           "true: the backward computation is two ops of half its time, the input "
                           "gradient and the weight gradient, of which only the first is needed "
                           "by the layer below; the first layer has no input gradient",
                       .fallback = "false"},
    GeneratorParameter{.name = "iterations", .doc = "one after the other", .fallback = "1"},
};

}  // namespace

extern const Generator kTrainingGenerator;
const Generator kTrainingGenerator = {
    .name = "training",
    .summary =
        "Data-parallel training: the gradient of a tensor is reduced while earlier ones still "
        "compute; the forward pass of the next iteration waits for each update where it needs it",
    .parameters = kParameters,
    .same_for_all_ranks = true,
    .emit = emit,
};

}  // namespace astra
