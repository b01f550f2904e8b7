// When the ops of a replay ran, by rank: a subscriber of the recorder.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/types.h"

namespace astra {

// 16 bytes an op and rank. Ranks are those of the fabric, ops are numbered as in their graph.
class OpTimes final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override;

    // When each of the first `ops` ops of the rank began, by op; 0 for one that has not ended.
    std::vector<SimTime> starts(RankId rank, std::uint32_t ops) const;
    // The ops of the rank that have ended, in the order in which they began.
    std::vector<std::uint32_t> by_start(RankId rank) const;

  private:
    struct Ran {
        std::uint32_t op = 0;
        SimTime start;
    };
    std::vector<std::vector<Ran>> ran_;  // by rank, in the order in which the ops ended
};

}  // namespace astra
