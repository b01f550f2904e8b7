#include "system/program/verifier/symbolic_state.h"

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
      memory_(program.memory() != nullptr),
      positions_(memory_   ? program.positions()
                 : meets() ? 1
                           : blocks_ * (transposes() ? members_ : 1)),
      words_(transposes() ? 1 : (members_ + kWordBits - 1) / kWordBits + (memory_ ? 1 : 0)),
      sets_(std::size_t{members_} * positions_ * words_) {
    if (memory_) {
        fill_memory();
        return;
    }
    for (std::uint32_t member = 0; member < members_; ++member) {
        const std::uint32_t bit = transposes() ? 0 : member;
        for (std::uint32_t position = 0; position < positions_; ++position) {
            if (starts_with(member, position)) {
                const std::size_t first = (std::size_t{member} * positions_ + position) * words_;
                sets_[first + bit / kWordBits] = std::uint64_t{1} << (bit % kWordBits);
            }
        }
    }
}

bool SymbolicState::has_block_a_member(CollectiveKind kind) {
    return kind != CollectiveKind::AllReduce && kind != CollectiveKind::Reduce &&
           kind != CollectiveKind::Broadcast && kind != CollectiveKind::Barrier;
}

std::uint32_t SymbolicState::position_of(std::uint32_t member,
                                         const Payload& payload,
                                         std::uint32_t i) const {
    if (meets()) {
        return 0;
    }
    const std::uint32_t block = program_.block_of(member, payload, i);
    return transposes() ? program_.origin_of(member, payload, i) * blocks_ + block : block;
}

std::string SymbolicState::position_name(std::uint32_t position) const {
    if (memory_) {
        return position < blocks_ ? fmt::format("block {}", position)
                                  : fmt::format("position {}", position);
    }
    return transposes()
               ? fmt::format("block {} of member {}", position % blocks_, position / blocks_)
               : fmt::format("block {}", position);
}

bool SymbolicState::is_empty(std::uint32_t member, std::uint32_t position) const {
    const std::uint64_t* words = set(member, position);
    return std::all_of(words, words + words_, [](std::uint64_t word) { return word == 0; });
}

void SymbolicState::overwrite(std::uint32_t member,
                              std::uint32_t position,
                              const std::uint64_t* with) {
    const std::size_t first = (std::size_t{member} * positions_ + position) * words_;
    std::copy(with, with + words_, sets_.data() + first);
}

void SymbolicState::add(std::uint32_t member, std::uint32_t position, const std::uint64_t* more) {
    const std::size_t first = (std::size_t{member} * positions_ + position) * words_;
    for (std::uint32_t word = 0; word < words_; ++word) {
        sets_[first + word] |= more[word];
    }
}

std::optional<std::uint32_t> SymbolicState::shared(std::uint32_t member,
                                                   std::uint32_t position,
                                                   const std::uint64_t* more) const {
    const std::uint64_t* words = set(member, position);
    for (std::uint32_t word = 0; word < contribution_words(); ++word) {
        const std::uint64_t twice = words[word] & more[word];
        if (twice != 0) {
            const auto bit = static_cast<std::uint32_t>(std::countr_zero(twice));
            return transposes() ? position / blocks_ : word * kWordBits + bit;
        }
    }
    return std::nullopt;
}

bool SymbolicState::starts_with(std::uint32_t member, std::uint32_t position) const {
    switch (kind_) {
        case CollectiveKind::AllReduce:
        case CollectiveKind::Reduce:
        case CollectiveKind::ReduceScatter:
        case CollectiveKind::ReduceScatterBlock:
        case CollectiveKind::Barrier:
            return true;
        case CollectiveKind::AllGather:
        case CollectiveKind::Gather:
            return owner_of(position) == member;
        case CollectiveKind::Broadcast:
        case CollectiveKind::Scatter:
            return member == root_;
        case CollectiveKind::AllToAll:
            return position / blocks_ == member;
    }
    return false;
}

SymbolicState::Promise SymbolicState::ends_with(std::uint32_t member,
                                                std::uint32_t position) const {
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
            return only_if(owner_of(position) == member, all);
        case CollectiveKind::AllGather:
            return {Wanted::One, owner_of(position)};
        case CollectiveKind::Gather:
            return only_if(member == root_, {Wanted::One, owner_of(position)});
        case CollectiveKind::Broadcast:
            return {Wanted::One, root_};
        case CollectiveKind::Scatter:
            return only_if(owner_of(position) == member, {Wanted::One, root_});
        case CollectiveKind::AllToAll:
            return only_if(owner_of(position) == member, {Wanted::One, 0});
    }
    return {};
}

void SymbolicState::fill_memory() {
    const BufferLayout& layout = *program_.memory();
    for (std::uint32_t member = 0; member < members_; ++member) {
        std::uint32_t count = 0;
        for (std::uint32_t block = 0; block < blocks_; ++block) {
            const bool there = kind_ == CollectiveKind::AllToAll || starts_with(member, block);
            if (!there) {
                continue;
            }
            const std::uint32_t position = layout.in_place ? block : layout.input + count;
            ++count;
            std::uint64_t* words =
                sets_.data() + (std::size_t{member} * positions_ + position) * words_;
            words[member / kWordBits] = std::uint64_t{1} << (member % kWordBits);
            words[words_ - 1] = data_of(member, block) + 1;
        }
    }
}

std::uint64_t SymbolicState::data_of(std::uint32_t member, std::uint32_t block) const {
    return kind_ == CollectiveKind::AllToAll ? std::uint64_t{member} * blocks_ + block : block;
}

std::string SymbolicState::data_name(std::uint64_t data) const {
    return kind_ == CollectiveKind::AllToAll
               ? fmt::format("block {} of member {}", data % blocks_, data / blocks_)
               : fmt::format("block {}", data);
}

std::string SymbolicState::mixed(std::uint32_t member,
                                 std::uint32_t position,
                                 const std::uint64_t* more) const {
    const std::uint64_t* here = set(member, position);
    if (!memory_ || here[words_ - 1] == 0 || here[words_ - 1] == more[words_ - 1]) {
        return "";
    }
    return fmt::format("adds data of {} to data of {}",
                       data_name(more[words_ - 1] - 1),
                       data_name(here[words_ - 1] - 1));
}

bool SymbolicState::has_at_end(std::uint32_t member, std::uint32_t block) const {
    return kind_ == CollectiveKind::AllToAll || ends_with(member, block).wanted != Wanted::Anything;
}

std::string SymbolicState::broken_memory() const {
    const BufferLayout& layout = *program_.memory();
    const std::uint32_t a_member = blocks_ / members_;
    for (std::uint32_t member = 0; member < members_; ++member) {
        std::uint32_t count = 0;
        for (std::uint32_t block = 0; block < blocks_; ++block) {
            if (!has_at_end(member, block)) {
                continue;
            }
            const bool swap = kind_ == CollectiveKind::AllToAll;
            const std::uint32_t origin = swap ? block / a_member : 0;
            const Promise promise = swap ? Promise{Wanted::One, origin} : ends_with(member, block);
            const std::uint64_t data =
                swap ? data_of(origin, member * a_member + block % a_member) : block;
            const std::uint32_t position = layout.in_place ? block : layout.output + count;
            ++count;
            const std::uint64_t* words = set(member, position);
            const std::string where =
                fmt::format("at the end: member {}, {}", member, position_name(position));
            if (words[words_ - 1] != data + 1) {
                return words[words_ - 1] == 0
                           ? fmt::format(
                                 "{}: holds nothing; {} is expected", where, data_name(data))
                           : fmt::format("{}: holds {}; {} is expected",
                                         where,
                                         data_name(words[words_ - 1] - 1),
                                         data_name(data));
            }
            for (std::uint32_t other = 0; other < members_; ++other) {
                const bool wanted = promise.wanted == Wanted::All || promise.member == other;
                if (has_bit(words, other) != wanted) {
                    return fmt::format("{}: {} the contribution of member {}",
                                       where,
                                       wanted ? "lacks" : "should not hold",
                                       other);
                }
            }
        }
    }
    return "";
}

std::string SymbolicState::broken_promise() const {
    if (memory_) {
        return broken_memory();
    }
    for (std::uint32_t member = 0; member < members_; ++member) {
        for (std::uint32_t position = 0; position < positions_; ++position) {
            std::string fault = broken_promise(member, position);
            if (!fault.empty()) {
                return fault;
            }
        }
    }
    return "";
}

std::string SymbolicState::broken_promise(std::uint32_t member, std::uint32_t position) const {
    const Promise promise = ends_with(member, position);
    if (promise.wanted == Wanted::Anything) {
        return "";
    }
    const std::uint32_t bits = transposes() ? 1 : members_;
    for (std::uint32_t other = 0; other < bits; ++other) {
        const bool there = has_bit(set(member, position), other);
        if (there == (promise.wanted == Wanted::All || promise.member == other)) {
            continue;
        }
        if (meets()) {
            return fmt::format(
                "at the end: member {} does not know that member {} entered", member, other);
        }
        if (is_empty(member, position)) {
            return fmt::format("at the end: member {} lacks {}", member, position_name(position));
        }
        return fmt::format("at the end: member {}, {}: {} the contribution of member {}",
                           member,
                           position_name(position),
                           there ? "should not hold" : "lacks",
                           other);
    }
    return "";
}

}  // namespace astra
