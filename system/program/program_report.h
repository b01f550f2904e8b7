// What a program does, in numbers and message by message, without a clock.
//
// Rounds: a message leaves in the round of its step, counted from 0, and has come by the next one.
// A step is in the first round in which it has all that it waits for, and in which the steps before
// it in its sequence have been done. So the rounds are the messages on the longest chain.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

struct ProgramMessage {
    std::uint32_t from = 0;  // member
    std::uint32_t to = 0;
    std::uint32_t round = 0;  // in which it leaves
    std::uint32_t block = 0;  // the first one, or position
    std::uint32_t blocks = 0;
    bool reduce = false;
    Bytes bytes;
};

struct ProgramReport {
    bool finishes = true;  // false: some steps wait for ever, and are not counted
    std::uint32_t rounds = 0;
    std::uint64_t messages = 0;       // of all members
    std::uint64_t messages_most = 0;  // of a member, sent
    Bytes sent_most;                  // by a member
    Bytes received_most;
    Bytes sent_by_all;
};

// For a buffer of `size` bytes. Time: all messages of all members and their blocks. Where the
// program is stored once for very many, blocks that are a byte longer are counted as if all were.
ProgramReport report_program(const Program& program, Bytes size);

// Every message, by round, then by sender, in the order of the program. Memory: all of them.
std::vector<ProgramMessage> list_messages(const Program& program, Bytes size);

// The least bytes that all members together must send, whatever the algorithm:
//   all_reduce                     2(n-1) · size
//   reduce_scatter(_block), all_gather, broadcast, reduce   (n-1) · size
//   all_to_all                     (n-1) · size: all of a member's buffer but the block for itself
//   gather, scatter                (n-1)/n · size
//   barrier                        none
Bytes least_bytes_sent(CollectiveKind kind, std::uint32_t members, Bytes size);

}  // namespace astra
