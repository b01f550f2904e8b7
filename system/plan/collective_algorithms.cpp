#include "system/plan/collective_algorithms.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "system/model/measured_times.h"

namespace astra {

namespace {

// In the order in which their keys are read.
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

AlgorithmChoice named(const ConfigView& item) {
    const std::string name = item.as_string();
    AlgorithmChoice choice = parse_algorithm(name);
    if (!choice.valid()) {
        item.fail(choice.fault);
    }
    return choice;
}

}  // namespace

class AlgorithmReader {
  public:
    AlgorithmReader(std::uint32_t dimensions,
                    const std::vector<Protocol>& protocols,
                    const ProgramReader& programs)
        : dimensions_(dimensions), protocols_(protocols), programs_(programs) {}

    CollectiveAlgorithms read(const ConfigView& collectives, const MeasuredTimes& measured) {
        if (const auto nodes = collectives.find("nodes")) {
            read_nodes(*nodes);
        }
        for (const CollectiveKind kind : kKinds) {
            NamedAlgorithms& algorithms = result_.by_kind_[static_cast<std::size_t>(kind)];
            if (const auto list = collectives.find(name_of(kind))) {
                algorithms = read_list(*list);
            } else if (kind == CollectiveKind::ReduceScatterBlock) {
                algorithms = result_.of(CollectiveKind::ReduceScatter);
            } else {
                const std::string name =
                    collectives.string_or(name_of(kind), default_algorithm(kind));
                algorithms = {{parse_algorithm(name)}, collectives.path() + " (default)"};
            }
            const auto& choices = algorithms.choices;
            if (choices.size() == 1 && choices[0].measured && measured.of(kind) == nullptr) {
                collectives.at(name_of(kind))
                    .fail(fmt::format("'measured' needs system.measured.{}", name_of(kind)));
            }
        }
        return std::move(result_);
    }

  private:
    // A name, a map {file: …} or {by_size: …}, or a list of such.
    NamedAlgorithms read_list(const ConfigView& list) {
        NamedAlgorithms algorithms;
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

    // Nodes of a trace with programs for them alone: a map {node id: {file: …}}, or a file with a
    // map {node id: file}, as ASTRA-sim has it.
    void read_nodes(const ConfigView& nodes) {
        if (nodes.is_map()) {
            add_nodes(nodes);
        } else {
            add_nodes(ConfigTree::parse_file(nodes.as_file_name()).root());
        }
    }

    void add_nodes(const ConfigView& nodes) {
        for (const auto& [id, entry] : nodes.entries()) {
            std::uint64_t number = 0;
            const auto parsed = std::from_chars(id.data(), id.data() + id.size(), number);
            if (parsed.ec != std::errc() || parsed.ptr != id.data() + id.size()) {
                entry.fail("'" + id + "' is not the id of a node");
            }
            AlgorithmChoice choice = open(entry);
            choice.flat = true;
            auto& of_nodes = result_.of_nodes_;
            const auto known =
                std::find_if(of_nodes.begin(), of_nodes.end(), [&](const NamedAlgorithms& other) {
                    return other.choices[0].name == choice.name;
                });
            result_.number_of_node_[number] =
                static_cast<std::uint32_t>(known - of_nodes.begin()) + 1;
            if (known == of_nodes.end()) {
                of_nodes.push_back({{std::move(choice)}, entry.where() + ": " + entry.path()});
            }
        }
    }

    AlgorithmChoice open(const ConfigView& item) {
        AlgorithmChoice choice;
        if (item.is_map() && item.has("by_size")) {
            result_.tables_.push_back(
                std::make_unique<const SizeTable>(SizeTable::from_config(item, protocols_)));
            choice.table = result_.tables_.back().get();
            choice.name = "by_size at " + item.where();
            return choice;
        }
        result_.sources_.push_back(programs_.open(item));
        choice.source = result_.sources_.back().get();
        const std::string file = (item.is_map() ? item.at("file") : item).as_string();
        choice.name = file.substr(file.find_last_of('/') + 1);
        return choice;
    }

    std::uint32_t dimensions_;
    const std::vector<Protocol>& protocols_;
    const ProgramReader& programs_;
    CollectiveAlgorithms result_;
};

CollectiveAlgorithms CollectiveAlgorithms::from_config(const ConfigView& system,
                                                       std::uint32_t dimensions,
                                                       const std::vector<Protocol>& protocols,
                                                       const MeasuredTimes& measured,
                                                       const ProgramReader& reader) {
    return AlgorithmReader(dimensions, protocols, reader)
        .read(system.section("collectives"), measured);
}

}  // namespace astra
