// What the members of a collective hold, as sets of contributions instead of data, and what they
// must hold at its start and end (the table of verifier.h). Part of the verifier.
//
// Each member has `slots()` sets: one a block; in an all_to_all one a pair (origin, block); in a
// barrier a single one. A set has a bit for each member's contribution, and only one bit in an
// all_to_all, where the pair says whose it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/core/types.h"

namespace astra {

class SymbolicState {
  public:
    // The state at the start. The kind's root, where it has one, is below `members`.
    SymbolicState(CollectiveKind kind,
                  std::uint32_t members,
                  std::uint32_t blocks,
                  std::uint32_t root);

    static bool has_root(CollectiveKind kind);
    // Kinds of which a block belongs to a member, so that there are as many of either.
    static bool has_block_a_member(CollectiveKind kind);

    // Of one set, in 64-bit words.
    std::uint32_t words() const { return words_; }
    std::uint32_t slot_of(std::uint32_t origin, std::uint32_t block) const {
        return transposes() ? origin * blocks_ + block : block;
    }
    std::string slot_name(std::uint32_t slot) const;

    const std::uint64_t* set(std::uint32_t member, std::uint32_t slot) const {
        return sets_.data() + (std::size_t{member} * slots_ + slot) * words_;
    }
    bool is_empty(std::uint32_t member, std::uint32_t slot) const;
    void overwrite(std::uint32_t member, std::uint32_t slot, const std::uint64_t* with);
    void add(std::uint32_t member, std::uint32_t slot, const std::uint64_t* more);
    // The lowest member whose contribution is both in the set and in `more`.
    std::optional<std::uint32_t> shared(std::uint32_t member,
                                        std::uint32_t slot,
                                        const std::uint64_t* more) const;

    // What the first member that does not hold what it must at the end lacks or has too much;
    // "" if all is well.
    std::string broken_promise() const;

  private:
    enum class Wanted : std::uint8_t { Anything, One, All };
    // `member`: whose contribution, if one is wanted.
    struct Promise {
        Wanted wanted = Wanted::Anything;
        std::uint32_t member = 0;
    };

    bool transposes() const { return kind_ == CollectiveKind::AllToAll; }
    bool starts_with(std::uint32_t member, std::uint32_t slot) const;
    Promise ends_with(std::uint32_t member, std::uint32_t slot) const;
    std::string broken_promise(std::uint32_t member, std::uint32_t slot) const;

    CollectiveKind kind_;
    std::uint32_t members_;
    std::uint32_t blocks_;
    std::uint32_t root_;
    std::uint32_t slots_;
    std::uint32_t words_;
    std::vector<std::uint64_t> sets_;
};

}  // namespace astra
