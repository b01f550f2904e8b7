#include "system/system_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/config/registry_choice.h"
#include "astra/core/nearest.h"
#include "system/engine/chunk_order.h"
#include "system/model/measured_file.h"
#include "system/plan/dimension_order.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostChunks = 1U << 16;
constexpr std::uint64_t kMostStreams = 1U << 16;
constexpr std::uint64_t kMostQueues = 1U << 10;

// Reads system.collectives.
class AlgorithmReader {
  public:
    AlgorithmReader(std::uint32_t dimensions, const ProgramReader& programs, SystemConfig& config)
        : dimensions_(dimensions), programs_(programs), config_(config) {}

    // A name, a map {file: …} or {by_size: …}, or a list of such.
    SystemConfig::Algorithms read(const ConfigView& list) {
        SystemConfig::Algorithms algorithms;
        algorithms.where = list.where() + ": " + list.path();
        bool any_flat = false;
        for (const ConfigView& item : list.is_map() ? std::vector{list} : list.items()) {
            algorithms.choices.push_back(item.is_map() ? open(item) : named(item));
            const AlgorithmChoice& choice = algorithms.choices.back();
            any_flat = any_flat || choice.flat || choice.measured;
        }
        const std::size_t count = algorithms.choices.size();
        if (count == 0) {
            list.fail("names no algorithm");
        }
        if (count > 1 && count != dimensions_) {
            list.fail(
                fmt::format("{} algorithms for {} dimensions; give one a dimension, or one for all",
                            count,
                            dimensions_));
        }
        if (count > 1 && any_flat) {
            list.fail("an algorithm that spans all dimensions (one…, measured) stands alone");
        }
        if (count == 1 && algorithms.choices[0].source != nullptr) {
            algorithms.choices[0].flat = true;
        }
        return algorithms;
    }

    // Nodes of a trace that have programs of their own: a map {node id: {file: …}}, or a file with
    // a map {node id: file}, as ASTRA-sim has it.
    void read_nodes(const ConfigView& nodes) {
        if (nodes.is_map()) {
            add_nodes(nodes);
        } else {
            add_nodes(ConfigTree::parse_file(nodes.as_file_name()).root());
        }
    }

  private:
    void add_nodes(const ConfigView& nodes) {
        for (const auto& [id, entry] : nodes.entries()) {
            std::uint64_t number = 0;
            const auto parsed = std::from_chars(id.data(), id.data() + id.size(), number);
            if (parsed.ec != std::errc() || parsed.ptr != id.data() + id.size()) {
                entry.fail("'" + id + "' is not the id of a node");
            }
            AlgorithmChoice choice = open(entry);
            choice.flat = true;
            const auto known = std::find_if(config_.own_algorithms.begin(),
                                            config_.own_algorithms.end(),
                                            [&](const SystemConfig::Algorithms& other) {
                                                return other.choices[0].name == choice.name;
                                            });
            config_.node_algorithms[number] =
                static_cast<std::uint32_t>(known - config_.own_algorithms.begin()) + 1;
            if (known == config_.own_algorithms.end()) {
                config_.own_algorithms.push_back(
                    {{std::move(choice)}, entry.where() + ": " + entry.path()});
            }
        }
    }

    static AlgorithmChoice named(const ConfigView& item) {
        const std::string name = item.as_string();
        AlgorithmChoice choice = parse_algorithm(name);
        if (!choice.valid()) {
            item.fail(choice.fault);
        }
        return choice;
    }

    AlgorithmChoice open(const ConfigView& item) {
        AlgorithmChoice choice;
        if (item.is_map() && item.has("by_size")) {
            config_.tables.push_back(std::make_unique<const SizeTable>(
                SizeTable::from_config(item, config_.tuning.protocols)));
            choice.table = config_.tables.back().get();
            choice.name = "by_size at " + item.where();
            return choice;
        }
        config_.sources.push_back(programs_.open(item));
        choice.source = config_.sources.back().get();
        const std::string file = (item.is_map() ? item.at("file") : item).as_string();
        choice.name = file.substr(file.find_last_of('/') + 1);
        return choice;
    }

    std::uint32_t dimensions_;
    const ProgramReader& programs_;
    SystemConfig& config_;
};

MeasuredTime read_measured(const ConfigView& view) {
    MeasuredTime time;
    if (const auto file = view.find("file")) {
        const std::string column = view.string_or("column", "");
        for (const auto& [bytes, point] : read_measured_file(file->as_file_name(), column)) {
            if (!point.time) {
                file->fail("expected the output of nccl-tests: a table of bandwidths has no times");
            }
            time.points.emplace_back(Bytes{bytes}, *point.time);
        }
        return time;
    }
    if (const auto points = view.find("points")) {
        for (const ConfigView& item : points->items()) {
            const auto pair = item.items();
            if (pair.size() != 2) {
                item.fail("a point is a pair [bytes, time]");
            }
            const Bytes size = pair[0].as_bytes();
            if (!time.points.empty() && size <= time.points.back().first) {
                item.fail("points must be in ascending order of bytes");
            }
            time.points.emplace_back(size, pair[1].as_duration());
        }
        if (time.points.empty()) {
            points->fail("needs at least one point");
        }
        return time;
    }
    time.alpha = view.duration_or("alpha", {});
    time.beta = view.at("beta").as_bandwidth();
    if (time.beta.bits_per_s == 0) {
        view.at("beta").fail("expected a bandwidth above 0");
    }
    return time;
}

constexpr std::array kKinds = {CollectiveKind::AllReduce,
                               CollectiveKind::AllGather,
                               CollectiveKind::ReduceScatter,
                               CollectiveKind::AllToAll,
                               CollectiveKind::Broadcast,
                               CollectiveKind::Reduce,
                               CollectiveKind::Gather,
                               CollectiveKind::Scatter,
                               CollectiveKind::ReduceScatterBlock,
                               CollectiveKind::Barrier};

const char* default_algorithm(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::Broadcast:
        case CollectiveKind::Reduce:
        case CollectiveKind::Gather:
        case CollectiveKind::Scatter:
            return "binomial";
        case CollectiveKind::Barrier:
            return "dissemination";
        default:
            return "ring";
    }
}

void read_collectives(const ConfigView& system, AlgorithmReader& reader, SystemConfig& config) {
    const ConfigView collectives = system.section("collectives");
    const ConfigView measured = system.section("measured");
    if (const auto nodes = collectives.find("nodes")) {
        reader.read_nodes(*nodes);
    }
    for (const CollectiveKind kind : kKinds) {
        const auto k = static_cast<std::size_t>(kind);
        if (const auto list = collectives.find(name_of(kind))) {
            config.algorithms[k] = reader.read(*list);
        } else if (kind == CollectiveKind::ReduceScatterBlock) {
            const auto same = static_cast<std::size_t>(CollectiveKind::ReduceScatter);
            config.algorithms[k] = config.algorithms[same];
            config.measured[k] = config.measured[same];
        } else {
            const std::string name = collectives.string_or(name_of(kind), default_algorithm(kind));
            config.algorithms[k] = {{parse_algorithm(name)}, collectives.path() + " (default)"};
        }
        if (const auto time = measured.find(name_of(kind))) {
            config.measured[k] = read_measured(*time);
        }
        const auto& choices = config.algorithms[k].choices;
        if (choices.size() == 1 && choices[0].measured && !config.measured[k]) {
            collectives.at(name_of(kind))
                .fail(fmt::format("'measured' needs system.measured.{}", name_of(kind)));
        }
    }
}

void read_noise(const ConfigView& system,
                std::string_view key,
                double& deviation,
                std::uint64_t& seed) {
    const ConfigView noise = system.section(key);
    deviation = noise.number_or("deviation", 0);
    if (deviation < 0 || deviation > 1) {
        noise.at("deviation").fail("expected a relative standard deviation from 0 to 1");
    }
    seed = noise.integer_or("seed", 1, 0, ~std::uint64_t{0} >> 1U);
}

void read_compute(const ConfigView& system, SystemConfig& config) {
    config.roofline = system.bool_or("roofline", false);
    config.replay_only = system.bool_or("replay_only", false);
    if (const auto peak = system.find("peak")) {
        config.peak_operations_per_s = peak->as_rate();
    }
    config.local_memory_bandwidth = system.bandwidth_or("local_memory_bandwidth", {});
    if (config.roofline &&
        (config.peak_operations_per_s <= 0 || config.local_memory_bandwidth.bits_per_s == 0)) {
        system.at("roofline").fail("a roofline needs peak and local_memory_bandwidth above 0");
    }
    const ConfigView streams = system.section("streams");
    const auto count = [&](const char* key) {
        return static_cast<std::uint32_t>(streams.integer_or(key, 1, 1, kMostStreams));
    };
    config.cpu_streams = count("cpu");
    config.compute_streams = count("compute");
    config.communication_streams = count("communication");
    read_noise(system, "compute_noise", config.compute_noise, config.noise_seed);
    read_noise(system, "measured_noise", config.measured_noise, config.measured_noise_seed);
}

std::vector<const ChunkOrder*> read_chunk_order(const ConfigView& system) {
    const auto value = system.find("chunk_order");
    if (!value) {
        return {&choose(system, "chunk_order", kPriorityChunkOrder.name, chunk_orders())};
    }
    std::vector<const ChunkOrder*> orders;
    for (const ConfigView& item : value->items()) {
        const ChunkOrder* order = chunk_orders().find(item.as_choice(chunk_orders().names()));
        if (std::find(orders.begin(), orders.end(), order) != orders.end()) {
            item.fail(fmt::format("'{}' is in the list already", order->name));
        }
        orders.push_back(order);
    }
    if (orders.empty()) {
        value->fail("names no order");
    }
    return orders;
}

const DimensionOrder& read_dimension_order(const ConfigView& system) {
    return choose(system, "dimension_order", kAscendingDimensionOrder.name, dimension_orders());
}

}  // namespace

Duration MeasuredTime::at(Bytes size) const {
    if (points.empty()) {
        return alpha + transfer_time(size, beta);
    }
    if (points.size() == 1) {
        return points[0].second;
    }
    std::size_t upper = 1;
    while (upper + 1 < points.size() && points[upper].first < size) {
        ++upper;
    }
    const auto& [x0, y0] = points[upper - 1];
    const auto& [x1, y1] = points[upper];
    // Rounded up, as every time; 128 bits hold the product of two 64-bit differences.
    using Wide = __int128;
    const Wide run = static_cast<Wide>(x1.count) - static_cast<Wide>(x0.count);
    const Wide rise = static_cast<Wide>(y1.ps) - static_cast<Wide>(y0.ps);
    const Wide offset = static_cast<Wide>(size.count) - static_cast<Wide>(x0.count);
    const Wide product = rise * offset;
    const Wide ps =
        static_cast<Wide>(y0.ps) + (product >= 0 ? (product + run - 1) / run : -((-product) / run));
    if (ps <= 0) {
        return {};
    }
    return {ps > static_cast<Wide>(kMaxPs) ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

SystemConfig SystemConfig::from_config(const ConfigView& system,
                                       std::uint32_t dimensions,
                                       const ProgramReader& reader) {
    SystemConfig config;
    const double scale = system.number_or("injection_scale", 1.0);
    if (scale < 0 || scale > 1e6) {
        system.at("injection_scale").fail("expected a factor from 0 to 1000000");
    }
    const Duration delay = system.duration_or("endpoint_delay", {10'000});
    config.endpoint_delay = {
        static_cast<std::uint64_t>(std::llround(static_cast<double>(delay.ps) * scale))};
    config.chunks = static_cast<std::uint32_t>(system.integer_or("chunks", 1, 1, kMostChunks));
    config.active_chunks =
        static_cast<std::uint32_t>(system.integer_or("active_chunks", 1, 1, kMostChunks));
    config.queues = static_cast<std::uint32_t>(system.integer_or("queues", 1, 1, kMostQueues));
    config.rendezvous = system.bool_or("rendezvous", false);
    config.patience = system.duration_or("patience", {1'000'000});

    const std::array<std::string, 3> schedulings = {"lifo", "fifo", "priority"};
    const std::string scheduling = system.choice_or("scheduling", "fifo", schedulings);
    config.scheduling = scheduling == "lifo"   ? Scheduling::Lifo
                        : scheduling == "fifo" ? Scheduling::Fifo
                                               : Scheduling::Priority;
    config.chunk_order = read_chunk_order(system);
    config.dimension_order = &read_dimension_order(system);
    const std::array<std::string, 2> shapes = {"baseline", "local_bandwidth_aware"};
    config.all_reduce_shape =
        system.choice_or("all_reduce_shape", "local_bandwidth_aware", shapes) == "baseline"
            ? AllReduceShape::Baseline
            : AllReduceShape::LocalBandwidthAware;
    config.tuning = TuningConfig::from_config(system);
    AlgorithmReader algorithms(dimensions, reader, config);
    read_collectives(system, algorithms, config);
    read_compute(system, config);
    return config;
}

}  // namespace astra
