#include "system/collective/symbolic_state.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace astra {

namespace {

constexpr std::uint32_t kWordBits = 64;

bool has_bit(const std::uint64_t* set, std::uint32_t bit) {
    return ((set[bit / kWordBits] >> (bit % kWordBits)) & 1U) != 0;
}

}  // namespace

SymbolicState::SymbolicState(const Program& program, CollectiveKind kind, std::uint32_t root)
    : program_(program),
      kind_(kind),
      members_(program.members()),
      blocks_(program.blocks()),
      root_(root),
      slots_(meets() ? 1 : blocks_ * (transposes() ? members_ : 1)),
      words_(transposes() ? 1 : (members_ + kWordBits - 1) / kWordBits),
      sets_(std::size_t{members_} * slots_ * words_) {
    for (std::uint32_t member = 0; member < members_; ++member) {
        const std::uint32_t bit = transposes() ? 0 : member;
        for (std::uint32_t slot = 0; slot < slots_; ++slot) {
            if (starts_with(member, slot)) {
                const std::size_t first = (std::size_t{member} * slots_ + slot) * words_;
                sets_[first + bit / kWordBits] = std::uint64_t{1} << (bit % kWordBits);
            }
        }
    }
}

bool SymbolicState::has_block_a_member(CollectiveKind kind) {
    return kind != CollectiveKind::AllReduce && kind != CollectiveKind::Reduce &&
           kind != CollectiveKind::Broadcast && kind != CollectiveKind::Barrier;
}

std::uint32_t SymbolicState::slot_of(std::uint32_t member,
                                     const Payload& payload,
                                     std::uint32_t i) const {
    if (meets()) {
        return 0;
    }
    const std::uint32_t block = program_.block_of(member, payload, i);
    return transposes() ? program_.origin_of(member, payload, i) * blocks_ + block : block;
}

std::string SymbolicState::slot_name(std::uint32_t slot) const {
    return transposes() ? fmt::format("block {} of member {}", slot % blocks_, slot / blocks_)
                        : fmt::format("block {}", slot);
}

bool SymbolicState::is_empty(std::uint32_t member, std::uint32_t slot) const {
    const std::uint64_t* words = set(member, slot);
    return std::all_of(words, words + words_, [](std::uint64_t word) { return word == 0; });
}

void SymbolicState::overwrite(std::uint32_t member, std::uint32_t slot, const std::uint64_t* with) {
    const std::size_t first = (std::size_t{member} * slots_ + slot) * words_;
    std::copy(with, with + words_, sets_.data() + first);
}

void SymbolicState::add(std::uint32_t member, std::uint32_t slot, const std::uint64_t* more) {
    const std::size_t first = (std::size_t{member} * slots_ + slot) * words_;
    for (std::uint32_t word = 0; word < words_; ++word) {
        sets_[first + word] |= more[word];
    }
}

std::optional<std::uint32_t> SymbolicState::shared(std::uint32_t member,
                                                   std::uint32_t slot,
                                                   const std::uint64_t* more) const {
    const std::uint64_t* words = set(member, slot);
    for (std::uint32_t word = 0; word < words_; ++word) {
        const std::uint64_t twice = words[word] & more[word];
        if (twice != 0) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(twice));
            return transposes() ? slot / blocks_ : word * kWordBits + bit;
        }
    }
    return std::nullopt;
}

bool SymbolicState::starts_with(std::uint32_t member, std::uint32_t slot) const {
    switch (kind_) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Reduce:
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterBlock:
        case CollectiveKind::Barrier:
            return true;
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            return owner_of(slot) == member;
        case CollectiveKind::Broadcast:
        case CollectiveKind::Scatter:
            return member == root_;
        case CollectiveKind::AllToAll:
            return slot / blocks_ == member;
    }
    return false;
}

SymbolicState::Promise SymbolicState::ends_with(std::uint32_t member, std::uint32_t slot) const {
    const auto only_if = [](bool here, Promise promise) { return here ? promise : Promise{}; };
    const Promise all{Wanted::All, 0};
    switch (kind_) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Barrier:
            return all;
        case CollectiveKind::Reduce:
            return only_if(member == root_, all);
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterBlock:
            return only_if(owner_of(slot) == member, all);
        case CollectiveKind::AllGather:
            return {Wanted::One, owner_of(slot)};
        case CollectiveKind::Gather:
            return only_if(member == root_, {Wanted::One, owner_of(slot)});
        case CollectiveKind::Broadcast:
            return {Wanted::One, root_};
        case CollectiveKind::Scatter:
            return only_if(owner_of(slot) == member, {Wanted::One, root_});
        case CollectiveKind::AllToAll:
            return only_if(owner_of(slot) == member, {Wanted::One, 0});
    }
    return {};
}

std::string SymbolicState::broken_promise() const {
    for (std::uint32_t member = 0; member < members_; ++member) {
        for (std::uint32_t slot = 0; slot < slots_; ++slot) {
            std::string fault = broken_promise(member, slot);
            if (!fault.empty()) {
                return fault;
            }
        }
    }
    return "";
}

std::string SymbolicState::broken_promise(std::uint32_t member, std::uint32_t slot) const {
    const Promise promise = ends_with(member, slot);
    if (promise.wanted == Wanted::Anything) {
        return "";
    }
    const std::uint32_t bits = transposes() ? 1 : members_;
    for (std::uint32_t other = 0; other < bits; ++other) {
        const bool there = has_bit(set(member, slot), other);
        if (there == (promise.wanted == Wanted::All || promise.member == other)) {
            continue;
        }
        if (meets()) {
            return fmt::format(
                "at the end: member {} does not know that member {} entered", member, other);
        }
        if (is_empty(member, slot)) {
            return fmt::format("at the end: member {} lacks {}", member, slot_name(slot));
        }
        return fmt::format("at the end: member {}, {}: {} the contribution of member {}",
                           member,
                           slot_name(slot),
                           there ? "should not hold" : "lacks",
                           other);
    }
    return "";
}

}  // namespace astra
