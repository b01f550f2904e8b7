// Hierarchical programs of many shapes, proved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/types.h"

namespace astra {

using Sizes = std::vector<std::uint32_t>;

// Every way to write `members` as a product of two or three numbers above 1, in every order.
std::vector<Sizes> factorisations(std::uint32_t members);

// "hierarchical2x3:ring-direct"; the last size follows from the group.
std::string hierarchy(const Sizes& sizes, const std::vector<std::string>& algorithms);

// Proves the program of that name, unless it is refused; false if it is.
bool expect_proved(const std::string& name, CollectiveKind kind, std::uint32_t members);

// Every registered algorithm that can be one of a level at every level, the others of the same or
// of rings, for all kinds that have levels. How many programs were proved.
std::uint32_t prove_hierarchies(std::uint32_t members);

}  // namespace astra
