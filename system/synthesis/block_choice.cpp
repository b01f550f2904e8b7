#include "system/synthesis/block_choice.h"

#include <bit>

#include "astra/core/mix.h"

namespace astra {

namespace {

constexpr std::uint32_t kSample = 64;

}  // namespace

BlockChoice::BlockChoice(const GroupGraph& graph,
                         const SpreadSettings& settings,
                         const std::vector<std::uint64_t>& edge_ps)
    : graph_(graph),
      blocks_a_member_(settings.blocks_a_member),
      block_(settings.block),
      blocks_(graph.members() * settings.blocks_a_member),
      words_((blocks_ + 63) / 64),
      random_(mix(settings.seed)),
      edge_ps_(edge_ps),
      reach_(graph, edge_ps, blocks_),
      held_(std::size_t{graph.members()} * words_, 0),
      claimed_(std::size_t{graph.members()} * words_, 0),
      holders_(blocks_, 1),
      wanted_(graph.members(), blocks_ - settings.blocks_a_member),
      first_hand_(graph.edges().size(), 0) {
    for (std::uint32_t block = 0; block < blocks_; ++block) {
        const std::uint32_t member = block / blocks_a_member_;
        arrive(member, block);
        claim(member, block);
    }
}

// The rarest of the blocks whose bits the words are, out of a sample: the words are walked from
// a random one on, each from a random bit.
template <typename Words>
std::uint32_t BlockChoice::rarest(const Words& words) {
    const std::uint64_t random = next_random();
    const auto turn = static_cast<std::uint32_t>(random & 63U);
    const auto start = static_cast<std::uint32_t>((random >> 32) * std::uint64_t{words_} >> 32);
    std::uint32_t best = kNone;
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < words_ && seen < kSample; ++i) {
        const std::uint32_t w = start + i >= words_ ? start + i - words_ : start + i;
        std::uint64_t word = std::rotr(words(w), static_cast<int>(turn));
        for (; word != 0 && seen < kSample; word &= word - 1, ++seen) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
            const std::uint32_t block = w * 64 + (bit + turn) % 64;
            if (best == kNone || holders_[block] < holders_[best]) {
                best = block;
            }
        }
    }
    return best;
}

std::uint32_t BlockChoice::choose(std::uint32_t e) {
    const GroupGraph::Edge& edge = graph_.edges()[e];
    const std::uint64_t* has = held_.data() + std::size_t{edge.from} * words_;
    const std::uint64_t* got = claimed_.data() + std::size_t{edge.to} * words_;
    const std::uint32_t level = reach_.level(e);
    const std::uint64_t* near = level == 0 ? got : reach_.claimed(edge.to, level);
    // What the other end has, or need not get, it will never want again.
    for (std::uint32_t& k = first_hand_[e]; k < blocks_a_member_; ++k) {
        const std::uint32_t block = edge.from * blocks_a_member_ + k;
        if (!is_set(near, block)) {
            return block;
        }
    }
    const std::uint32_t far = rarest([&](std::uint32_t w) { return has[w] & ~near[w]; });
    if (far != kNone || level == 0 || !worth(e)) {
        return far;
    }
    return rarest([&](std::uint32_t w) { return has[w] & ~got[w]; });
}

bool BlockChoice::wants(std::uint32_t e, std::uint32_t block) const {
    const GroupGraph::Edge& edge = graph_.edges()[e];
    if (is_set(claimed_.data() + std::size_t{edge.to} * words_, block)) {
        return false;
    }
    const std::uint32_t level = reach_.level(e);
    return level == 0 || !is_set(reach_.claimed(edge.to, level), block) || worth(e);
}

bool BlockChoice::worth(std::uint32_t e) const {
    const std::uint32_t to = graph_.edges()[e].to;
    const Bytes left{saturating_multiply(wanted_[to], block_.count)};
    return edge_ps_[e] <= transfer_time(left, reach_.faster(to, reach_.level(e))).ps;
}

void BlockChoice::promise(std::uint32_t e, std::uint32_t block) {
    const GroupGraph::Edge& edge = graph_.edges()[e];
    claim(edge.to, block);
    ++holders_[block];
    --wanted_[edge.to];
}

std::uint64_t BlockChoice::next_random() {
    random_ += kMixStep;
    return mix(random_);
}

void BlockChoice::claim(std::uint32_t member, std::uint32_t block) {
    set(claimed_, member, block);
    reach_.claim(member, block);
}

}  // namespace astra
