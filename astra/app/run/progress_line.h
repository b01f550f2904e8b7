// One line on a terminal that says how far a run is; nothing in a pipe.
#pragma once

#include <chrono>

#include "astra/simulation/simulation.h"

namespace astra {

class ProgressLine {
  public:
    explicit ProgressLine(bool quiet);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    // At most ten times a second.
    void show(const RunProgress& progress);

  private:
    using Clock = std::chrono::steady_clock;
    bool enabled_;
    bool shown_ = false;
    Clock::time_point start_;
    Clock::time_point last_;
};

}  // namespace astra
