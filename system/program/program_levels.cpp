// Programs within a program (ProgramLevel): whom their members and blocks are in the whole.
#include <algorithm>

#include "system/program/program.h"

namespace astra {

std::uint32_t Program::sum_in_grid(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t sum = 0;
    for (std::size_t i = 1; i < views_.size(); ++i) {
        const View& view = views_[i];
        sum += coordinate(a, view, b / view.level.stride % view.level.members) * view.level.stride;
    }
    return sum;
}

// A place within a group as its member sees it, absolutely.
std::uint32_t Program::coordinate(std::uint32_t member,
                                  const View& view,
                                  std::uint32_t place) const {
    const std::uint32_t own = member / view.level.stride % view.level.members;
    switch (view.level.relation) {
        case Relation::Rotation:
            return (own + place) % view.level.members;
        case Relation::Xor:
            return own ^ place;
        case Relation::Grid:
        case Relation::Absolute:
            break;
    }
    return place;
}

// The block of the whole that is a part of a group's block, of the first group above.
std::uint32_t Program::first_in_level(std::uint32_t member,
                                      const View& view,
                                      std::uint32_t block,
                                      std::uint32_t part) const {
    const std::uint32_t place = block % view.level.blocks * view.span + part;
    const std::uint32_t owner = place / blocks_a_member_;
    // A block of several members is none of one's own, so it is not counted from there.
    const std::uint32_t at = view.span > blocks_a_member_ ? owner : coordinate(member, view, owner);
    return (at * view.level.stride + member % view.level.stride) * blocks_a_member_ +
           place % blocks_a_member_;
}

std::uint32_t Program::block_in_level(std::uint32_t member,
                                      const Payload& payload,
                                      std::uint32_t i) const {
    const View& view = views_[payload.level];
    const std::uint32_t below = pairs_ ? view.level.stride : 1;
    const std::uint32_t part = i / below % view.span;
    const std::uint32_t above = i / below / view.span % view.above;
    const std::uint32_t apart = view.level.members * view.level.stride * blocks_a_member_;
    return first_in_level(member, view, payload.block(i / view.elements), part) + above * apart;
}

std::uint32_t Program::origin_in_level(std::uint32_t member,
                                       const Payload& payload,
                                       std::uint32_t i) const {
    const View& view = views_[payload.level];
    const std::uint32_t apart = view.level.members * view.level.stride;
    const auto place =
        static_cast<std::uint32_t>(payload.origin_of(i / view.elements) % view.level.members);
    return member / apart * apart + coordinate(member, view, place) * view.level.stride +
           i % view.level.stride;
}

std::uint64_t Program::longer_in_level(const Payload& payload,
                                       std::uint32_t member,
                                       std::uint64_t longer) const {
    const View& view = views_[payload.level];
    const std::uint64_t apart =
        std::uint64_t{view.level.members} * view.level.stride * blocks_a_member_;
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < payload.count; ++i) {
        for (std::uint32_t part = 0; part < view.span; ++part) {
            const std::uint64_t first = first_in_level(member, view, payload.block(i), part);
            const std::uint64_t blocks = first < longer ? (longer - first - 1) / apart + 1 : 0;
            count += std::min<std::uint64_t>(blocks, view.above);
        }
    }
    return count * (pairs_ ? view.level.stride : 1);
}

void ProgramBuilder::add_levels(const std::vector<ProgramLevel>& levels, bool pairs) {
    program_.pairs_ = pairs;
    program_.views_.resize(1);
    for (const ProgramLevel& level : levels) {
        Program::View view;
        view.level = level;
        view.span = level.members * program_.blocks_a_member_ / level.blocks;
        view.above = program_.members_ / (level.members * level.stride);
        view.elements = view.span * view.above * (pairs ? level.stride : 1);
        program_.views_.push_back(view);
    }
}

std::uint32_t ProgramBuilder::peer_in_level(std::uint32_t peer) const {
    if (level_ == 0) {
        return peer;
    }
    const Program::View& view = program_.views_[level_];
    if (program_.relation_ == Relation::Grid) {
        return peer * view.level.stride;
    }
    const auto member = static_cast<std::uint32_t>(program_.first_step_.size() - 1);
    const std::uint32_t apart = view.level.members * view.level.stride;
    return member / apart * apart + member % view.level.stride +
           program_.coordinate(member, view, peer) * view.level.stride;
}

}  // namespace astra
