#include <array>
#include <limits>
#include <optional>

#include "astra/config/astra_sim/astra_sim_parts.h"
#include "astra/config/config_tree.h"

namespace astra {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();

const std::array<std::string, 4> kTypes = {
    "NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION", "MEMORY_POOL"};
constexpr std::array<const char*, 4> kKinds = {"none", "per_rank", "per_node", "pool"};

void put_number(const ConfigView& value, const char* path, ConfigTree& study) {
    study.put(path, std::to_string(value.as_integer(1, kMost)), value);
}

// A key that the kind of memory does not use.
void pass_over(const ConfigView& file,
               const char* key,
               const std::string& type,
               Warnings& warnings) {
    if (const std::optional<ConfigView> value = file.find(key)) {
        warnings.add(value->where() + ": " + key + " has no effect with " + type);
    }
}

}  // namespace

void translate_memory(const ConfigView& file, ConfigTree& study, Warnings& warnings) {
    const ConfigView kind = file.at("memory-type");
    const std::string type = kind.as_choice(kTypes);
    for (std::size_t i = 0; i < kTypes.size(); ++i) {
        if (kTypes[i] == type) {
            study.put("memory.kind", kKinds[i], kind);
        }
    }
    if (type == kTypes[0]) {
        pass_over(file, "remote-mem-latency", type, warnings);
        pass_over(file, "remote-mem-bw", type, warnings);
    } else {
        const ConfigView latency = file.at("remote-mem-latency");
        study.put("memory.latency", time_with_unit(latency, "ns"), latency);
        const ConfigView bandwidth = file.at("remote-mem-bw");
        study.put("memory.bandwidth", bandwidth_with_unit(bandwidth, "GB/s"), bandwidth);
    }
    if (type == kTypes[2]) {
        put_number(file.at("num-npus-per-node"), "memory.ranks_per_node", study);
        put_number(file.at("num-nodes"), "memory.nodes", study);
    } else {
        pass_over(file, "num-npus-per-node", type, warnings);
        pass_over(file, "num-nodes", type, warnings);
    }
}

}  // namespace astra
