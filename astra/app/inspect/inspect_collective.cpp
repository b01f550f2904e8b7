#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "astra/app/checked_network.h"
#include "astra/app/collective_names.h"
#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/config/config_tree.h"
#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/kind_names.h"
#include "astra/results/output_folder.h"
#include "astra/results/schedule_drawing.h"
#include "astra/simulation/jobs.h"
#include "network/topology/topology_reader.h"
#include "system/engine/engine_config.h"
#include "system/program/program_report.h"
#include "system/program/verifier/verifier.h"
#include "system/synthesis/bandwidth_bound.h"
#include "system/tuning/algorithm_choice.h"
#include "workload/custom_collective/chakra_collective.h"
#include "workload/custom_collective/program_blocks.h"
#include "workload/custom_collective/program_files.h"

namespace astra {

namespace {

// The verifier's state, and what a list of messages takes.
constexpr std::uint64_t kMostStateBytes = std::uint64_t{256} << 20U;
constexpr std::uint64_t kMostListedMessages = std::uint64_t{1} << 22U;
// All pairs of members are looked at for a bound.
constexpr std::uint32_t kMostBoundMembers = 2048;

using Out = std::back_insert_iterator<std::string>;

void declare(OptionSet& options) {
    options.add_value(
        "collective", "KIND", "what is to be done (default: all_reduce)", collective_kind_names());
    options.add_value("algorithm",
                      "NAME",
                      "how, over all ranks at once (default: what the machine "
                      "says, if it is one)",
                      plain_algorithm_names());
    options.add_value("size", "SIZE", "of the whole buffer (default: 1MiB)");
    options.add_value("ranks", "LIST", "the ranks that take part, as 0-7 (default: all)");
    options.add_value("root", "N", "member, of the kinds that have one (default: 0)");
    options.add_list("set", "KEY=VALUE", "overrides a key of the study");
    options.add_value("svg", "FILE", "draws the schedule (default: not)");
    options.add_value("save", "PREFIX", "writes the program as Chakra files (default: not)");
}

ConfigTree read_study(const OptionSet& options, CollectiveKind kind) {
    if (options.positional().size() != 1) {
        throw ConfigError("inspect collective: needs one machine, a study file");
    }
    ConfigTree study = ConfigTree::parse_file(options.positional().front(), FilePurpose::Study);
    for (const std::string& assignment : options.list("set")) {
        study.set(assignment);
    }
    if (const auto algorithm = options.value("algorithm")) {
        choose_algorithm(study, kind, *algorithm);
    }
    return study;
}

Bytes read_size(const OptionSet& options) {
    const std::string text = options.value("size").value_or("1MiB");
    const auto size = parse_bytes(text);
    if (!size || size->count == 0) {
        throw ConfigError(fmt::format("--size: '{}' is not a size above 0, as in 64MiB", text));
    }
    return *size;
}

std::vector<std::uint32_t> chosen_ranks(const OptionSet& options, const Topology& topology) {
    std::vector<std::uint32_t> ranks(topology.ranks());
    std::iota(ranks.begin(), ranks.end(), 0U);
    if (const auto list = options.value("ranks")) {
        const ConfigTree tree = ConfigTree::parse_text("ranks: [" + *list + "]", "--ranks");
        ranks = JobReader::read_ranks(tree.root().at("ranks"), topology.ranks());
    }
    if (ranks.size() == 1) {
        throw ConfigError("inspect collective: a single rank has nothing to exchange");
    }
    return ranks;
}

AlgorithmChoice single_choice(const EngineConfig& system, CollectiveKind kind) {
    const NamedAlgorithms& algorithms = system.plan.algorithms.of(kind);
    if (algorithms.choices.size() != 1) {
        throw ConfigError(
            fmt::format("{}: {} algorithms, one a dimension; "
                        "--algorithm=NAME names the one to look at",
                        algorithms.where,
                        algorithms.choices.size()));
    }
    const AlgorithmChoice& choice = algorithms.choices.front();
    if (choice.algorithm == nullptr && choice.source == nullptr) {
        throw ConfigError(
            fmt::format("'{}' is no algorithm that has a program of its own: name the "
                        "one to look at with --algorithm=NAME",
                        choice.name));
    }
    return choice;
}

// Blocks of a reduce_scatter are equal anyway.
CollectiveKind program_kind(CollectiveKind kind) {
    return kind == CollectiveKind::ReduceScatterBlock ? CollectiveKind::ReduceScatter : kind;
}

// Members are built in this order and refer to the ones before.
class Inspection {
  public:
    explicit Inspection(const OptionSet& options)
        : kind_(kind_named("--collective", options.value("collective").value_or("all_reduce"))),
          size_(read_size(options)),
          study_(read_study(options, kind_)),
          topology_(read_topology(study_.root().at("network"))),
          routing_(checked_routing(study_.root().at("network"), topology_)),
          ranks_(chosen_ranks(options, topology_)),
          system_(EngineConfig::from_config(
              study_.root().section("system"), topology_.dimensions(), ProgramFiles())),
          choice_(single_choice(system_, kind_)) {
        pass_over_sections_but(study_.root(), {"network", "system"});
        study_.reject_unread();
        shape_ = choice_.shape(program_kind(kind_), static_cast<std::uint32_t>(ranks_.size()));
        shape_.root = root(options);
        program_.emplace(make());
        report_ = report_program(*program_, size_);
        if (report_.messages <= kMostListedMessages) {
            messages_ = list_messages(*program_, size_);
        }
    }

    std::string describe() const {
        return title() + "\n" + describe_program() + describe_bytes() + describe_bound();
    }

    // Throws InputError if the verifier refutes the program.
    std::string prove() const {
        if (state_bytes() > kMostStateBytes) {
            return fmt::format(
                "proof            none: to run {} members on symbols "
                "would take {}, over {}\n",
                shape_.members,
                to_text(Bytes{state_bytes()}),
                to_text(Bytes{kMostStateBytes}));
        }
        const Verdict verdict = verify(*program_, kind_, shape_.root);
        if (!verdict.correct) {
            throw InputError(fmt::format("{} does not do what {} promises: {}",
                                         choice_.name,
                                         name_of(kind_),
                                         verdict.fault));
        }
        return fmt::format(
            "proof            correct: every rank ends with what {} "
            "promises, whatever the order "
            "of events\n",
            name_of(kind_));
    }

    std::string draw() const {
        if (messages_.empty()) {
            return fmt::format("schedule         not drawn: {} messages\n", report_.messages);
        }
        return "schedule         in each round who sends to whom (>) which blocks "
               "(b), to be added "
               "there (+)\n" +
               schedule_text(messages_, shape_.members, report_.rounds);
    }

    std::string save(const std::string& prefix) const {
        if (in_switch() || report_.messages > kMostListedMessages) {
            throw InputError(in_switch()
                                 ? "--save: here switches reduce, which no such file can say"
                                 : "--save: more than 4194304 messages cannot be read back");
        }
        const std::string refusal = thread_blocks_refusal(*program_, kind_);
        if (!refusal.empty()) {
            throw InputError("--save: " + refusal);
        }
        const std::filesystem::path path(prefix);
        if (path.has_parent_path()) {
            std::error_code failed;  // said by the writer, with the file
            std::filesystem::create_directories(path.parent_path(), failed);
        }
        const std::uint32_t files = write_chakra_collective(
            thread_block_algorithm_of(*program_, kind_, shape_.root, choice_.name), prefix);
        return fmt::format("saved            {0}.0.et to {0}.{1}.et\n", prefix, files - 1);
    }

    std::string write_picture(const std::string& file) const {
        if (messages_.empty() || messages_.size() > kMostDrawnMessages ||
            shape_.members > kMostDrawnMembers) {
            return fmt::format(
                "picture          none: {} messages of {} members, "
                "over {} or {}: nobody could read "
                "it\n",
                report_.messages,
                shape_.members,
                kMostDrawnMessages,
                kMostDrawnMembers);
        }
        const std::filesystem::path path(file);
        if (path.filename().empty()) {
            throw ConfigError("--svg: needs the name of a file");
        }
        const std::string folder = path.parent_path().string();
        OutputFolder output(folder.empty() ? "." : folder);
        output.write(path.filename().string(),
                     schedule_svg(messages_, shape_.members, report_.rounds, title()));
        return fmt::format("picture          {}\n", file);
    }

  private:
    std::uint32_t root(const OptionSet& options) const {
        if (!has_root(kind_)) {
            if (options.value("root")) {
                throw ConfigError(fmt::format("--root: {} has none", name_of(kind_)));
            }
            return 0;
        }
        return static_cast<std::uint32_t>(
            options.integer("root", 0, shape_.members - 1).value_or(0));
    }

    Program make() {
        Warnings warnings;
        const ProgramRequest request{
            shape_,
            routing_,
            ranks_,
            choice_.source == nullptr ? Bytes{} : choice_.source->size_class(size_),
            system_.endpoint.delay,
            system_.endpoint.memory};
        const std::string refusal = choice_.source == nullptr
                                        ? choice_.algorithm->refusal(shape_)
                                        : choice_.source->refusal(request, warnings);
        for (const std::string& warning : warnings.texts()) {
            fmt::print(stderr, "astra: warning: {}\n", warning);
        }
        if (!refusal.empty()) {
            throw InputError(fmt::format("algorithm '{}' cannot run {} over {} ranks: {}",
                                         choice_.name,
                                         name_of(kind_),
                                         shape_.members,
                                         refusal));
        }
        return choice_.source == nullptr ? make_program(*choice_.algorithm, shape_)
                                         : choice_.source->make(request);
    }

    std::string title() const {
        return fmt::format("{} of {} with {} over {} ranks",
                           name_of(kind_),
                           to_text(size_),
                           choice_.name,
                           shape_.members);
    }

    std::string describe_program() const {
        const auto stored = [&]() -> std::string {
            switch (program_->relation()) {
                case Relation::Rotation:
                    return "one sequence for all members, turned";
                case Relation::Xor:
                    return "one sequence for all members, by exclusive or";
                case Relation::Grid:
                    return "one sequence for all members, level by level";
                case Relation::Absolute:
                    break;
            }
            return "a sequence for each member";
        };
        return fmt::format(
            "program          {} blocks of {}; {}, {} messages stored\n"
            "rounds           {}, the messages on the longest chain{}\n"
            "messages         {}, a member sends {} at most\n",
            program_->blocks(),
            to_text(Bytes{program_->cut(size_).base}),
            stored(),
            program_->stored_sends(),
            report_.rounds,
            report_.finishes ? "" : "; some steps wait for ever",
            report_.messages,
            report_.messages_most);
    }

    std::string describe_bytes() const {
        const double mean = static_cast<double>(report_.sent_by_all.count) / shape_.members;
        std::string text = fmt::format(
            "sent             {:.0f} B a member on average, {} B at "
            "most; received {} B "
            "at most\n",
            mean,
            report_.sent_most.count,
            report_.received_most.count);
        const Bytes least = least_bytes_sent(kind_, shape_.members, size_);
        if (least.count > 0 && !in_switch()) {
            fmt::format_to(
                Out(text),
                "optimality       {:.4f}: sent on average over {:.0f} B, "
                "the least that {} needs "
                "a member\n",
                static_cast<double>(report_.sent_by_all.count) / static_cast<double>(least.count),
                static_cast<double>(least.count) / shape_.members,
                name_of(kind_));
        }
        return text;
    }

    bool in_switch() const {
        return choice_.source == nullptr && choice_.algorithm->in_switch != nullptr;
    }

    // The bound of the links between these ranks, where it is known.
    std::string describe_bound() const {
        if (in_switch()) {
            return "in the switch    the switch reduces and multicasts: of these messages the "
                   "links carry a part only\n";
        }
        const bool known = shape_.kind == CollectiveKind::AllReduce ||
                           shape_.kind == CollectiveKind::AllGather ||
                           shape_.kind == CollectiveKind::ReduceScatter;
        if (!known || shape_.members > kMostBoundMembers) {
            return "";
        }
        const GroupGraph graph(routing_, ranks_);
        return fmt::format(
            "link bound       {}: no schedule over the links "
            "between these ranks is faster\n",
            to_text(bandwidth_bound(graph, shape_.kind, size_)));
    }

    std::uint64_t state_bytes() const {
        const std::uint64_t members = shape_.members;
        const std::uint64_t positions = program_->positions();
        const std::uint64_t words = (members + 63) / 64;
        switch (kind_) {
            case CollectiveKind::AllToAll:
                return saturating_multiply(8 * members * members, positions);
            case CollectiveKind::Barrier:
                return 8 * members * words;
            default:
                return saturating_multiply(8 * members * words, positions);
        }
    }

    CollectiveKind kind_;
    Bytes size_;
    ConfigTree study_;
    Topology topology_;
    mutable Routing routing_;  // looks paths up as they are asked for
    std::vector<std::uint32_t> ranks_;
    EngineConfig system_;
    AlgorithmChoice choice_;
    ProgramShape shape_;
    std::optional<Program> program_;
    ProgramReport report_;
    std::vector<ProgramMessage> messages_;  // none if there are too many
};

constexpr const char* kUsage =
    "usage: astra inspect collective MACHINE.yml [options]\n\n"
    "Says what an algorithm does: rounds, messages and bytes, "
    "how near it is to the least "
    "possible, and whether it is correct, and draws its "
    "schedule. MACHINE.yml is a study, of "
    "which `network` and `system` count. Exit status 2 if the "
    "algorithm is not correct.";

int inspect_collective(const OptionSet& options) {
    const Inspection inspection(options);
    std::fputs((inspection.describe() + inspection.draw()).c_str(), stdout);
    if (const auto file = options.value("svg")) {
        std::fputs(inspection.write_picture(*file).c_str(), stdout);
    }
    std::fputs(inspection.prove().c_str(), stdout);
    if (const auto prefix = options.value("save")) {
        std::fputs(inspection.save(*prefix).c_str(), stdout);
    }
    return 0;
}

}  // namespace

extern const Command kInspectCollective;
const Command kInspectCollective = {.name = "collective",
                                    .summary = "what an algorithm does, and whether it is correct",
                                    .usage = kUsage,
                                    .declare = declare,
                                    .act = inspect_collective};

}  // namespace astra
