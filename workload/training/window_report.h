// What was found out about the gradient transfers of a job, for people: text, a table, a picture.
#pragma once

#include <cstddef>
#include <string>

#include "workload/graph/execution_graph.h"
#include "workload/training/training.h"

namespace astra {

// Why a trace has no gradient transfers.
std::string why_no_transfers(const Workload& workload);

// Iterations, what could not be matched, and a line a transfer of the first rank of each group; at
// most `most` lines.
std::string describe_training(const TrainingReport& report, std::size_t most);

// A row a window, with a line of headers. Times are from the start of the iteration.
std::string windows_csv(const TrainingReport& report);

// A bar a window of the first rank with transfers: light from start to end boundary, dark what the
// transfer takes if it begins at once. At most 2000 bars.
std::string windows_svg(const TrainingReport& report);

}  // namespace astra
