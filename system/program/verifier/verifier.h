// Proves that a program does what its collective promises, without a clock: the program is executed
// on symbols instead of data.
//
// State: for every member and block, the set of the members whose contribution the block holds. In
// an all_to_all a block is a pair (origin, destination), of which a member holds the data or does
// not; in a barrier there is one set a member: those that it knows to have entered.
//
//   kind                  starts with                    must end with
//   all_reduce            all blocks, its contribution   all blocks complete, everywhere
//   reduce                the same                       all blocks complete at the root
//   reduce_scatter(_block)  the same                     the blocks of m complete at member m
//   all_gather            member m: the blocks of m      all blocks, everywhere
//   gather                the same                       all blocks at the root
//   broadcast             root: all blocks               all blocks, everywhere
//   scatter               root: all blocks               the blocks of m at member m
//   all_to_all            member m: (m, b) for all b     member m: (o, b) for all o and b of m
//   barrier               itself                         every member, everywhere
//
// Where blocks belong to members there are k for each, and k·m to k·m + k-1 are those of member m.
//
// Steps: as in program.h. A message carries what the sender's blocks hold when its step sends. A
// receive overwrites a block, or adds to it if it reduces; in a barrier it always adds. The
// verifier takes the messages in the order in which the program lists them: then every receive
// waits for one particular message, and the outcome is the same in whatever order the members run
// (Kahn, "The semantics of a simple language for parallel programming", 1974).
//
// Messages of one tag are really taken as they come. Three rules make that order irrelevant:
//   - no step of a tag but the last sends a block that a message of the tag changes;
//   - two messages of a tag change the same block only if both reduce;
//   - of a message that is reduced partly, a step sends on no more blocks than are urgent.
// Nor can another order deadlock: a step that has the messages listed up to it has as many as it
// needs.
//
// Where a member has thread blocks they go on one by one, each as far as it can; that no other
// order gives anything else is shown by another rule: of two steps of different thread blocks that
// use a position, one of them changing it, one comes before the other in every order, by waits
// within the member or by messages (race_check.h).
//
// Where a program has memory a set also says which data it is a sum of; what is sent from one
// position may be received at any other, and only sets of the same data add up. At the end the
// blocks that a member must have are where the program's layout says.
//
// What a switch copies or sums up (switch_operations.h) is executed message by message, which gives
// the same; switch_check.h has the rules for which messages these can be.
//
// At last, that it comes to its end though senders run only so far ahead (run_ahead_check.h).
//
// Cost, with n members, b blocks and m messages of c blocks: time m·c·n/64, memory n·b·n/64 words
// (all_to_all: m, and n·n·n words). Meant for some 128 members, which takes below a second.
#pragma once

#include <cstdint>
#include <string>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

struct Verdict {
    bool correct = false;
    // The first fault, "" if there is none: "member 3, step 2: receives block 5, but member 1 sends
    // block 4". Members and blocks are absolute.
    std::string fault;
};

// The fault of a program whose data are not known: the first message whose ends differ in size, or
// deadlock; "" if there is none.
std::string traffic_fault(const Program& program);

// `root` matters to broadcast, reduce, gather and scatter only.
Verdict verify(const Program& program, CollectiveKind kind, std::uint32_t root);

}  // namespace astra
