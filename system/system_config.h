// How the ranks of a system run what a trace asks for: the study's section `system`.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/types.h"
#include "system/program/program_source.h"
#include "system/tuning/algorithm_choice.h"
#include "system/tuning/tuning_config.h"

namespace astra {

struct ChunkOrder;
struct DimensionOrder;
extern const ChunkOrder kPriorityChunkOrder;
extern const DimensionOrder kAscendingDimensionOrder;

// The time of a collective that is not simulated message by message.
struct MeasuredTime {
    Duration alpha;
    Bandwidth beta;                                  // alpha + bytes / beta
    std::vector<std::pair<Bytes, Duration>> points;  // if not empty: interpolated instead

    // Between two points on a straight line, beyond them on the line of the nearest two, never
    // below 0.
    Duration at(Bytes size) const;
};

struct SystemConfig {
    enum class Scheduling : std::uint8_t { Lifo, Fifo, Priority };
    enum class AllReduceShape : std::uint8_t { Baseline, LocalBandwidthAware };
    struct Algorithms {
        std::vector<AlgorithmChoice> choices;  // one a dimension, or one for all
        std::string where;                     // for messages
    };

    Duration endpoint_delay;  // already scaled
    std::uint32_t chunks = 1;
    std::uint32_t active_chunks = 1;           // a dimension of a rank
    std::uint32_t queues = 1;                  // a dimension
    Scheduling scheduling = Scheduling::Fifo;  // the priority of a collective
    // Which waiting chunk goes first: by the first criterion, among equals by the next, at last by
    // arrival (chunk_order.h).
    std::vector<const ChunkOrder*> chunk_order{&kPriorityChunkOrder};
    const DimensionOrder* dimension_order = &kAscendingDimensionOrder;
    AllReduceShape all_reduce_shape = AllReduceShape::LocalBandwidthAware;
    std::array<Algorithms, kCollectiveKinds> algorithms;
    std::vector<std::unique_ptr<const ProgramSource>> sources;  // that choices refer to
    // Nodes of a trace that have algorithms of their own: by id, 1 for the first of them.
    std::vector<Algorithms> own_algorithms;
    std::map<std::uint64_t, std::uint32_t> node_algorithms;
    std::uint32_t own_of(std::uint64_t node_id) const {
        const auto found = node_algorithms.find(node_id);
        return found == node_algorithms.end() ? 0 : found->second;
    }
    std::vector<std::unique_ptr<const SizeTable>> tables;  // that choices refer to
    TuningConfig tuning;
    std::array<std::optional<MeasuredTime>, kCollectiveKinds> measured;
    bool rendezvous = false;
    // How long a chunk may wait behind a younger one whose peers have not come, before it passes
    // it.
    Duration patience;

    bool roofline = false;
    bool replay_only = false;
    double peak_operations_per_s = 0;
    Bandwidth local_memory_bandwidth;  // 0 = reductions are free
    std::uint32_t cpu_streams = 1;
    std::uint32_t compute_streams = 1;
    std::uint32_t communication_streams = 1;
    double compute_noise = 0;  // relative standard deviation
    std::uint64_t noise_seed = 1;
    double measured_noise = 0;  // of the time of a measured collective, relative
    std::uint64_t measured_noise_seed = 1;

    // Throws ConfigError. `dimensions` of the network, by which lists of algorithms are checked.
    static SystemConfig from_config(const ConfigView& system,
                                    std::uint32_t dimensions,
                                    const ProgramReader& reader);
};

}  // namespace astra
