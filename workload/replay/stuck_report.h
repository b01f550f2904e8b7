// What the ops wait for that began in a replay and never ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "system/engine/collective_engine.h"
#include "system/run/point_to_point.h"
#include "system/transfer/transfer_queue.h"
#include "workload/replay/op_requests.h"
#include "workload/replay/replayed_job.h"

namespace astra {

class StuckReport {
  public:
    // All outlive it.
    StuckReport(const std::vector<ReplayedRank>& ranks,
                const CollectiveEngine& collectives,
                const PointToPoint& points,
                const TransferQueue& transfers,
                const OpRequests& requests)
        : ranks_(ranks),
          collectives_(collectives),
          points_(points),
          transfers_(transfers),
          requests_(requests) {}

    // A line for each such op of each rank that has not finished; at most `most` and one that
    // counts the others.
    std::vector<std::string> lines(std::size_t most) const;

  private:
    std::string describe(const ReplayedRank& rank, std::uint32_t op) const;
    std::string describe_receive(const PointRequest& request) const;
    std::string describe_collective(const ReplayedRank& rank, std::uint32_t op) const;

    const std::vector<ReplayedRank>& ranks_;
    const CollectiveEngine& collectives_;
    const PointToPoint& points_;
    const TransferQueue& transfers_;
    const OpRequests& requests_;
};

}  // namespace astra
