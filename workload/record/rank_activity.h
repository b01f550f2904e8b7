// What a rank has been busy with: lengths of unions of intervals, kept up at every start and end of
// an op.
#pragma once

#include <array>
#include <cstdint>

#include "astra/core/records.h"
#include "astra/core/types.h"

namespace astra {

enum class Activity : std::uint8_t { Compute, Communication, Memory, Other };

class RankActivity {
  public:
    void begin(Activity what, SimTime now) {
        pass(now);
        ++running_[static_cast<std::size_t>(what)];
    }
    void end(Activity what, SimTime now) {
        pass(now);
        --running_[static_cast<std::size_t>(what)];
    }
    // `finish`: when it finished, or how far the run came without it.
    RankRecord record(RankId rank, SimTime finish) const;

  private:
    void pass(SimTime now);

    std::array<std::uint32_t, 4> running_{};
    SimTime last_;
    Duration compute_;
    Duration communication_;
    Duration memory_;
    Duration exposed_communication_;
    Duration exposed_memory_;
};

}  // namespace astra
