#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workload/custom_collective/msccl_xml.h"

namespace astra {

namespace {

// `text` within the quotes of an attribute.
std::string in_quotes(std::string_view text) {
    std::string result;
    for (const char c : text) {
        switch (c) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '"':
                result += "&quot;";
                break;
            default:
                result += c;
        }
    }
    return result;
}

int or_none(std::optional<std::uint32_t> number) {
    return number ? static_cast<int>(*number) : -1;
}

// Steps that others wait for say so, as MSCCL's compiler writes it.
std::set<std::pair<std::uint32_t, std::uint32_t>> waited_for(const ThreadBlockGpu& gpu) {
    std::set<std::pair<std::uint32_t, std::uint32_t>> steps;
    for (const ThreadBlock& block : gpu.blocks) {
        for (const ThreadBlockStep& step : block.steps) {
            if (step.wait) {
                steps.emplace(step.wait->thread_block, step.wait->step);
            }
        }
    }
    return steps;
}

}  // namespace

std::string msccl_text(const ThreadBlockAlgorithm& algorithm) {
    std::uint32_t channels = 1;
    for (const ThreadBlockGpu& gpu : algorithm.gpus) {
        for (const ThreadBlock& block : gpu.blocks) {
            channels = std::max(channels, block.channel + 1);
        }
    }
    std::string out = fmt::format(
        "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" "
        "ngpus=\"{}\" coll=\"{}\" inplace=\"{}\"{}>\n",
        in_quotes(algorithm.name),
        in_quotes(algorithm.protocol),
        channels,
        algorithm.chunks,
        algorithm.gpus.size(),
        collective_name(algorithm.kind),
        algorithm.in_place ? 1 : 0,
        algorithm.root == 0 ? "" : fmt::format(" root=\"{}\"", algorithm.root));
    for (std::size_t g = 0; g < algorithm.gpus.size(); ++g) {
        const ThreadBlockGpu& gpu = algorithm.gpus[g];
        const auto waited = waited_for(gpu);
        out += fmt::format("  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n",
                           g,
                           gpu.input_chunks,
                           gpu.output_chunks,
                           gpu.scratch_chunks);
        for (const ThreadBlock& block : gpu.blocks) {
            out += fmt::format("    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n",
                               block.id,
                               or_none(block.send),
                               or_none(block.receive),
                               block.channel);
            for (std::uint32_t s = 0; s < block.steps.size(); ++s) {
                const ThreadBlockStep& step = block.steps[s];
                out += fmt::format(
                    "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" "
                    "dstoff=\"{}\" cnt=\"{}\" depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                    s,
                    spelling_of(step.type),
                    step.source,
                    step.source_offset,
                    step.destination,
                    step.destination_offset,
                    step.count,
                    step.wait ? static_cast<int>(step.wait->thread_block) : -1,
                    step.wait ? static_cast<int>(step.wait->step) : -1,
                    waited.contains({block.id, s}) ? 1 : 0);
            }
            out += "    </tb>\n";
        }
        out += "  </gpu>\n";
    }
    return out + "</algo>\n";
}

}  // namespace astra
