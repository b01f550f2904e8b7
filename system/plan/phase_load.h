// What a phase of a collective costs the dimension that it runs in: how long it keeps the busiest
// link of it at work, and the latency that it pays beside. From the program and the fabric alone,
// without simulating.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "astra/core/types.h"
#include "network/routing/routing.h"
#include "system/program/program.h"

namespace astra {

struct PhaseLoad {
    Duration latency;  // of the longest path, and the endpoint delay, once for each wave of steps
    Bytes reference;   // a buffer,
    Duration busy_of_reference;  // and the work that it is for the busiest link

    // The work that a buffer of `size` is; in proportion, rounded up.
    Duration busy(Bytes size) const;
};

// `ranks` of the fabric, a member each. Follows every message along the one path of its pair. Cost:
// a message is looked at once for each pair of members that exchange any; a program that is the
// same for every member is read once. Throws SimulationError where there is no path.
PhaseLoad phase_load(const Program& program,
                     std::span<const std::uint32_t> ranks,
                     Routing& routing,
                     Duration endpoint_delay);

// Calls `pair` with what each member sends to each other one in a program over a buffer of `size`;
// where blocks differ, by a byte a block more or less. Returns the steps, one after the other, of
// the member that has most.
std::uint64_t each_pair(
    const Program& program,
    std::span<const std::uint32_t> ranks,
    Bytes size,
    const std::function<void(std::uint32_t source, std::uint32_t destination, Bytes bytes)>& pair);

}  // namespace astra
