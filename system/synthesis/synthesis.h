// TACOS: programs made for the links between the ranks of a group, whatever these are (spread.h has
// the source). An all_gather is spread over the time-expanded network. A reduce_scatter is an
// all_gather on the reversed links, played backwards: where that one copies a block to a member,
// this one sends that member's sum of it back, after all that went on from there. An all_reduce is
// the one after the other.
//
// What TACOS calls a chunk is a block of the program here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "system/program/program.h"
#include "system/synthesis/spread.h"

namespace astra {

// `parameter` of a shape: blocks a member. 0 stands for as many as make the schedule good and keep
// it short: 4, fewer in groups of more than 256.
std::uint32_t synthesised_blocks(const ProgramShape& shape);

// Why no program is made for the shape, "" if it is: other kinds, too many messages.
std::string synthesis_refusal(const ProgramShape& shape);

struct SynthesisSettings {
    Bytes size;               // the whole buffer
    Duration endpoint_delay;  // of a message, after it has come
    Bandwidth memory{};       // a reduction passes it three times; 0: it takes no time
    std::uint64_t seed = 1;
};

// Every message in the order of its start, the first at time 0. The buffer has
// members · synthesised_blocks(shape) blocks. Requires that the shape is not refused and fits the
// graph.
std::vector<Transfer> synthesise(const GroupGraph& graph,
                                 const ProgramShape& shape,
                                 const SynthesisSettings& settings);

// Each member receives and sends in the order of the times; what it sends over different links of
// the graph is on different channels. What comes to a member over one link takes turns as planned
// for a buffer of `size`, so that ranks out of step do not meet on it.
Program program_of(const std::vector<Transfer>& transfers,
                   const ProgramShape& shape,
                   const GroupGraph& graph,
                   Bytes size);

}  // namespace astra
