#include "system/program/program_levels.h"

#include <algorithm>

namespace astra {

ProgramLevels::ProgramLevels(const std::vector<ProgramLevel>& levels,
                             std::uint32_t members,
                             std::uint32_t blocks_a_member,
                             bool pairs)
    : blocks_a_member_(blocks_a_member), pairs_(pairs) {
    for (const ProgramLevel& level : levels) {
        View view;
        view.level = level;
        view.span = level.members * blocks_a_member / level.blocks;
        view.above = members / (level.members * level.stride);
        view.elements = view.span * view.above * (pairs ? level.stride : 1);
        levels_.push_back(view);
    }
}

std::uint32_t ProgramLevels::sum(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t sum = 0;
    for (const View& view : levels_) {
        sum += coordinate(a, view, b / view.level.stride % view.level.members) * view.level.stride;
    }
    return sum;
}

std::uint32_t ProgramLevels::opposite(std::uint32_t point) const {
    std::uint32_t back = 0;
    for (const View& view : levels_) {
        const ProgramLevel& level = view.level;
        const std::uint32_t step = point / level.stride % level.members;
        back += (level.relation == Relation::Xor ? step : (level.members - step) % level.members) *
                level.stride;
    }
    return back;
}

std::uint32_t ProgramLevels::peer_of(std::uint32_t level,
                                     std::uint32_t member,
                                     std::uint32_t peer) const {
    const View& view = levels_[level - 1];
    const std::uint32_t apart = view.level.members * view.level.stride;
    return member / apart * apart + member % view.level.stride +
           coordinate(member, view, peer) * view.level.stride;
}

// The absolute coordinate of what a member of a group calls `relative`.
std::uint32_t ProgramLevels::coordinate(std::uint32_t member,
                                        const View& view,
                                        std::uint32_t relative) {
    const std::uint32_t here = member / view.level.stride % view.level.members;
    switch (view.level.relation) {
        case Relation::Rotation:
            return (here + relative) % view.level.members;
        case Relation::Xor:
            return here ^ relative;
        case Relation::Grid:
        case Relation::Absolute:
            break;
    }
    return relative;
}

// The block of the whole that is a part of a group's block, of the first group above.
std::uint32_t ProgramLevels::first_block(std::uint32_t member,
                                         const View& view,
                                         std::uint32_t block,
                                         std::uint32_t part) const {
    const std::uint32_t at = block % view.level.blocks * view.span + part;
    const std::uint32_t relative = at / blocks_a_member_;
    // A block of several members belongs to none of them, so it is not counted from one.
    const std::uint32_t owner =
        view.span > blocks_a_member_ ? relative : coordinate(member, view, relative);
    return (owner * view.level.stride + member % view.level.stride) * blocks_a_member_ +
           at % blocks_a_member_;
}

std::uint32_t ProgramLevels::block_of(std::uint32_t member,
                                      const Payload& payload,
                                      std::uint32_t i) const {
    const View& view = view_of(payload);
    const std::uint32_t below = pairs_ ? view.level.stride : 1;
    const std::uint32_t part = i / below % view.span;
    const std::uint32_t above = i / below / view.span % view.above;
    const std::uint32_t apart = view.level.members * view.level.stride * blocks_a_member_;
    return first_block(member, view, payload.block(i / view.elements), part) + above * apart;
}

std::uint32_t ProgramLevels::origin_of(std::uint32_t member,
                                       const Payload& payload,
                                       std::uint32_t i) const {
    const View& view = view_of(payload);
    const std::uint32_t apart = view.level.members * view.level.stride;
    const auto relative =
        static_cast<std::uint32_t>(payload.origin_of(i / view.elements) % view.level.members);
    return member / apart * apart + coordinate(member, view, relative) * view.level.stride +
           i % view.level.stride;
}

std::uint64_t ProgramLevels::longer_blocks(const Payload& payload,
                                           std::uint32_t member,
                                           std::uint64_t longer) const {
    const View& view = view_of(payload);
    const std::uint64_t apart =
        std::uint64_t{view.level.members} * view.level.stride * blocks_a_member_;
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < payload.count; ++i) {
        for (std::uint32_t part = 0; part < view.span; ++part) {
            const std::uint64_t first = first_block(member, view, payload.block(i), part);
            const std::uint64_t blocks = first < longer ? (longer - first - 1) / apart + 1 : 0;
            count += std::min<std::uint64_t>(blocks, view.above);
        }
    }
    return count * (pairs_ ? view.level.stride : 1);
}

}  // namespace astra
