#include "astra/config/astra_sim/astra_sim.h"

#include <array>
#include <cmath>
#include <string_view>

#include "astra/config/astra_sim/astra_sim_parts.h"
#include "astra/config/config_tree.h"
#include "astra/config/decimal.h"
#include "astra/config/exact_text.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/text/nearest.h"

namespace astra {
namespace {

void require(const std::string& value, const char* option) {
    if (value.empty()) {
        throw ConfigError(std::string("--") + option + ": has no value; a file is expected");
    }
}

void check_unit(const std::string& unit) {
    static const std::array<std::string, 2> units = {"GiB", "GB"};
    if (unit != units[0] && unit != units[1]) {
        throw ConfigError("--network-unit: '" + unit + "' is not one of GiB, GB" +
                          suggestion(unit, units));
    }
}

void put_options(const AstraSimOptions& options, const ConfigView& origin, ConfigTree& study) {
    study.put("workload.trace", options.workload_prefix, origin);
    study.put("system.host_threads", "one", origin);
    if (!options.group_file.empty() && options.group_file.find("empty") == std::string::npos) {
        study.put("workload.groups", options.group_file, origin);
    }
    if (options.queues_per_dimension) {
        if (*options.queues_per_dimension == 0) {
            throw ConfigError("--num-queues-per-dim: '0' is not valid; at least 1 is expected");
        }
        study.put("system.queues", std::to_string(*options.queues_per_dimension), origin);
    }
    if (options.injection_scale) {
        if (!std::isfinite(*options.injection_scale) || *options.injection_scale < 0) {
            throw ConfigError(
                "--injection-scale: a finite number that is not negative is expected");
        }
        study.put("system.injection_scale", exact_text(*options.injection_scale), origin);
    }
    // As there: sends wait for links only, nothing bounds how far a sender is ahead, and a SEND
    // ends when it has arrived.
    study.put("system.sends_in_order", "false", origin);
    study.put("system.run_ahead", "unbounded", origin);
    study.put("system.sends_end", "arrival", origin);
    if (options.rendezvous) {
        study.put("system.rendezvous", *options.rendezvous ? "true" : "false", origin);
    }
}

}  // namespace

std::string with_unit(const ConfigView& value, std::string_view unit) {
    if (value.as_number() < 0) {
        value.fail("'" + value.as_string() + "' is negative; a number from 0 is expected");
    }
    // "-0" is a number too.
    const Decimal number = parse_decimal(value.as_string()).value_or(Decimal{});
    return to_plain_text(number).append(unit);
}

std::string bandwidth_with_unit(const ConfigView& value, std::string_view unit) {
    std::string text = with_unit(value, unit);
    const std::optional<Bandwidth> bandwidth = parse_bandwidth(text);
    if (!bandwidth || bandwidth->bits_per_s == 0) {
        value.fail("'" + value.as_string() + "' is out of range; a bandwidth above 0 in " +
                   std::string(unit) + " is expected");
    }
    return text;
}

std::string time_with_unit(const ConfigView& value, std::string_view unit) {
    std::string text = with_unit(value, unit);
    if (!parse_duration(text)) {
        value.fail("'" + value.as_string() + "' is out of range; a time in " + std::string(unit) +
                   " is expected");
    }
    return text;
}

ConfigTree translate_astra_sim(const AstraSimOptions& options, Warnings& warnings) {
    require(options.workload_prefix, "workload-configuration");
    require(options.system_file, "system-configuration");
    require(options.network_file, "network-configuration");
    check_unit(options.network_unit);

    const ConfigTree command_line = ConfigTree::empty_map("command line");
    ConfigTree study = ConfigTree::empty_map("command line");
    put_options(options, command_line.root(), study);

    const ConfigTree network = ConfigTree::parse_file(options.network_file, FilePurpose::Network);
    const std::size_t dimensions = translate_network(network.root(), options.network_unit, study);
    network.reject_unread();

    const ConfigTree system = ConfigTree::parse_file(options.system_file, FilePurpose::System);
    translate_system(system.root(), dimensions, study, warnings);
    system.reject_unread();

    if (options.memory_file.empty()) {
        study.put("memory.kind", "none", command_line.root());
    } else {
        const ConfigTree memory = ConfigTree::parse_file(options.memory_file, FilePurpose::Memory);
        translate_memory(memory.root(), study, warnings);
        memory.reject_unread();
    }
    return study;
}

}  // namespace astra
