// Prepares the traces of a job for what schedules gradient transfers: finds or unrolls iterations,
// finds transfers, updates and readers, and their windows (docs/caramel.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/core/warnings.h"
#include "system/transfer/compute_order.h"
#include "workload/graph/execution_graph.h"
#include "workload/training/durations.h"
#include "workload/training/windows.h"

namespace astra {

struct TrainingOptions {
    std::uint32_t iterations = 0;  // of a trace that has one; 0 = as many as the trace has
    // Whether an iteration waits for all of the one before; not given: the policy decides.
    std::optional<bool> barrier{};
    std::string barrier_op{};  // ends an iteration, and the next one waits for it; "" = none
    std::string rule_file{};   // "" = the built-in rules
};

// What the policy of the transfers asks of a workload.
struct PolicyTraits {
    bool queues = false;                   // as recorded, but for traces of one iteration
    bool barrier = true;                   // between iterations
    ComputeOrder compute_order = nullptr;  // nullptr: that of the trace
};

struct TrainingReport {
    std::uint32_t recorded_iterations = 0;  // of the trace
    std::string told_apart;                 // how
    std::uint32_t iterations = 0;           // after unrolling
    bool barrier = false;
    bool ordered = false;             // the order of computations was changed
    Duration iteration;               // that of the slowest rank, nobody waiting for a transfer
    std::vector<std::string> groups;  // names, by number
    std::vector<TransferWindow> windows;
    std::uint64_t other_collectives = 0;      // all_reduce and reduce_scatter ops of no gradients
    std::uint64_t without_update = 0;         // transfers that no op depends on
    std::vector<std::string> without_reader;  // transfers, by name, of whose parameter no reader is
                                              // known; at most kMostNamed
    std::uint64_t readers_unknown = 0;        // how many they are
};
inline constexpr std::size_t kMostNamed = 10;

// Replaces the graphs of `workload` and fills its iterations and forecasts. Durations are those of
// the trace or of the roofline of `system`; collectives that are no transfers take their measured
// or recorded time. Without a transfer in any graph the workload stays as it is and `windows` is
// empty. Throws ConfigError for a rule file or too many iterations ("iterations: …"), TraceError
// for a barrier op that is not there and ranks that differ in iterations. A million ops take some
// seconds, for each distinct graph.
TrainingReport prepare_training(Workload& workload,
                                const TrainingOptions& options,
                                const PolicyTraits& policy,
                                const SystemTimes& system,
                                Warnings& warnings);

}  // namespace astra
