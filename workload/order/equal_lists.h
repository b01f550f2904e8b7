// Matches the entries of one list to equal entries of another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astra {

inline constexpr std::uint32_t kNoPartner = 0xffffffffU;

// For each entry of `list` the entry of `reference` that it belongs to: the j-th of those that are
// equal to it to the j-th. kNoPartner where the reference has too few.
std::vector<std::uint32_t> partners_in(const std::vector<std::uint64_t>& reference,
                                       const std::vector<std::uint64_t>& list);

// The first entry of the reference that is nobody's partner; kNoPartner if there is none.
std::uint32_t first_alone(std::size_t reference_size, const std::vector<std::uint32_t>& partners);

// Whether partners are 0, 1, 2 …
bool is_in_order(const std::vector<std::uint32_t>& partners);

}  // namespace astra
