// `astra collective`: collectives × algorithms × sizes on one machine, as nccl-tests measure them.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "astra/app/collective/collective_table.h"
#include "astra/app/collective_names.h"
#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/config/config_tree.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/kind_names.h"
#include "astra/results/output_folder.h"
#include "astra/simulation/simulation.h"
#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"
#include "system/plan/plan_maker.h"
#include "system/tuning/algorithm_choice.h"

namespace astra {

namespace {

constexpr std::size_t kMostSizes = 1000;

constexpr const char* kUsage =
    "usage: astra collective MACHINE.yml [options]\n\n"
    "Measures collectives on a simulated machine as nccl-tests do on a real one: every kind with\n"
    "every algorithm at every size, each alone on an idle network. MACHINE.yml is a study without "
    "a\n"
    "workload. Sizes are those of nccl-tests: the whole buffer.";

void declare(OptionSet& options) {
    options.add_value("collective", "LIST", "kinds (default: all_reduce)", collective_kind_names());
    options.add_value("algorithm",
                      "LIST",
                      "algorithms, one for all dimensions each (default: all that can)",
                      plain_algorithm_names());
    options.add_value(
        "size", "LIST", "sizes, as 1MiB,64MiB or FROM:TO:xFACTOR (default: 1KiB:1GiB:x4)");
    options.add_value("ranks", "LIST", "the ranks that take part, as 0-7 (default: all)");
    options.add_value(
        "backend", "NAME", "network backend (default: the file's, or flow)", backends().names());
    options.add_value("transport",
                      "NAME",
                      "transport of the backend packet (default: the file's, or none)",
                      packet::transports().names());
    options.add_list("set", "KEY=VALUE", "overrides a key of the study");
    options.add_value("compare",
                      "FILE[:COLUMN]",
                      "measured bus bandwidths beside: nccl-tests' output, or a CSV 'bytes,…'");
    options.add_value("csv", "FILE", "writes the figures as CSV (default: not)");
    options.add_value("json", "FILE", "writes the figures as JSON (default: not)");
    options.add_flag("quiet", "no table");
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        parts.push_back(list.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

Bytes read_size(const std::string& text) {
    const auto size = parse_bytes(text);
    if (!size || size->count == 0) {
        throw ConfigError(fmt::format("--size: '{}' is not a size above 0, as in 64MiB", text));
    }
    return *size;
}

void add_range(const std::string& text, std::vector<Bytes>& sizes) {
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', first + 1);
    const bool complete = second != std::string::npos && second + 1 < text.size() &&
                          text[second + 1] == 'x' && text.size() - second <= 8;
    const std::string digits = complete ? text.substr(second + 2) : "";
    const bool whole =
        !digits.empty() && digits.find_first_not_of("0123456789") == std::string::npos;
    const std::uint64_t factor = whole ? std::stoull(digits) : 0;
    if (factor < 2) {
        throw ConfigError(fmt::format(
            "--size: '{}' is not FROM:TO:xFACTOR with a factor of 2 or more, as in 1KiB:1GiB:x4",
            text));
    }
    const Bytes from = read_size(text.substr(0, first));
    const Bytes to = read_size(text.substr(first + 1, second - first - 1));
    if (from > to) {
        throw ConfigError(fmt::format("--size: '{}' runs backwards", text));
    }
    for (std::uint64_t size = from.count; size <= to.count;
         size = saturating_multiply(size, factor)) {
        sizes.push_back({size});
    }
}

std::vector<Bytes> read_sizes(const std::string& list) {
    std::vector<Bytes> sizes;
    for (const std::string& item : split(list)) {
        if (item.find(':') == std::string::npos) {
            sizes.push_back(read_size(item));
        } else {
            add_range(item, sizes);
        }
        if (sizes.size() > kMostSizes) {
            throw ConfigError(fmt::format("--size: more than {} sizes", kMostSizes));
        }
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
}

std::vector<CollectiveKind> read_kinds(const std::string& list) {
    std::vector<CollectiveKind> kinds;
    for (const std::string& item : split(list)) {
        kinds.push_back(kind_named("--collective", item));
    }
    return kinds;
}

// Names as given, or all of which a size is not part of the name.
std::vector<std::string> read_algorithms(const std::optional<std::string>& list) {
    if (!list) {
        return plain_algorithm_names();
    }
    std::vector<std::string> names;
    for (const std::string& item : split(*list)) {
        if (is_program_file(item)) {
            names.push_back(item);
            continue;
        }
        const AlgorithmChoice choice = parse_algorithm(item);
        if (!choice.valid()) {
            throw ConfigError("--algorithm: " + choice.fault);
        }
        names.push_back(item);
    }
    return names;
}

class Machine {
  public:
    Machine(std::string file, const OptionSet& options)
        : file_(std::move(file)), options_(options) {}

    // Nothing where the algorithm cannot do the kind; `reason` then says why.
    std::optional<CollectiveTime> measure(CollectiveKind kind,
                                          const std::string& algorithm,
                                          Bytes bytes,
                                          std::string& reason) const {
        const RunResult result = simulate(Study(study(kind, algorithm, bytes)));
        if (result.collectives.empty()) {
            reason = "a single rank has nothing to exchange";
            return std::nullopt;
        }
        CollectiveTime time;
        time.kind = kind;
        time.algorithm = algorithm;
        time.picked = result.collectives.front().algorithm;
        time.ranks = result.collectives.front().ranks;
        time.bytes = bytes;
        time.time = {result.simulated.ps};
        time.need = result.collectives.front().need;
        return time;
    }

  private:
    ConfigTree study(CollectiveKind kind, const std::string& algorithm, Bytes bytes) const {
        ConfigTree tree = ConfigTree::parse_file(file_, FilePurpose::Study);
        for (const char* key : {"workload", "jobs", "background"}) {
            if (const auto present = tree.root().find(key)) {
                present->fail(
                    "a machine is a study without a workload: astra collective makes its own");
            }
        }
        for (const std::string& assignment : options_.list("set")) {
            tree.set(assignment);
        }
        if (const auto backend = options_.value("backend")) {
            tree.set("network.backend=" + *backend);
        }
        if (const auto transport = options_.value("transport")) {
            tree.set("network.packet.transport=" + *transport);
        }
        const std::string name = name_of(kind);
        choose_algorithm(tree, kind, algorithm);
        const std::string job = options_.value("ranks") ? "jobs.0." : "";
        if (const auto ranks = options_.value("ranks")) {
            tree.set("jobs.0.ranks=[" + *ranks + "]");
        }
        tree.set(job + "workload.generate.kind=collective");
        tree.set(job + "workload.generate.collective=" + name);
        tree.set(fmt::format("{}workload.generate.bytes={}B", job, bytes.count));
        tree.set(job + "workload.all_gather_size=total");
        return tree;
    }

    std::string file_;
    const OptionSet& options_;
};

void write_file(const std::string& path, const std::string& content) {
    const std::filesystem::path file(path);
    const std::string folder = file.has_parent_path() ? file.parent_path().string() : ".";
    OutputFolder(folder).write(file.filename().string(), content);
}

int measure_all(const OptionSet& options) {
    if (options.positional().size() != 1) {
        throw ConfigError("collective: needs one machine, a study file without a workload");
    }
    const Machine machine(options.positional().front(), options);
    const auto kinds = read_kinds(options.value("collective").value_or("all_reduce"));
    const auto algorithms = read_algorithms(options.value("algorithm"));
    const auto sizes = read_sizes(options.value("size").value_or("1KiB:1GiB:x4"));
    MeasuredBandwidths measured;
    if (const auto source = options.value("compare")) {
        measured = read_measured(*source);
    }
    std::vector<CollectiveTime> times;
    for (const CollectiveKind kind : kinds) {
        std::vector<std::string> able;
        std::vector<std::string> notes;
        for (const std::string& algorithm : algorithms) {
            std::string reason;
            try {
                for (const Bytes size : sizes) {
                    if (const auto time = machine.measure(kind, algorithm, size, reason)) {
                        times.push_back(*time);
                    }
                }
                able.push_back(algorithm);
            } catch (const AlgorithmRefused& refusal) {
                reason = refusal.reason();
            }
            if (!reason.empty()) {
                notes.push_back(fmt::format("# {}: {}\n", algorithm, reason));
            }
        }
        if (able.empty() && options.value("algorithm")) {
            throw ConfigError(fmt::format("--algorithm: none of {} can run {}:\n{}",
                                          *options.value("algorithm"),
                                          name_of(kind),
                                          fmt::join(notes, "")));
        }
        if (!options.flag("quiet")) {
            std::fputs(collective_table(kind, able, times, measured).c_str(), stdout);
            for (const std::string& note : notes) {
                std::fputs(note.c_str(), stdout);
            }
        }
    }
    if (const auto file = options.value("csv")) {
        write_file(*file, collectives_measured_csv(times));
    }
    if (const auto file = options.value("json")) {
        write_file(*file, collectives_measured_json(times));
    }
    return 0;
}

}  // namespace

extern const Command kCollectiveCommand;
const Command kCollectiveCommand = {.name = "collective",
                                    .summary = "measures collectives as nccl-tests do",
                                    .usage = kUsage,
                                    .declare = declare,
                                    .act = measure_all};

}  // namespace astra
