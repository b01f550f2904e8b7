#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "astra/config/astra_sim/astra_sim_parts.h"
#include "astra/config/config_tree.h"
#include "astra/config/units.h"

namespace astra {
namespace {

constexpr std::uint64_t kMostChunks = std::numeric_limits<std::uint32_t>::max();

struct Renamed {
    const char* key;
    const char* path;
};

constexpr std::array<Renamed, 4> kCollectives = {
    {{"all-reduce-implementation", "system.collectives.all_reduce"},
     {"all-gather-implementation", "system.collectives.all_gather"},
     {"reduce-scatter-implementation", "system.collectives.reduce_scatter"},
     {"all-to-all-implementation", "system.collectives.all_to_all"}}};

constexpr const char* kCustomSuffix = "-custom";
constexpr const char* kNodesKey = "per-node-custom-implementation";

struct IdleKey {
    const char* key;
    const char* why;
};

constexpr const char* kIgnoredToo = "ASTRA-sim ignores it too";
constexpr const char* kBusOnly = "ASTRA-sim uses it only with model-shared-bus";
constexpr const char* kNoTiming = "ASTRA-sim writes an extra file for it, no time depends on it";

constexpr std::array<IdleKey, 7> kIdleKeys = {{{"boost-mode", kIgnoredToo},
                                               {"local-reduction-delay", kBusOnly},
                                               {"L", kBusOnly},
                                               {"o", kBusOnly},
                                               {"g", kBusOnly},
                                               {"G", kBusOnly},
                                               {"local-mem-trace-filename", kNoTiming}}};

// Switches that are off in most files: worth a warning only when on.
constexpr std::array<IdleKey, 2> kIdleSwitches = {
    {{"trace-enabled", kNoTiming}, {"track-local-mem", kNoTiming}}};

void warn(const ConfigView& value, const IdleKey& key, Warnings& warnings) {
    warnings.add(value.where() + ": " + key.key + " has no effect (" + key.why + ")");
}

void handle_idle_keys(const ConfigView& file, Warnings& warnings) {
    for (const IdleKey& key : kIdleKeys) {
        if (const std::optional<ConfigView> value = file.find(key.key)) {
            warn(*value, key, warnings);
        }
    }
    for (const IdleKey& key : kIdleSwitches) {
        const std::optional<ConfigView> value = file.find(key.key);
        if (value && value->as_bool()) {
            warn(*value, key, warnings);
        }
    }
}

void refuse_unsupported(const ConfigView& file) {
    const std::optional<ConfigView> bus = file.find("model-shared-bus");
    if (bus && bus->as_bool()) {
        bus->fail(
            "is not supported: its LogGP bus uses undocumented constants and moves a 43 us "
            "all-reduce to 73 us even with all parameters 0; model the cost of an endpoint with "
            "endpoint-delay and local-mem-bw instead");
    }
}

// `key` as one of `names`, put as the native name of the same position; the first if absent.
template <std::size_t N>
void put_choice(const ConfigView& file,
                const Renamed& key,
                const std::array<std::string, N>& names,
                const std::array<std::string, N>& native,
                ConfigTree& study) {
    const std::optional<ConfigView> value = file.find(key.key);
    if (!value) {
        study.put(key.path, native[0], file);
        return;
    }
    const std::string name = value->as_choice(names);
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == name) {
            study.put(key.path, native[i], *value);
        }
    }
}

// What one value of a key about dimensions means here.
struct Meaning {
    const char* name;
    std::vector<std::string> native;
};

// ASTRA-sim reads these keys but goes on as by their defaults. Here other values have an effect,
// with a warning, as times differ then.
void put_order(const ConfigView& file,
               const Renamed& key,
               const std::vector<Meaning>& meanings,
               ConfigTree& study,
               Warnings& warnings) {
    const std::optional<ConfigView> value = file.find(key.key);
    if (!value) {
        return;
    }
    const std::string name = value->as_string();
    for (const Meaning& meaning : meanings) {
        if (meaning.name == name) {
            if (meaning.native.size() == 1) {
                study.put(key.path, meaning.native[0], *value);
            } else {
                study.put_list(key.path, meaning.native, *value);
            }
            if (meaning.native != meanings.front().native) {
                warnings.add(value->where() + ": " + key.key + " '" + name +
                             "' takes effect here, as " + key.path + "; ASTRA-sim ignores it");
            }
            return;
        }
    }
    warn(*value, {key.key, kIgnoredToo}, warnings);
}

void put_orders(const ConfigView& file, ConfigTree& study, Warnings& warnings) {
    put_order(file,
              {"inter-dimension-scheduling", "system.dimension_order"},
              {{"baseline", {"ascending"}},
               {"ascending", {"ascending"}},
               {"themis", {"themis"}},
               {"offlineGreedy", {"themis"}},
               {"roundRobin", {"rotated"}}},
              study,
              warnings);
    put_order(file,
              {"intra-dimension-scheduling", "system.chunk_order"},
              {{"FIFO", {"priority"}},
               {"SCF", {"priority", "smallest_first"}},
               {"smallestFirst", {"priority", "smallest_first"}}},
              study,
              warnings);
}

void put_count(const ConfigView& file, const Renamed& key, ConfigTree& study) {
    const std::optional<ConfigView> value = file.find(key.key);
    study.put(key.path,
              value ? std::to_string(value->as_integer(1, kMostChunks)) : "1",
              value.value_or(file));
}

void put_switch(const ConfigView& file, const Renamed& key, ConfigTree& study) {
    if (const std::optional<ConfigView> value = file.find(key.key)) {
        study.put(key.path, value->as_bool() ? "true" : "false", *value);
    }
}

// Zero means the same as no key at all: nothing is known about the hardware.
std::optional<ConfigView> find_nonzero(const ConfigView& file, const char* key) {
    const std::optional<ConfigView> value = file.find(key);
    return value && value->as_number() != 0 ? value : std::nullopt;
}

void put_hardware(const ConfigView& file, ConfigTree& study) {
    const std::optional<ConfigView> memory = find_nonzero(file, "local-mem-bw");
    if (memory) {
        study.put("system.local_memory_bandwidth", bandwidth_with_unit(*memory, "GB/s"), *memory);
    }
    const std::optional<ConfigView> peak = find_nonzero(file, "peak-perf");
    if (peak) {
        const std::string text = with_unit(*peak, "TFLOPS");
        if (parse_rate(text).value_or(0) <= 0) {
            peak->fail("'" + peak->as_string() + "' is out of range; TFLOPS are expected");
        }
        study.put("system.peak", text, *peak);
    }
    put_switch(file, {"roofline-enabled", "system.roofline"}, study);
    const std::optional<ConfigView> roofline = file.find("roofline-enabled");
    if (roofline && roofline->as_bool() && (!memory || !peak)) {
        roofline->fail(std::string("needs peak-perf and local-mem-bw; ") +
                       (memory ? "peak-perf is missing or 0" : "local-mem-bw is missing or 0"));
    }
}

// An algorithm of this kind spans the whole network, whatever its dimensions.
bool spans_all_dimensions(const std::string& algorithm) {
    return algorithm.starts_with("one");
}

// The prefix of a collective's own traces goes before the algorithm. True if there is one.
bool put_custom(const ConfigView& file, const Renamed& key, ConfigTree& study) {
    const std::optional<ConfigView> value = file.find(std::string(key.key) + kCustomSuffix);
    if (!value) {
        return false;
    }
    const std::vector<ConfigView> prefixes = value->items();
    if (prefixes.size() != 1) {
        value->fail("has " + std::to_string(prefixes.size()) +
                    " entries; a list of exactly one prefix of Chakra files is expected");
    }
    study.put(std::string(key.path) + ".file", prefixes[0].as_string(), prefixes[0]);
    return true;
}

void put_nodes(const ConfigView& file, ConfigTree& study) {
    if (const std::optional<ConfigView> value = file.find(kNodesKey)) {
        study.put("system.collectives.nodes", value->as_string(), *value);
    }
}

void put_algorithms(const ConfigView& file,
                    const Renamed& key,
                    std::size_t dimensions,
                    ConfigTree& study) {
    const std::optional<ConfigView> value = file.find(key.key);
    if (put_custom(file, key, study) || !value) {
        return;
    }
    std::vector<std::string> names;
    for (const ConfigView& item : value->items()) {
        names.push_back(item.as_string());
    }
    const bool for_all = names.size() == 1 && spans_all_dimensions(names[0]);
    if (names.size() != dimensions && !for_all) {
        value->fail("has " + std::to_string(names.size()) +
                    (names.size() == 1 ? " entry" : " entries") + " but the network has " +
                    std::to_string(dimensions) + (dimensions == 1 ? " dimension" : " dimensions") +
                    "; one algorithm for each dimension is expected (or a single one of the one* "
                    "algorithms)");
    }
    study.put_list(key.path, names, *value);
}

}  // namespace

void translate_system(const ConfigView& file,
                      std::size_t dimensions,
                      ConfigTree& study,
                      Warnings& warnings) {
    refuse_unsupported(file);
    handle_idle_keys(file, warnings);
    static const std::array<std::string, 3> policies = {"FIFO", "LIFO", "EXPLICIT"};
    static const std::array<std::string, 3> native_policies = {"fifo", "lifo", "priority"};
    put_choice(file, {"scheduling-policy", "system.scheduling"}, policies, native_policies, study);
    static const std::array<std::string, 2> shapes = {"localBWAware", "baseline"};
    static const std::array<std::string, 2> native_shapes = {"local_bandwidth_aware", "baseline"};
    put_choice(
        file, {"collective-optimization", "system.all_reduce_shape"}, shapes, native_shapes, study);
    put_orders(file, study, warnings);
    const std::optional<ConfigView> delay = file.find("endpoint-delay");
    study.put("system.endpoint_delay",
              delay ? time_with_unit(*delay, "ns") : "10ns",
              delay.value_or(file));
    put_count(file, {"active-chunks-per-dimension", "system.active_chunks"}, study);
    put_count(file, {"preferred-dataset-splits", "system.chunks"}, study);
    put_hardware(file, study);
    put_switch(file, {"replay-only", "system.replay_only"}, study);
    for (const Renamed& key : kCollectives) {
        put_algorithms(file, key, dimensions, study);
    }
    put_nodes(file, study);
}

}  // namespace astra
