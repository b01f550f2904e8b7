// What thread blocks add to a program in execution: sequences of one member that wait for steps of
// each other, and work within the member.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"
#include "system/program/program.h"

namespace astra {

class CollectiveRun;

class ThreadBlockRun {
  public:
    // Part of `run`, whose messages and sequences it uses.
    explicit ThreadBlockRun(CollectiveRun& run) : run_(run) {}

    // `program` is the one that the run has begun with, and has thread blocks.
    void begin(const Program& program);
    // All thread blocks of a member begin at that time.
    void start(std::uint32_t member, SimTime begin);
    // Completes the step in hand of a sequence, which has all its messages, and goes on with it and
    // with all that get ready by it, until they wait.
    void advance(std::uint32_t member, std::size_t at);

  private:
    struct Member {
        std::uint64_t end_ps = 0;  // of the thread blocks that have finished, the last
        std::uint32_t left = 0;    // thread blocks that have not
    };

    bool enter_step(std::uint32_t member, std::size_t at);
    bool released(std::uint32_t member, std::size_t at, std::size_t step);
    bool complete_step(std::uint32_t member, std::size_t at);
    void finish(std::uint32_t member, std::size_t at);

    CollectiveRun& run_;
    const Program* program_ = nullptr;
    const ThreadBlocks* thread_blocks_ = nullptr;
    std::vector<Member> members_;
    std::vector<std::uint64_t> done_ps_;  // by step, if another waits for it
    std::vector<std::size_t> ready_;      // sequences that may go on; empty between events
};

}  // namespace astra
