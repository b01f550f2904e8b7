// Traces that hold the schedule of a run.
#pragma once

#include <string>

namespace astra {

struct RunSchedule;

// Writes PREFIX.<rank>.et and PREFIX.groups.json: the traces of the run with the schedule of its
// transfers (workload/training/schedule_trace.h). Makes the folder. Throws TraceError.
void write_schedule(const RunSchedule& schedule, const std::string& prefix);

}  // namespace astra
