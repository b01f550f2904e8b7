#include "astra/app/run/run_study.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "astra/config/astra_sim/astra_sim.h"
#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "astra/core/warnings.h"
#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"

namespace astra {

namespace {

std::string required(const OptionSet& options, const std::string& name) {
    const auto value = options.value(name);
    if (!value) {
        throw ConfigError(
            fmt::format("--{} is missing: give a study file, or --workload-configuration, "
                        "--system-configuration and "
                        "--network-configuration",
                        name));
    }
    return *value;
}

bool has_astra_sim_files(const OptionSet& options) {
    for (const char* name : {"workload-configuration",
                             "system-configuration",
                             "network-configuration",
                             "remote-memory-configuration",
                             "comm-group-configuration"}) {
        if (options.value(name)) {
            return true;
        }
    }
    return false;
}

ConfigTree read_astra_sim(const OptionSet& options, Warnings& warnings) {
    AstraSimOptions files;
    // --flows takes the place of the traces, whatever they are called.
    files.workload_prefix = options.value("flows")
                                ? options.value("workload-configuration").value_or("none")
                                : required(options, "workload-configuration");
    files.system_file = required(options, "system-configuration");
    files.network_file = required(options, "network-configuration");
    files.memory_file = options.value("remote-memory-configuration").value_or("");
    files.group_file = options.value("comm-group-configuration").value_or("");
    if (const auto queues = options.integer("num-queues-per-dim", 1, 1024)) {
        files.queues_per_dimension = static_cast<std::uint32_t>(*queues);
    }
    files.injection_scale = options.number("injection-scale");
    files.rendezvous = options.truth("rendezvous-protocol");
    files.network_unit = options.value("network-unit").value_or("GiB");
    if (files.network_unit != "GiB" && files.network_unit != "GB") {
        throw ConfigError(
            fmt::format("--network-unit: '{}' is neither GiB nor GB", files.network_unit));
    }
    return translate_astra_sim(files, warnings);
}

void refuse_scales(const OptionSet& options) {
    for (const char* name : {"comm-scale", "compute-scale"}) {
        if (options.value(name)) {
            throw ConfigError(
                fmt::format("--{}: ASTRA-sim reads this option and ignores it, so a result under "
                            "it would not be what it "
                            "seems; scale sizes or durations in the trace instead",
                            name));
        }
    }
}

void refuse_logical_topology(const OptionSet& options) {
    if (options.value("logical-topology-configuration")) {
        throw ConfigError(
            "--logical-topology-configuration: is of ASTRA-sim's ns-3 and htsim builds, whose "
            "topology files have no dimensions; here the network has them: network.dimensions of "
            "a study, or the lists of --network-configuration");
    }
}

}  // namespace

void declare_study_options(OptionSet& options) {
    options.add_list(
        "set", "KEY=VALUE", "overrides a key of the study: --set network.backend=congestion_aware");
    options.add_value(
        "backend",
        "NAME",
        "network backend (default: the study's, or flow; ASTRA-sim's files: congestion_unaware)",
        backends().names());
    options.add_value("transport",
                      "NAME",
                      "transport of the backend packet (default: the study's, or none)",
                      packet::transports().names());
    options.add_value("flows",
                      "FILE",
                      "a flow set as the workload, in place of the study's: lines of 'id src dst "
                      "bytes after'");
    options.add_value(
        "seed", "N", "seed of noise, of background traffic and of routing (default 1)");
}

void declare_astra_sim_options(OptionSet& options) {
    options.add_value("workload-configuration", "PREFIX", "traces PREFIX.<rank>.et (ASTRA-sim)");
    options.add_value("system-configuration", "FILE", "system JSON (ASTRA-sim)");
    options.add_value("network-configuration", "FILE", "network YAML (ASTRA-sim)");
    options.add_value("remote-memory-configuration",
                      "FILE",
                      "memory JSON (ASTRA-sim; default: no remote memory)");
    options.add_value(
        "comm-group-configuration", "FILE", "communicator groups JSON (ASTRA-sim; default: none)");
    options.add_value("num-queues-per-dim", "N", "queues of a dimension (ASTRA-sim; default 1)");
    options.add_value("injection-scale", "X", "multiplies endpoint-delay (ASTRA-sim; default 1)");
    options.add_value(
        "rendezvous-protocol", "BOOL", "receivers ask for messages (ASTRA-sim; default false)");
    options.add_value(
        "network-unit",
        "UNIT",
        "bytes a second that a bandwidth of the network YAML counts, 2^30 (default) or 10^9",
        {"GiB", "GB"});
    options.add_value("logging-configuration", "FILE", "accepted, without effect (ASTRA-sim)");
    options.add_value("logging-folder", "DIR", "accepted, without effect (ASTRA-sim)");
    options.add_value("logical-topology-configuration",
                      "FILE",
                      "refused: of ASTRA-sim's ns-3 and htsim builds; here the network says its "
                      "dimensions");
    options.add_value("comm-scale", "X", "refused: it has no effect in ASTRA-sim");
    options.add_value("compute-scale", "X", "refused: it has no effect in ASTRA-sim");
}

Study read_study(const OptionSet& options) {
    refuse_scales(options);
    refuse_logical_topology(options);
    const auto& files = options.positional();
    const bool astra_sim = has_astra_sim_files(options);
    if (files.size() > 1 || (astra_sim && !files.empty())) {
        throw ConfigError(fmt::format(
            "'{}' is one file too many: give one study, or ASTRA-sim's files by their options",
            files.back()));
    }
    if (!astra_sim && !files.empty()) {
        for (const auto& [name, key] : {std::pair{"num-queues-per-dim", "system.queues"},
                                        std::pair{"injection-scale", "system.injection_scale"},
                                        std::pair{"rendezvous-protocol", "system.rendezvous"},
                                        std::pair{"network-unit", "units in the study"}}) {
            if (options.value(name)) {
                throw ConfigError(
                    fmt::format("--{} goes with ASTRA-sim's files; a study has {}", name, key));
            }
        }
    }
    Warnings warnings;
    for (const char* name : {"logging-configuration", "logging-folder"}) {
        if (options.value(name)) {
            warnings.add(fmt::format("--{} has no effect", name));
        }
    }
    ConfigTree study = astra_sim || files.empty()
                           ? read_astra_sim(options, warnings)
                           : ConfigTree::parse_file(files.front(), FilePurpose::Study);
    if (const auto flows = options.value("flows")) {
        if (study.root().has("jobs")) {
            throw ConfigError(
                "--flows: the study has jobs; a flow set is the workload of one of them");
        }
        study.set("workload={}");
        study.put("workload.flows", *flows, ConfigTree::empty_map("--flows").root());
    }
    if (const auto backend = options.value("backend")) {
        study.set("network.backend=" + *backend);
    }
    if (const auto transport = options.value("transport")) {
        study.set("network.packet.transport=" + *transport);
    }
    if (const auto number = options.integer("seed", 0, kMostSeed)) {
        study.set_seed(*number);
    }
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    return Study(std::move(study), std::move(warnings));
}

}  // namespace astra
