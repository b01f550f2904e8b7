#include <array>

#include "workload/generate/chain.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostMicrobatches = 1'000'000;

struct Stage {
    std::uint32_t rank = 0;
    std::uint32_t last = 0;
    std::uint32_t microbatches = 0;
    Duration forward;
    Duration backward;
    Bytes bytes;
};

std::string label(const char* what, std::uint32_t microbatch) {
    return std::string(what) + "_" + std::to_string(microbatch);
}

// A receive waits for the computation before the one it is for, so that it does not hold a stream
// that an earlier message needs.
void emit(const GeneratorParameters& parameters, std::uint32_t rank, NodeSink& sink) {
    parameters.need_ranks(2);
    const Stage stage{
        rank,
        parameters.ranks() - 1,
        static_cast<std::uint32_t>(parameters.integer("microbatches", 1, kMostMicrobatches)),
        parameters.duration("forward"),
        parameters.duration("backward"),
        parameters.bytes("bytes")};
    NodeChain chain(sink);
    NodeChain::Parents done;  // the last computation
    for (std::uint32_t m = 0; m < stage.microbatches; ++m) {
        NodeChain::Parents needed = done;
        if (rank > 0) {
            needed.push_back(
                chain.receive(label("receive_forward", m), done, rank - 1, m, stage.bytes));
        }
        done = {chain.compute(label("forward", m), needed, stage.forward)};
        if (rank < stage.last) {
            chain.send(label("send_forward", m), done, rank + 1, m, stage.bytes);
        }
    }
    for (std::uint32_t m = 0; m < stage.microbatches; ++m) {
        const std::uint32_t tag = stage.microbatches + m;
        NodeChain::Parents needed = done;
        if (rank < stage.last) {
            needed.push_back(
                chain.receive(label("receive_backward", m), done, rank + 1, tag, stage.bytes));
        }
        done = {chain.compute(label("backward", m), needed, stage.backward)};
        if (rank > 0) {
            chain.send(label("send_backward", m), done, rank - 1, tag, stage.bytes);
        }
    }
}

constexpr std::array kParameters = {
    GeneratorParameter{.name = "microbatches", .doc = "of one iteration", .fallback = "4"},
    GeneratorParameter{
        .name = "forward", .doc = "computation of a microbatch in a stage", .fallback = "100us"},
    GeneratorParameter{
        .name = "backward", .doc = "computation of a microbatch in a stage", .fallback = "200us"},
    GeneratorParameter{.name = "bytes",
                       .doc = "activations or gradients of a microbatch between stages",
                       .fallback = "1MiB"},
};

}  // namespace

extern const Generator kPipelineGenerator;
const Generator kPipelineGenerator = {
    .name = "pipeline",
    .summary = "GPipe: each rank is a stage; all forward microbatches, then all backward ones",
    .parameters = kParameters,
    .same_for_all_ranks = false,
    .emit = emit,
};

}  // namespace astra
