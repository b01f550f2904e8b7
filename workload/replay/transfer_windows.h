// The windows of gradient transfers as they were in a run.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/records.h"
#include "system/transfer/transfer_queue.h"
#include "workload/record/op_times.h"
#include "workload/replay/replayed_job.h"

namespace astra {

// The windows of the gradient tensors of a job in an iteration, by communicator and transfer, given
// what became of tensors. Readers are those on the rank that was the first to name the group,
// `first_ranks` by communicator. Requires a finished run, of whose ops `times` was
// told.
std::vector<WindowRecord> transfer_windows(const ReplayedJob& job,
                                           std::uint32_t iteration,
                                           const std::vector<ReplayedRank>& ranks,
                                           const std::vector<std::uint32_t>& first_ranks,
                                           const OpTimes& times,
                                           const TransferQueue& transfers,
                                           const std::vector<TensorRecord>& tensors);

}  // namespace astra
