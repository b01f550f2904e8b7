#include "system/engine/link_need.h"

#include <tuple>
#include <vector>

#include "network/backend/link_loads.h"
#include "system/plan/phase_load.h"

namespace astra {

void LinkNeed::remember(const CollectiveInstance& instance) {
    const auto [known, is_new] = remembered_.try_emplace({instance.plan, instance.total()});
    if (is_new) {
        CollectiveInstance& like = known->second.like;
        like.plan = instance.plan;
        like.request = instance.request;
        like.chunks = instance.chunks;
        known->second.is_known = !instance.plan->has_phases() || !instance.pairs.empty();
    }
}

Duration LinkNeed::of(const CollectivePlan& plan, Bytes total) const {
    const auto found = remembered_.find({&plan, total});
    if (found == remembered_.end()) {
        return {};
    }
    Remembered& remembered = found->second;
    if (!remembered.is_known) {
        remembered.need = need(remembered.like);
        remembered.is_known = true;
    }
    return remembered.need;
}

Duration LinkNeed::need(const CollectiveInstance& like) const {
    // Chunks that run the same over the same ranks are reckoned once.
    struct Work {
        std::vector<std::uint32_t> ranks;
        MessageCosts costs;
        std::uint64_t times = 0;
    };
    std::map<std::tuple<const Program*, std::uint32_t, std::uint64_t>, Work> works;
    for (std::uint32_t chunk = 0; chunk < like.chunks.size(); ++chunk) {
        const ChunkPhases& phases = like.phases(chunk);
        for (std::uint32_t i = 0; i < phases.plans.size(); ++i) {
            const PhasePlan& phase = phases.plans[i];
            const std::uint32_t first = like.plan->dimension_of(phase).position(0, 0);
            const Bytes size = like.plan->phase_bytes(phases, i, first, like.chunk_bytes(chunk));
            std::vector<std::uint32_t> ranks = like.plan->ranks(phase, 0);
            const Program& program = programs_.program(
                *like.plan, phase, chunk, like.is_reversed(chunk, phase, queues_), ranks, size);
            // Blocks of one length, so that members that send alike do so to the byte.
            const std::uint64_t whole = size.count - size.count % program.blocks();
            Work& work = works[{&program, phase.dimension, whole}];
            work.ranks = std::move(ranks);
            work.costs = phase.costs;
            ++work.times;
        }
    }
    const auto classes = routing_.topology().classes();
    LinkLoads loads(routing_.topology());
    for (const auto& [what, work] : works) {
        const auto add = [&](std::uint32_t source, std::uint32_t destination, Bytes data) {
            const Bytes bytes = work.costs.on_wire(data);
            for (std::uint32_t node = source; node != destination;) {
                const Hop hop = routing_.next_hop(node, source, destination);
                const Duration once = transfer_time(bytes, classes[hop.link_class].bandwidth);
                loads.add(hop, bytes, {saturating_multiply(once.ps, work.times)});
                node = hop.end;
            }
        };
        each_pair(*std::get<0>(what), work.ranks, {std::get<2>(what)}, add);
    }
    return loads.busiest().busy;
}

}  // namespace astra
