#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "astra/app/checked_network.h"
#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/config/astra_sim/astra_sim_parts.h"
#include "astra/config/config_tree.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/results/output_folder.h"
#include "network/backend/network_warnings.h"
#include "network/routing/fabric_report.h"
#include "network/routing/graphviz.h"
#include "network/topology/topology_reader.h"

namespace astra {

namespace {

constexpr std::size_t kListedClasses = 20;
constexpr std::size_t kListedPairs = 10;
constexpr std::size_t kMostCutPairs = 1000;
constexpr std::uint32_t kMostDrawnLinks = 20'000;

using Out = std::back_insert_iterator<std::string>;

void declare(OptionSet& options) {
    options.add_list("set", "KEY=VALUE", "overrides a key: --set network.dimensions.0.ranks=16");
    options.add_value(
        "network-configuration", "FILE", "network YAML (ASTRA-sim), in place of a study");
    options.add_value("network-unit",
                      "UNIT",
                      "bytes a second that a bandwidth of the network YAML counts, 2^30 (default) "
                      "or 10^9",
                      {"GiB", "GB"});
    options.add_value(
        "graphviz", "FILE", "writes a drawing for Graphviz's dot (default: none is written)");
}

ConfigTree read_study(const OptionSet& options) {
    const auto& files = options.positional();
    const auto astra_sim = options.value("network-configuration");
    if (files.size() + (astra_sim ? 1 : 0) != 1) {
        throw ConfigError("inspect network: needs one study file, or --network-configuration=FILE");
    }
    if (!astra_sim && options.value("network-unit")) {
        throw ConfigError(
            "--network-unit goes with --network-configuration; a study has units of its own");
    }
    ConfigTree study = ConfigTree::empty_map("command line");
    if (astra_sim) {
        const std::string unit = options.value("network-unit").value_or("GiB");
        if (unit != "GiB" && unit != "GB") {
            throw ConfigError(fmt::format("--network-unit: '{}' is neither GiB nor GB", unit));
        }
        const ConfigTree network = ConfigTree::parse_file(*astra_sim, FilePurpose::Network);
        translate_network(network.root(), unit, study);
        network.reject_unread();
    } else {
        study = ConfigTree::parse_file(files.front(), FilePurpose::Study);
    }
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    return study;
}

std::string in_both_units(Bandwidth bandwidth) {
    return fmt::format(
        "{:.6g} Gbps ({})", static_cast<double>(bandwidth.bits_per_s) / 1e9, to_text(bandwidth));
}

double percent(std::uint64_t part, std::uint64_t whole) {
    return 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

std::string number_of_paths(std::uint64_t paths) {
    return paths == kMaxPs ? "over 1.8e19" : std::to_string(paths);
}

std::string describe_links(const FabricReport& report) {
    std::string text = fmt::format("links            {}, one direction each", report.links);
    text += report.down_links == 0 ? "\n" : fmt::format("; {} are down\n", report.down_links);
    const std::size_t listed = std::min(report.classes.size(), kListedClasses);
    for (std::size_t i = 0; i < listed; ++i) {
        const LinkClassReport& one = report.classes[i];
        fmt::format_to(Out(text),
                       "                 {} of {}, {}{}\n",
                       one.links,
                       to_text(one.properties.bandwidth),
                       to_text(one.properties.latency),
                       one.down == 0 ? "" : fmt::format("; {} are down", one.down));
    }
    if (report.classes.size() > listed) {
        fmt::format_to(Out(text),
                       "                 and {} more kinds of links\n",
                       report.classes.size() - listed);
    }
    return text;
}

std::string describe_distances(const FabricReport& report) {
    const PathReport& paths = report.paths;
    return fmt::format(
        "pairs            {} with a path{}\n"
        "diameter         {} links; mean distance {:.6g} links\n"
        "longest path     {}, the largest sum of latencies along a shortest path\n",
        paths.pairs,
        paths.destinations == report.ranks
            ? ""
            : fmt::format(", of {} chosen destinations", paths.destinations),
        paths.diameter_links,
        paths.mean_links,
        to_text(paths.longest));
}

std::string describe_diversity(const char* title, const PathReport& paths) {
    return fmt::format(
        "{:<16} {} to {} a pair, {:.6g} on average; all share their first link in {:.4g} % of the "
        "pairs, their last in {:.4g} %\n",
        title,
        number_of_paths(paths.fewest_paths),
        number_of_paths(paths.most_paths),
        paths.mean_paths,
        percent(paths.pairs_of_one_first_link, paths.pairs),
        percent(paths.pairs_of_one_last_link, paths.pairs));
}

std::string describe_bisection(const FabricReport& report) {
    const BisectionReport& cut = report.bisection;
    if (!cut.known) {
        return "bisection        not worked out: the fabric is too large for a maximum flow\n";
    }
    const std::uint32_t half = report.ranks / 2;
    std::string text = fmt::format("bisection        {}: maximum flow from ranks 0-{} to {}-{}\n",
                                   in_both_units(cut.forth),
                                   half - 1,
                                   half,
                                   report.ranks - 1);
    if (cut.back != cut.forth) {
        fmt::format_to(Out(text), "                 {} the other way\n", in_both_units(cut.back));
    }
    if (cut.full.bits_per_s > 0) {
        fmt::format_to(
            Out(text),
            "                 {:.4g} of full bisection: the first half injects {}\n",
            static_cast<double>(cut.forth.bits_per_s) / static_cast<double>(cut.full.bits_per_s),
            in_both_units(cut.full));
    }
    return text;
}

std::string describe(Routing& routing) {
    const Topology& topology = routing.topology();
    const FabricReport report = report_fabric(routing);
    std::string text =
        fmt::format("network          {}\nranks            {}\nswitches         {}\n",
                    topology.describe(),
                    report.ranks,
                    report.switches);
    text += describe_links(report);
    if (report.ranks == 1) {
        return text;
    }
    text += describe_distances(report);
    if (report.paths.pairs > 0) {
        text += describe_diversity("shortest paths", report.paths);
    }
    // A link that is down makes every policy look at the whole graph.
    if (topology.physical_dimensions() > 1 && report.down_links == 0 && report.paths.pairs > 0) {
        Routing in_order(topology, RoutePolicy::DimensionOrder, 1);
        text += describe_diversity("dimension order",
                                   report_paths(in_order, report.paths.destinations));
    }
    text += describe_bisection(report);
    return text;
}

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

std::string describe_cut(const Pairs& pairs) {
    if (pairs.empty()) {
        return "cut pairs        none\n";
    }
    std::string text = fmt::format(
        "cut pairs        {}{}:", pairs.size() == kMostCutPairs ? "at least " : "", pairs.size());
    for (std::size_t i = 0; i < std::min(pairs.size(), kListedPairs); ++i) {
        fmt::format_to(
            Out(text), "{} {} -> {}", i == 0 ? "" : ",", pairs[i].first, pairs[i].second);
    }
    return text + (pairs.size() > kListedPairs ? ", ...\n" : "\n");
}

void write_drawing(const std::string& file, const Routing& routing) {
    const std::filesystem::path path(file);
    if (path.filename().empty()) {
        throw ConfigError("--graphviz: needs the name of a file");
    }
    const std::uint32_t links = routing.topology().links();
    if (links > kMostDrawnLinks) {
        throw ConfigError(
            fmt::format("--graphviz: the fabric has {} links; with more than {} Graphviz takes "
                        "hours and nobody can read the drawing",
                        links,
                        kMostDrawnLinks));
    }
    const std::string folder = path.parent_path().string();
    OutputFolder output(folder.empty() ? "." : folder);
    output.write(path.filename().string(), graphviz(routing));
}

constexpr const char* kUsage =
    "usage: astra inspect network STUDY.yml [options]\n"
    "       astra inspect network --network-configuration=FILE [options]\n\n"
    "Describes the fabric of a study: links, distances, shortest paths and bisection bandwidth "
    "(docs/topologies.md says how they are defined). Exit status 2 if a pair of ranks has no "
    "path.";

int inspect_network(const OptionSet& options) {
    const ConfigTree study = read_study(options);
    const ConfigView network = study.root().at("network");
    pass_over_sections_but(study.root(), {"network"});
    const Topology topology = read_topology(network);
    Routing routing(topology, RoutePolicy::Ecmp, 1);
    // A fabric that is cut is described first: reading its routing is what then fails.
    const Pairs cut = routing.cut_pairs(kMostCutPairs);
    if (cut.empty()) {
        Warnings warnings;
        const Routing checked = checked_routing(network, topology);
        study.reject_unread();
        warn_of_network(study, checked, read_backend(network), warnings);
        for (const std::string& warning : warnings.texts()) {
            fmt::print(stderr, "astra: warning: {}\n", warning);
        }
    }
    if (const auto file = options.value("graphviz")) {
        write_drawing(*file, routing);
    }
    std::fputs((describe(routing) + describe_cut(cut)).c_str(), stdout);
    if (!cut.empty()) {
        checked_routing(network, topology);
        study.reject_unread();
    }
    return 0;
}

}  // namespace

extern const Command kInspectNetwork;
const Command kInspectNetwork = {.name = "network",
                                 .summary = "distances, paths and bandwidths of a fabric",
                                 .usage = kUsage,
                                 .declare = declare,
                                 .act = inspect_network};

}  // namespace astra
