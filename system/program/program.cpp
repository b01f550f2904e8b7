#include "system/program/program.h"

#include <algorithm>

#include <fmt/format.h>

namespace astra {

bool has_root(CollectiveKind kind) {
    return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce ||
           kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
}

std::uint32_t Program::mirrored(std::uint32_t member, std::uint32_t peer) const {
    switch (relation_) {
        case Relation::Rotation:
            return (members_ - peer) % members_;
        case Relation::Xor:
            return peer;
        case Relation::Grid:
            return levels_.opposite(peer);
        case Relation::Absolute:
            break;
    }
    return member;
}

std::uint32_t Program::sender_of(std::uint32_t receiver, std::uint32_t send) const {
    if (relation_ != Relation::Absolute) {
        return peer_of(receiver, mirrored(receiver, sends_[send].peer));
    }
    if (levels_.empty()) {
        return receiver;  // absolute blocks are the same for everybody
    }
    // The sequences of the members follow each other; so do their sends.
    const auto after = std::upper_bound(
        first_step_.begin(),
        first_step_.end() - 1,
        send,
        [&](std::uint32_t at, std::uint32_t step) { return at < steps_[step].first_send; });
    return static_cast<std::uint32_t>(after - first_step_.begin() - 1);
}

std::span<const std::uint32_t> Program::in_turn(std::uint32_t receiver,
                                                std::uint32_t turns,
                                                std::uint32_t left) const {
    const std::size_t role = relation_ == Relation::Absolute ? receiver : 0;
    const std::size_t list = role * order_.turns + turns;
    const auto turn = [&](std::uint32_t receive) { return sends_[receives_[receive].send].turn; };
    const auto first = std::lower_bound(
        turns_.begin() + first_turn_[list],
        turns_.begin() + first_turn_[list + 1],
        left,
        [&](std::uint32_t receive, std::uint32_t wanted) { return turn(receive) < wanted; });
    auto end = first;
    while (end != turns_.begin() + first_turn_[list + 1] && turn(*end) == left) {
        ++end;
    }
    return {first, end};
}

std::uint64_t Program::longer_blocks(const Payload& payload,
                                     std::uint32_t member,
                                     std::uint64_t longer) const {
    if (payload.level != 0) {
        return levels_.longer_blocks(payload, member, longer);
    }
    if (memory_) {
        const std::uint64_t end = std::uint64_t{payload.first} + payload.count;
        const auto below = [&](std::uint64_t limit) {
            return std::clamp<std::uint64_t>(limit, payload.first, end) - payload.first;
        };
        return below(longer) + payload.count - below(blocks_);
    }
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < payload.count; ++i) {
        const std::uint32_t block = block_at(member, payload.block(i));
        count += block < longer || block >= blocks_ ? 1 : 0;
    }
    return count;
}

std::string Program::step_name(std::uint32_t member,
                               std::uint32_t sequence,
                               std::size_t step) const {
    return thread_blocks_ ? fmt::format("member {}, thread block {}, step {}",
                                        member,
                                        thread_blocks_->name(sequence_at(member, sequence)),
                                        step)
                          : fmt::format("member {}, step {}", member, step);
}

}  // namespace astra
