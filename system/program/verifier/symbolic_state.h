// What the members of a collective hold, as sets of contributions instead of data, and what they
// must hold at its start and end (the table of verifier.h). Part of the verifier.
//
// Each member has `positions()` sets: one a block; in an all_to_all one a pair (origin, block); in
// a barrier a single one. A set has a bit for each member's contribution, and only one bit in an
// all_to_all, where the pair says whose it is.
//
// Where the program has memory there is one set a position, with a last
// word that says which data the position holds: data travel from position to position, and only the
// same data of several members can be added up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

class SymbolicState {
  public:
    // The state at the start. The program outlives it; its numbers are within range, as is the root
    // where the kind has one.
    SymbolicState(const Program& program, CollectiveKind kind, std::uint32_t root);

    // Kinds of which a block belongs to a member, so that there are as many for each.
    static bool has_block_a_member(CollectiveKind kind);

    // The sets of one member.
    std::uint32_t positions() const { return positions_; }
    // The length of one set, in 64-bit words.
    std::uint32_t words() const { return words_; }
    // The sets that a payload moves. A message of a barrier carries who has entered, whatever it
    // is.
    std::uint32_t positions_in(const Payload& payload) const {
        return meets() ? 1 : program_.elements(payload);
    }
    bool is_memory() const { return memory_; }
    std::uint32_t position_of(std::uint32_t member, const Payload& payload, std::uint32_t i) const;
    std::string position_name(std::uint32_t position) const;

    const std::uint64_t* set(std::uint32_t member, std::uint32_t position) const {
        return sets_.data() + (std::size_t{member} * positions_ + position) * words_;
    }
    bool is_empty(std::uint32_t member, std::uint32_t position) const;
    void overwrite(std::uint32_t member, std::uint32_t position, const std::uint64_t* with);
    void add(std::uint32_t member, std::uint32_t position, const std::uint64_t* more);
    // What other data than `more` the position holds, both named; "" if none.
    std::string mixed(std::uint32_t member,
                      std::uint32_t position,
                      const std::uint64_t* more) const;
    // A receive adds, whether it reduces or not.
    bool always_adds() const { return meets(); }
    // The lowest member whose contribution is both in the set and in `more`.
    std::optional<std::uint32_t> shared(std::uint32_t member,
                                        std::uint32_t position,
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

    bool meets() const { return kind_ == CollectiveKind::Barrier; }
    // Sets are for pairs of origin and block.
    bool transposes() const { return kind_ == CollectiveKind::AllToAll && !memory_; }
    std::uint32_t contribution_words() const { return words_ - (memory_ ? 1 : 0); }
    // Which data a block of a member is at the start, in a program with memory.
    std::uint64_t data_of(std::uint32_t member, std::uint32_t block) const;
    std::string data_name(std::uint64_t data) const;
    void fill_memory();
    bool has_at_end(std::uint32_t member, std::uint32_t block) const;
    std::string broken_memory() const;
    // The member that a block belongs to, if blocks do.
    std::uint32_t owner_of(std::uint32_t position) const {
        return position % blocks_ / (blocks_ / members_);
    }
    bool starts_with(std::uint32_t member, std::uint32_t position) const;
    Promise ends_with(std::uint32_t member, std::uint32_t position) const;
    std::string broken_promise(std::uint32_t member, std::uint32_t position) const;

    const Program& program_;
    CollectiveKind kind_;
    std::uint32_t members_;
    std::uint32_t blocks_;
    std::uint32_t root_;
    bool memory_;
    std::uint32_t positions_;
    std::uint32_t words_;
    std::vector<std::uint64_t> sets_;
};

}  // namespace astra
