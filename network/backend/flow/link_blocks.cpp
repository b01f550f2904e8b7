#include "network/backend/flow/link_blocks.h"

#include <algorithm>
#include <utility>

namespace astra {

LinkBlocks::LinkBlocks(const Topology& topology)
    : topology_(topology), block_of_(topology.links(), kNone) {}

std::uint32_t LinkBlocks::new_block(std::vector<std::uint32_t> links) {
    Block block;
    double least = 0;
    for (const std::uint32_t link : links) {
        const auto rate = static_cast<double>(topology_.link(link).bandwidth.bits_per_s);
        least = least == 0 ? rate : std::min(least, rate);
        block_of_[link] = static_cast<std::uint32_t>(blocks_.size());
    }
    block.capacity = least * static_cast<double>(links.size());
    block.links = std::move(links);
    blocks_.push_back(std::move(block));
    counted_.push_back(0);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
}

// Makes every block lie wholly within the links of equal part, or wholly without.
void LinkBlocks::assign(std::span<const LinkShare> layer) {
    std::vector<std::uint32_t> fresh;
    for (const LinkShare& share : layer) {
        const std::uint32_t block = block_of_[share.link];
        if (block == kNone) {
            fresh.push_back(share.link);
        } else {
            ++counted_[block];
        }
    }
    if (!fresh.empty()) {
        new_block(std::move(fresh));
    }
    for (const LinkShare& share : layer) {
        const std::uint32_t block = block_of_[share.link];
        const std::uint32_t count = counted_[block];
        counted_[block] = 0;
        if (count != 0 && count < blocks_[block].links.size()) {
            split(block, layer);
        }
    }
}

void LinkBlocks::split(std::uint32_t block, std::span<const LinkShare> layer) {
    std::vector<std::uint32_t> within;
    for (const LinkShare& share : layer) {
        if (block_of_[share.link] == block) {
            within.push_back(share.link);
        }
    }
    std::vector<std::uint32_t> without;
    for (const std::uint32_t link : blocks_[block].links) {
        if (std::find(within.begin(), within.end(), link) == within.end()) {
            without.push_back(link);
        }
    }
    // What was known of the neighbours was of the whole: the halves are constraints.
    blocks_[block].links.clear();
    const std::uint32_t first = new_block(std::move(within));
    const std::uint32_t second = new_block(std::move(without));
    blocks_[first].constraint = blocks_[second].constraint = true;
    ++generation_;
}

void LinkBlocks::collect(std::span<const LinkShare> layer, std::vector<Use>& uses) {
    for (const LinkShare& share : layer) {
        const std::uint32_t block = block_of_[share.link];
        if (counted_[block] == 0) {
            const auto links = static_cast<double>(blocks_[block].links.size());
            uses.push_back({block, std::min(share.part * links, 1.0)});
        }
        ++counted_[block];
    }
    for (const LinkShare& share : layer) {
        counted_[block_of_[share.link]] = 0;
    }
}

std::span<const LinkBlocks::Use> LinkBlocks::enter(const FlowRoute& route) {
    const std::size_t layers = route.end_of_layer.size();
    if (layers_.size() < layers) {
        layers_.resize(layers);
    }
    const std::uint64_t before = generation_;
    std::uint32_t begin = 0;
    for (std::size_t i = 0; i < layers; ++i) {
        std::span<const LinkShare> rest(route.shares);
        rest = rest.subspan(begin, route.end_of_layer[i] - begin);
        begin = route.end_of_layer[i];
        layers_[i].clear();
        while (!rest.empty()) {  // links of equal part that follow each other
            const double part = rest.front().part;
            const auto end = std::find_if(rest.begin(), rest.end(), [part](const LinkShare& share) {
                return share.part != part;
            });
            const auto equal = rest.first(static_cast<std::size_t>(end - rest.begin()));
            assign(equal);
            collect(equal, layers_[i]);
            rest = rest.subspan(equal.size());
        }
    }
    if (generation_ != before) {
        return enter(route);  // a split may have renumbered a layer found before
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const bool first = i == 0;
        const bool last = i + 1 == layers;
        if (first || last) {
            for (const Use& use : layers_[i]) {
                Block& block = blocks_[use.block];
                generation_ += implied(block) ? 1 : 0;
                block.outer = true;
            }
        } else {
            learn(layers_[i - 1], layers_[i], layers_[i + 1]);
        }
    }
    uses_.clear();
    for (std::size_t i = 0; i < layers; ++i) {
        for (const Use& use : layers_[i]) {
            if (is_constraint(use.block)) {
                uses_.push_back(use);
            }
        }
    }
    return uses_;
}

// Whether the side is changed.
bool LinkBlocks::note(Side& side,
                      std::uint32_t block,
                      std::span<const Use> neighbours,
                      bool is_before) {
    if (neighbours.size() != 1) {
        const bool is_new = !side.several;
        side.several = true;
        return is_new;
    }
    const std::uint32_t neighbour = neighbours.front().block;
    auto& known = is_before ? known_before_ : known_behind_;
    if (!known.insert((std::uint64_t{block} << 32) | neighbour).second) {
        return false;
    }
    side.blocks.push_back(neighbour);
    side.capacity += blocks_[neighbour].capacity;
    return true;
}

void LinkBlocks::learn(std::span<const Use> before,
                       std::span<const Use> layer,
                       std::span<const Use> behind) {
    bool changed = false;
    for (const Use& use : layer) {
        Block& block = blocks_[use.block];
        if (block.outer || block.constraint) {
            continue;
        }
        if (block.before.blocks.empty() && !block.before.several) {
            inner_.push_back(use.block);
        }
        changed |= note(block.before, use.block, before, true);
        changed |= note(block.behind, use.block, behind, false);
    }
    if (changed) {
        find_implied();
    }
}

bool LinkBlocks::rests_on(std::uint32_t number, bool is_before) const {
    const Block& block = blocks_[number];
    return block.outer || block.constraint || (is_before ? block.before : block.behind).holds;
}

bool LinkBlocks::could_hold(const Block& block, const Side& side) const {
    const bool is_before = &side == &block.before;
    return !side.several && !side.blocks.empty() && side.capacity <= block.capacity &&
           std::all_of(side.blocks.begin(), side.blocks.end(), [&](std::uint32_t neighbour) {
               return rests_on(neighbour, is_before);
           });
}

// The least fixed point: a side holds when all that it rests on does. Then what no side implies is
// a constraint for good, and may hold others.
void LinkBlocks::find_implied() {
    std::vector<std::uint32_t> were;
    std::erase_if(inner_,
                  [&](std::uint32_t i) { return blocks_[i].outer || blocks_[i].constraint; });
    for (const std::uint32_t i : inner_) {
        if (implied(blocks_[i])) {
            were.push_back(i);
        }
        blocks_[i].before.holds = blocks_[i].behind.holds = false;
    }
    bool grown = true;
    while (grown) {
        grown = false;
        for (const std::uint32_t i : inner_) {
            Block& block = blocks_[i];
            for (Side* side : {&block.before, &block.behind}) {
                if (!side->holds && could_hold(block, *side)) {
                    side->holds = true;
                    grown = true;
                }
            }
        }
    }
    for (const std::uint32_t i : were) {
        if (!implied(blocks_[i])) {
            blocks_[i].constraint = true;
            ++generation_;
        }
    }
}

}  // namespace astra
