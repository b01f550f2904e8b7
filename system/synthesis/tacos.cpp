// `tacos`: the programs of synthesis.h.
#include <algorithm>
#include <bit>

#include "system/synthesis/synthesis.h"
#include "system/synthesis/synthesiser.h"

namespace astra {

namespace {

class Tacos final : public ProgramSource {
  public:
    bool depends_on_ranks() const override { return true; }

    // What is best depends on how the latency of a link compares with a block's time on it. Within
    // a factor of eight that hardly changes, and a study has a few programs only to keep.
    Bytes size_class(Bytes size) const override {
        const auto bits = static_cast<unsigned>(std::bit_width(size.count));
        return {std::uint64_t{1} << std::min(3 * ((bits + 2) / 3), 62U)};
    }

    std::string refusal(const ProgramRequest& request, Warnings&) const override {
        return synthesis_refusal(request.shape);
    }

    Program make(const ProgramRequest& request) const override {
        const GroupGraph graph(request.routing, request.ranks);
        SynthesisSettings settings;
        settings.size = request.size;
        settings.endpoint_delay = request.endpoint_delay;
        settings.memory = request.memory;
        return program_of(
            synthesise(graph, request.shape, settings), request.shape, graph, settings.size);
    }
};

const Tacos kTacos;

}  // namespace

extern const Synthesiser kTacosSynthesiser;
const Synthesiser kTacosSynthesiser = {
    .name = "tacos",
    .summary = "blocks matched to links as they become free, for the fabric and the ranks at hand",
    .source = kTacos,
};

}  // namespace astra
