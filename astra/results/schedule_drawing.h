// Drawings of a collective's schedule: who sends what to whom, round by round
// (program_report.h says what a round is).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/program/program_report.h"

namespace astra {

// What fits: the first members and the first rounds, a line a member, a column
// a round. Cells are as wide as they must be.
std::string schedule_text(const std::vector<ProgramMessage>& messages,
                          std::uint32_t members,
                          std::uint32_t rounds);

// The most that a picture may hold: browsers take seconds for it, and nobody
// can read more.
inline constexpr std::uint64_t kMostDrawnMessages = 20'000;
inline constexpr std::uint32_t kMostDrawnMembers = 512;

// A row a member, from left to right round by round; an arrow a message, its
// colour by its first block, filled if the receiver replaces what it has,
// hollow if it adds. Pointing at an arrow tells all of it. Requires that it
// holds no more than that.
std::string schedule_svg(const std::vector<ProgramMessage>& messages,
                         std::uint32_t members,
                         std::uint32_t rounds,
                         const std::string& title);

}  // namespace astra
