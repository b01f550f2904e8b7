// What an op of a rank asks of the engines.
#pragma once

#include <cstdint>

#include "system/engine/collective_engine.h"
#include "system/model/compute_model.h"
#include "system/run/point_to_point.h"
#include "system/transfer/transfer_queue.h"
#include "workload/replay/replayed_job.h"

namespace astra {

class OpRequests {
  public:
    // The engine outlives it.
    explicit OpRequests(const CollectiveEngine& collectives) : collectives_(collectives) {}

    CollectiveRequest collective(const ReplayedRank& rank, std::uint32_t op) const;
    // The op sends or receives.
    PointRequest point(const ReplayedRank& rank, std::uint32_t op) const;

  private:
    const CollectiveEngine& collectives_;
};

// What a compute model is told of an op of the kind.
ComputeWork work_of(const ExecutionGraph& graph, std::uint32_t op);

// The gradient that a transfer op reduces.
inline TransferPiece piece_of(const CollectiveDetail& detail) {
    return {detail.iteration, detail.transfer, detail.bytes};
}

}  // namespace astra
