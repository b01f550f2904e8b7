// The workloads of a study: `workload`, or a list of `jobs`. Each is replayed from traces, or
// played from a flow set.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/warnings.h"
#include "workload/chakra/trace_loader.h"
#include "workload/flows/flow_player.h"
#include "workload/generate/generator.h"
#include "workload/replay/replayer.h"
#include "workload/training/training.h"

namespace astra {

struct LoadedJobs {
    std::vector<Job> traces;
    std::vector<TrainingReport> training;  // beside `traces`; without windows where not looked for
    std::vector<FlowJob> flows;
    bool have_work = false;  // an op of some rank takes time or bytes, or there is a flow
};

class JobReader {
  public:
    // Reads every key; loads nothing yet. Throws ConfigError.
    JobReader(const ConfigView& study, std::uint32_t ranks);

    // A list of ranks and ranges of them, [0-3, 8]. Throws ConfigError.
    static std::vector<std::uint32_t> read_ranks(const ConfigView& list, std::uint32_t ranks);

    // Windows of every job, whatever its keys and the policy.
    void look_for_windows();

    // Reads the flow sets, reads or generates the traces; prepares those for which the study or the
    // policy of the transfers asks for iterations and windows.
    LoadedJobs load(const SystemTimes& system,
                    const PolicyTraits& policy,
                    Warnings& warnings) const;

  private:
    struct Spec {
        std::string name;
        std::string flow_file;  // "" = traces
        bool generated = false;
        TraceSource traces;
        std::string where;  // of `generate`, for messages
        std::string generator;
        ParameterMap parameters;
        std::vector<std::uint32_t> ranks;
        SimTime start;
        bool all_gather_shards = true;
        TrainingOptions training;
        std::string training_where;  // of a key of it; "" = the study does not ask for it
        std::string workload_where;
    };
    static void read_training(const ConfigView& workload, Spec& spec);
    static TrainingReport prepare(const Spec& spec,
                                  const SystemTimes& system,
                                  const PolicyTraits& policy,
                                  Workload& workload,
                                  Warnings& warnings);
    static void read_workload(const ConfigView& workload, Spec& spec);
    static void read_generator(const ConfigView& generate, Spec& spec);
    static bool has_work(const Workload& workload, const SystemTimes& system);
    static Workload generate(const Spec& spec, Warnings& warnings);

    std::vector<Spec> specs_;
};

}  // namespace astra
