#include "system/engine/link_need.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "network/backend/link_loads.h"
#include "system/plan/phase_load.h"

namespace astra {

namespace {

// What a rank at least has to send, or to receive, of a buffer of `total`, also where switches sum
// up.
Bytes least_bytes(CollectiveKind kind, Bytes total, std::uint64_t members) {
    switch (kind) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Reduce:
        case CollectiveKind::Broadcast:
            return total;
        default:
            return {total.count / members * (members - 1)};
    }
}

}  // namespace

Duration LinkNeed::remember(const CollectiveInstance& instance) {
    if (instance.plan->measured != nullptr || (!links_are_shared_ && !instance.pairs.empty())) {
        return need_of_ranks(instance);
    }
    if (links_are_shared_ || !instance.plan->has_phases()) {
        return {};
    }
    const auto [known, is_new] = remembered_.try_emplace({instance.plan, instance.total()});
    if (is_new) {
        CollectiveInstance& like = known->second.like;
        like.plan = instance.plan;
        like.request = instance.request;
        like.chunks = instance.chunks;
    }
    return {};
}

Duration LinkNeed::need_of_ranks(const CollectiveInstance& instance) {
    if (!rates_) {
        rates_.emplace(routing_.topology());
    }
    const auto members = static_cast<std::uint32_t>(instance.members.size());
    const auto rank = [&](std::uint32_t position) { return instance.group().rank(position); };
    const auto time = [](std::uint64_t bytes, std::uint64_t rate) {
        return rate == 0 ? Duration{} : transfer_time({bytes}, {rate});
    };
    if (instance.pairs.empty()) {
        std::uint64_t widest = 0;
        for (std::uint32_t p = 0; p < members; ++p) {
            widest = std::max({widest, rates_->out[rank(p)], rates_->in[rank(p)]});
        }
        return members < 2
                   ? Duration{}
                   : time(least_bytes(instance.plan->key.kind, instance.total(), members).count,
                          widest);
    }
    std::vector<std::uint64_t> received(members);
    Duration longest;
    for (std::uint32_t from = 0; from < members; ++from) {
        std::uint64_t sent = 0;
        for (std::uint32_t to = 0; to < members; ++to) {
            if (to != from) {
                const std::uint64_t bytes = instance.pairs.bytes(from, to).count;
                sent = saturating_add(sent, bytes);
                received[to] = saturating_add(received[to], bytes);
            }
        }
        longest = std::max(longest, time(sent, rates_->out[rank(from)]));
    }
    for (std::uint32_t to = 0; to < members; ++to) {
        longest = std::max(longest, time(received[to], rates_->in[rank(to)]));
    }
    return longest;
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
    for (const auto& entry : works) {
        const auto& what = entry.first;
        const Work& work = entry.second;
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
