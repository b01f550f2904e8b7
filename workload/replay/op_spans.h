// Tells the recorder of the ops of a replay.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/recorder/recorder.h"

namespace astra {

struct ReplayedRank;

// With a null recorder it does nothing. 4 bytes an op and rank. Ranks are numbers among those that
// are replayed.
class OpSpans {
  public:
    // Before the run.
    void record(Recorder* recorder) { recorder_ = recorder; }
    Recorder* recorder() const { return recorder_; }

    void open(std::uint32_t rank, std::uint32_t ops) {
        if (recorder_ != nullptr) {
            causes_.resize(rank + 1 > causes_.size() ? rank + 1 : causes_.size());
            causes_[rank].resize(ops);
        }
    }
    void begin(const ReplayedRank& rank, std::uint32_t number, std::uint32_t op) {
        if (recorder_ != nullptr) {
            begin_recorded(rank, number, op);
        }
    }
    // An op that somebody has released; another has taken its time.
    void end(std::uint32_t rank, std::uint32_t op, bool released) {
        if (recorder_ != nullptr) {
            recorder_->end(causes_[rank][op], released ? recorder_->current() : kNoCause);
        }
    }
    Cause of(std::uint32_t rank, std::uint32_t op) const {
        return recorder_ == nullptr ? kNoCause : causes_[rank][op];
    }

  private:
    void begin_recorded(const ReplayedRank& rank, std::uint32_t number, std::uint32_t op);

    Recorder* recorder_ = nullptr;
    std::vector<std::vector<Cause>> causes_;  // by rank and op
};

}  // namespace astra
