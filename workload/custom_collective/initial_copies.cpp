#include "workload/custom_collective/initial_copies.h"

#include <algorithm>
#include <utility>

namespace astra {

namespace {

bool meets(const std::vector<ThreadBlockStep>& copies, const ThreadBlockStep& step) {
    const auto overlap =
        [&](char buffer, std::uint32_t begin, char other, std::uint32_t at, std::uint32_t size) {
            return buffer == other && begin < at + size && at < begin + step.count;
        };
    return std::any_of(copies.begin(), copies.end(), [&](const ThreadBlockStep& copy) {
        const std::uint32_t to = copy.destination_offset;
        return (reads_source(step.type) &&
                overlap(step.source, step.source_offset, 'o', to, copy.count)) ||
               (writes_destination(step.type) &&
                (overlap(step.destination, step.destination_offset, 'o', to, copy.count) ||
                 overlap(step.destination,
                         step.destination_offset,
                         'i',
                         copy.source_offset,
                         copy.count)));
    });
}

// A step came in before step `first` of a thread block: waits for those behind it move on.
void move_waits(ThreadBlockGpu& gpu, std::uint32_t id, std::uint32_t first) {
    for (ThreadBlock& block : gpu.blocks) {
        for (ThreadBlockStep& step : block.steps) {
            if (step.wait && step.wait->thread_block == id && step.wait->step >= first) {
                ++step.wait->step;
            }
        }
    }
}

}  // namespace

void add_initial_copies(std::vector<ThreadBlockStep> copies, ThreadBlockGpu& gpu) {
    if (copies.empty()) {
        return;
    }
    std::uint32_t id = 0;
    for (const ThreadBlock& block : gpu.blocks) {
        id = std::max(id, block.id + 1);
    }
    const ThreadBlocks::Wait all{id, static_cast<std::uint32_t>(copies.size() - 1)};
    for (std::size_t b = 0; b < gpu.blocks.size(); ++b) {
        std::vector<ThreadBlockStep>& steps = gpu.blocks[b].steps;
        const auto first = std::find_if(
            steps.begin(), steps.end(), [&](const auto& step) { return meets(copies, step); });
        if (first == steps.end()) {
            continue;
        }
        if (!first->wait) {
            first->wait = all;
            continue;
        }
        const auto number = static_cast<std::uint32_t>(first - steps.begin());
        ThreadBlockStep nop;
        nop.line = first->line;
        nop.wait = all;
        steps.insert(first, nop);
        move_waits(gpu, gpu.blocks[b].id, number);
    }
    ThreadBlock& block = gpu.blocks.emplace_back();
    block.id = id;
    block.steps = std::move(copies);
}

}  // namespace astra
