// What background traffic asks of the links on average, and whether that is plainly more than they
// carry.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "astra/core/types.h"
#include "network/routing/routing.h"

namespace astra {

struct Overload {
    std::string where;  // "the link 0 -> 1", "the links out of 3"
    Bandwidth offered;
    Bandwidth carried;
};
// "the link 0 -> 1 would have to carry 1.6 Gbps, 2 times as much as possible".
std::string to_text(const Overload& overload);

// Every rank sends `rate`: to each other one alike, or, where `next_rank` is not empty, to its next
// one. The worst of the links of a rank together, whatever the routing; and of each single link
// where a pair has one path, on fabrics with few pairs. nullopt: none of them is offered more than
// it carries.
std::optional<Overload> plain_overload(Bandwidth rate,
                                       std::span<const std::uint32_t> next_rank,
                                       Routing& routing);

}  // namespace astra
