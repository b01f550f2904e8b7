#include "astra/simulation/jobs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "workload/training/window_report.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostIterations = 1'000'000;

// "0-7" or "5": the first and the last rank.
std::pair<std::uint32_t, std::uint32_t> parse_range(const ConfigView& item, std::uint32_t ranks) {
    const std::string text = item.as_string();
    const std::size_t dash = text.find('-');
    const auto number = [&](std::string_view digits) {
        std::uint32_t value = 0;
        const auto end = digits.data() + digits.size();
        const auto parsed = std::from_chars(digits.data(), end, value);
        if (digits.empty() || parsed.ec != std::errc() || parsed.ptr != end || value >= ranks) {
            item.fail(fmt::format(
                "'{}' is not a rank below {} or a range of them, as in 0-7", text, ranks));
        }
        return value;
    };
    const std::string_view view = text;
    if (dash == std::string::npos) {
        const std::uint32_t only = number(view);
        return {only, only};
    }
    const auto range = std::pair{number(view.substr(0, dash)), number(view.substr(dash + 1))};
    if (range.first > range.second) {
        item.fail(fmt::format("the range '{}' runs backwards", text));
    }
    return range;
}

void refuse_several_kinds(const ConfigView& workload) {
    std::string first;
    for (const char* key : {"trace", "generate", "flows"}) {
        const auto source = workload.find(key);
        if (source && !first.empty()) {
            source->fail(fmt::format(
                "a workload is read (trace), generated (generate) or a flow set (flows); this one "
                "has {} already",
                first));
        }
        first = source ? key : first;
    }
}

}  // namespace

JobReader::JobReader(const ConfigView& study, std::uint32_t ranks) {
    const auto jobs = study.find("jobs");
    if (!jobs) {
        Spec spec;
        spec.ranks.resize(ranks);
        std::iota(spec.ranks.begin(), spec.ranks.end(), 0U);
        read_workload(study.at("workload"), spec);
        specs_.push_back(std::move(spec));
        return;
    }
    if (const auto workload = study.find("workload")) {
        workload->fail("a study has either workload or jobs");
    }
    std::vector<std::string> owner(ranks);
    std::set<std::string> names;
    for (const ConfigView& item : jobs->items()) {
        Spec spec;
        spec.name = item.string_or("name", fmt::format("job{}", specs_.size()));
        if (!names.insert(spec.name).second) {
            item.fail(fmt::format("two jobs are called '{}'", spec.name));
        }
        spec.ranks = read_ranks(item.at("ranks"), ranks);
        spec.start = {item.duration_or("start", {}).ps};
        for (const std::uint32_t rank : spec.ranks) {
            if (!owner[rank].empty()) {
                item.at("ranks").fail(
                    fmt::format("rank {} already belongs to job '{}'", rank, owner[rank]));
            }
            owner[rank] = spec.name;
        }
        read_workload(item.at("workload"), spec);
        specs_.push_back(std::move(spec));
    }
    if (specs_.empty()) {
        jobs->fail("names no job");
    }
}

std::vector<std::uint32_t> JobReader::read_ranks(const ConfigView& list, std::uint32_t ranks) {
    std::vector<std::uint32_t> result;
    for (const ConfigView& item : list.items()) {
        const auto [first, last] = parse_range(item, ranks);
        for (std::uint32_t rank = first; rank <= last; ++rank) {
            result.push_back(rank);
        }
    }
    if (result.empty()) {
        list.fail("names no rank");
    }
    std::vector<std::uint32_t> sorted = result;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        list.fail(fmt::format("rank {} is named twice", *twice));
    }
    return result;
}

void JobReader::read_workload(const ConfigView& workload, Spec& spec) {
    refuse_several_kinds(workload);
    if (const auto flows = workload.find("flows")) {
        spec.flow_file = flows->as_file_name();
        std::error_code ignored;
        if (!std::filesystem::exists(spec.flow_file, ignored)) {
            flows->fail(fmt::format("no file '{}'", spec.flow_file));
        }
        return;
    }
    const std::array<std::string, 2> meanings = {"shard", "total"};
    spec.all_gather_shards = workload.choice_or("all_gather_size", "shard", meanings) == "shard";
    spec.traces.ranks = static_cast<std::uint32_t>(spec.ranks.size());
    read_training(workload, spec);
    if (const auto generate = workload.find("generate")) {
        read_generator(*generate, spec);
        return;
    }
    spec.traces.prefix = workload.at("trace").as_file_name();
    if (const auto groups = workload.find("groups")) {
        spec.traces.group_file = groups->as_file_name();
    }
    spec.traces.element_bytes = workload.integer_or("element_bytes", 1, 1, 1U << 20);
}

void JobReader::read_training(const ConfigView& workload, Spec& spec) {
    spec.workload_where = workload.where() + ": " + workload.path() + ": ";
    const auto asks = [&](const ConfigView& key) {
        spec.training_where = key.where() + ": " + key.path() + ": ";
    };
    if (const auto iterations = workload.find("iterations")) {
        spec.training.iterations =
            static_cast<std::uint32_t>(iterations->as_integer(1, kMostIterations));
        asks(*iterations);
    }
    if (const auto barrier = workload.find("iteration_barrier")) {
        const std::string text = barrier->as_string();
        const std::array<std::string_view, 8> switches = {
            "true", "false", "yes", "no", "on", "off", "1", "0"};
        if (std::find(switches.begin(), switches.end(), text) != switches.end()) {
            spec.training.barrier = barrier->as_bool();
        } else if (text != "auto") {
            spec.training.barrier = false;
            spec.training.barrier_op = text;
        }
        asks(*barrier);
    }
    if (const auto rules = workload.find("training_rules")) {
        spec.training.rule_file = rules->as_file_name();
        asks(*rules);
    }
}

void JobReader::look_for_windows() {
    for (Spec& spec : specs_) {
        if (spec.training_where.empty()) {
            spec.training_where = spec.workload_where;
        }
    }
}

TrainingReport JobReader::prepare(const Spec& spec,
                                  const SystemTimes& system,
                                  const PolicyTraits& policy,
                                  Workload& workload,
                                  Warnings& warnings) {
    if (spec.training_where.empty() && !policy.queues) {
        return {};
    }
    TrainingReport report;
    try {
        report = prepare_training(workload, spec.training, policy, system, warnings);
    } catch (const ConfigError& error) {
        throw ConfigError(spec.training_where + error.what());
    }
    if (report.windows.empty() && !spec.training_where.empty()) {
        throw TraceError(spec.training_where +
                         "no gradient transfers: " + why_no_transfers(workload));
    }
    return report;
}

void JobReader::read_generator(const ConfigView& generate, Spec& spec) {
    for (const auto& [key, value] : generate.entries()) {
        (key == "kind" ? spec.generator : spec.parameters[key]) = value.as_string();
    }
    generate.at("kind");
    const Generator* generator = generators().find(spec.generator);
    for (const GeneratorParameter& parameter :
         generator == nullptr ? std::span<const GeneratorParameter>() : generator->parameters) {
        const std::string name(parameter.name);
        std::string& value = spec.parameters[name];
        value = generate.string_or(name, std::string(parameter.fallback));
        if (parameter.is_file && !value.empty()) {
            value = generate.at(name).as_file_name();
        }
    }
    spec.generated = true;
    spec.where = generate.where() + ": " + generate.path() + ": ";
}

Workload JobReader::generate(const Spec& spec, Warnings& warnings) {
    try {
        return generate_workload(spec.generator, spec.parameters, spec.traces.ranks, warnings);
    } catch (const ConfigError& error) {
        throw ConfigError(spec.where + error.what());
    }
}

bool JobReader::has_work(const Workload& workload, const SystemTimes& system) {
    std::set<const ExecutionGraph*> seen;
    return std::any_of(workload.ranks.begin(), workload.ranks.end(), [&](const RankTrace& rank) {
        return seen.insert(rank.graph.get()).second && astra::has_work(*rank.graph, system);
    });
}

LoadedJobs JobReader::load(const SystemTimes& system,
                           const PolicyTraits& policy,
                           Warnings& warnings) const {
    LoadedJobs jobs;
    for (const Spec& spec : specs_) {
        if (!spec.flow_file.empty()) {
            FlowSet flows =
                FlowSet::read(spec.flow_file, static_cast<std::uint32_t>(spec.ranks.size()));
            jobs.have_work = true;
            jobs.flows.push_back({spec.name, std::move(flows), spec.ranks, spec.start});
            continue;
        }
        TraceSource traces = spec.traces;
        // A policy of transfers orders these itself, and one of computations both.
        traces.streams = StreamUse{!policy.queues, system.replay.threads_of_trace};
        if (!system.replay.streams_of_trace || policy.compute_order) {
            traces.streams.reset();
        }
        Job job;
        job.name = spec.name;
        job.fabric_ranks = spec.ranks;
        job.start = spec.start;
        job.all_gather_shards = spec.all_gather_shards;
        job.workload = spec.generated ? generate(spec, warnings) : load_traces(traces, warnings);
        jobs.have_work = jobs.have_work || has_work(job.workload, system);
        jobs.training.push_back(prepare(spec, system, policy, job.workload, warnings));
        jobs.traces.push_back(std::move(job));
    }
    if (!jobs.have_work) {
        warnings.add(
            "no op of any rank takes time or bytes: nothing is simulated; are these the traces "
            "that were meant? ('astra inspect trace' counts what is in them)");
    }
    return jobs;
}

}  // namespace astra
