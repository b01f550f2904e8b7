// Makes the programs of thread blocks: absolute ones, with the steps of each thread block.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "system/program/program.h"

namespace astra {

// Takes down one member after the other: begin_member, then its thread blocks, each with its steps
// in order. A step has its waits first, then its receives, its work on memory, and its sends.
class ThreadBlockBuilder {
  public:
    // `blocks` >= 1.
    ThreadBlockBuilder(std::uint32_t members, std::uint32_t blocks, const BufferLayout& memory);

    void set_as_recorded() { thread_blocks_.as_recorded_ = true; }
    void begin_member();
    // At most ThreadBlocks::kMostOfMember of a member.
    void begin_thread_block(std::uint32_t name);
    void begin_step();
    // The thread block and its step may come later.
    void wait(const ThreadBlocks::Wait& wait);
    void local(const ThreadBlocks::Local& local);
    // Sends and receives of one channel between two members are paired in order; a channel has one
    // thread block at either end.
    void send(std::uint32_t peer, std::uint32_t channel, const Payload& payload);
    // With an addend the positions become what is there plus what comes.
    void receive(std::uint32_t peer,
                 std::uint32_t channel,
                 const Payload& payload,
                 std::optional<std::uint32_t> addend);

    // Throws InputError that names members, thread blocks and steps of a send or receive without
    // its counterpart, where two thread blocks share the end of a channel, and where a wait is for
    // a step that is not there.
    Program finish();

  private:
    void check_waits();
    void check_wait(std::uint32_t member,
                    std::uint32_t sequence,
                    std::size_t step,
                    const ThreadBlocks::Wait& wait);

    Program program_;
    ThreadBlocks thread_blocks_;
    std::vector<std::uint32_t> send_channels_;
    std::vector<std::uint32_t> receive_channels_;
};

}  // namespace astra
