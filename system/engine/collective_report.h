// What is said of collectives that cannot finish: "group 'x', collective 3 (all_reduce of 8 B): …".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "system/engine/collective_matching.h"

namespace astra {

class CollectiveReport {
  public:
    // Outlives the report.
    explicit CollectiveReport(const CollectiveMatching& matching) : matching_(matching) {}

    // What the collective waits for that the rank at `position` is in.
    std::string waiting(const ProcessGroup& group, std::uint32_t position) const;
    // Every unfinished collective, group by group, oldest first.
    std::vector<std::string> unfinished(std::size_t most) const;

  private:
    const CollectiveMatching& matching_;
};

}  // namespace astra
