#include "workload/custom_collective/program_files.h"

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "system/program/verifier/verifier.h"
#include "workload/chakra/byte_source.h"
#include "workload/custom_collective/chakra_collective.h"
#include "workload/custom_collective/msccl_xml.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostWork = std::uint64_t{1} << 32U;    // words to go through
constexpr std::uint64_t kMostMemory = std::uint64_t{1} << 27U;  // words to keep

// What a proof would cost; "" if that is bearable.
std::string too_large(const Program& program) {
    const std::uint64_t words = program.members() / 64 + 2;
    std::uint64_t moved = 0;
    for (std::uint32_t send = 0; send < program.stored_sends(); ++send) {
        moved += program.send(send).payload.count;
    }
    const ThreadBlocks* thread_blocks = program.thread_blocks();
    for (std::size_t step = 0; thread_blocks != nullptr && step < program.stored_steps(); ++step) {
        for (const ThreadBlocks::Local& local : thread_blocks->locals(step)) {
            moved += local.count;
        }
    }
    const bool large = saturating_multiply(moved, words) > kMostWork ||
                       saturating_multiply(std::uint64_t{program.positions()} * program.members(),
                                           words) > kMostMemory;
    return large ? "too large to be proved: fewer chunks, steps or gpus are needed" : "";
}

// A program that says which data it moves: proved as it is read.
class ProvedProgram final : public ProgramSource {
  public:
    explicit ProvedProgram(const ThreadBlockAlgorithm& algorithm)
        : kind_(algorithm.kind), root_(algorithm.root), file_(algorithm.file) {
        try {
            program_ = program_of(algorithm);
        } catch (const TraceError&) {
            throw;  // says the file already
        } catch (const InputError& error) {
            throw TraceError(fmt::format("{}: {}", file_, error.what()));
        }
        std::string fault = too_large(program_);
        if (fault.empty()) {
            fault = kind_ ? verify(program_, *kind_, root_).fault : traffic_fault(program_);
        }
        if (!fault.empty()) {
            throw TraceError(fmt::format(
                "{}: the program is not {}: {}",
                file_,
                kind_ ? fmt::format("a correct {}", name_of(*kind_)) : std::string("correct"),
                fault));
        }
    }

    bool depends_on_ranks() const override { return false; }
    std::string refusal(const ProgramRequest& request, Warnings& warnings) const override {
        const ProgramShape& shape = request.shape;
        if (kind_ && *kind_ != shape.kind) {
            return fmt::format("the file holds {}", name_of(*kind_));
        }
        if (shape.members != program_.members()) {
            return fmt::format("the file is for {} ranks", program_.members());
        }
        if (has_root(shape.kind) && shape.root != root_) {
            return fmt::format("the file has its root at position {}, not {}", root_, shape.root);
        }
        if (!kind_) {
            warnings.add(
                fmt::format("{}: a custom collective promises nothing: its messages pair "
                            "and it cannot deadlock, but what data it moves is not proved",
                            file_));
        }
        return "";
    }
    Program make(const ProgramRequest& /*request*/) const override { return program_; }

  private:
    std::optional<CollectiveKind> kind_;
    std::uint32_t root_;
    std::string file_;
    Program program_;
};

// Messages whose content is not known: they are made for the size that was recorded.
class RecordedProgram final : public ProgramSource {
  public:
    RecordedProgram(RecordedTraffic traffic, std::optional<std::uint64_t> bytes)
        : traffic_(std::move(traffic)), bytes_(bytes) {}

    bool depends_on_ranks() const override { return false; }
    std::string refusal(const ProgramRequest& request, Warnings& warnings) const override {
        if (request.shape.members != traffic_.members.size()) {
            return fmt::format("the files are for {} ranks", traffic_.members.size());
        }
        const auto total = total_for(request.shape.kind);
        if (!total) {
            return "the files do not say for how many bytes they were made, and what the ranks "
                   "receive does not show it: give `bytes` beside `file`";
        }
        const std::string fault = traffic_fault(make(request));
        if (!fault.empty()) {
            throw TraceError(fmt::format("{}: {}", traffic_.file, fault));
        }
        warnings.add(fmt::format(
            "{}: replayed but not proved: the files do not say which data they move{}",
            traffic_.file,
            traffic_.chunks > 0 ? ""
                                : fmt::format("; taken to be made for {} bytes{}",
                                              *total,
                                              bytes_ ? "" : ", as their messages suggest")));
        return "";
    }
    Program make(const ProgramRequest& request) const override {
        try {
            return program_of(traffic_, total_for(request.shape.kind).value_or(1));
        } catch (const TraceError&) {
            throw;
        } catch (const InputError& error) {
            throw TraceError(fmt::format("{}: {}", traffic_.file, error.what()));
        }
    }

  private:
    std::optional<std::uint64_t> total_for(CollectiveKind kind) const {
        return traffic_.chunks > 0 ? std::optional(traffic_.chunks)
               : bytes_            ? bytes_
                                   : recorded_bytes(traffic_, kind);
    }

    RecordedTraffic traffic_;
    std::optional<std::uint64_t> bytes_;
};

bool is_there(const std::string& file) {
    return std::filesystem::is_regular_file(file) || std::filesystem::exists(file + ".0.et");
}

// ASTRA-sim takes names from the working folder, whatever file they are written in.
std::string there_or_here(const std::string& there, const std::string& here) {
    return !is_there(there) && is_there(here) ? here : there;
}

}  // namespace

std::unique_ptr<const ProgramSource> ProgramFiles::open(const ConfigView& entry) const {
    const bool map = entry.is_map();
    const ConfigView name = map ? entry.at("file") : entry;
    const std::string file = there_or_here(name.as_file_name(), name.as_string());
    std::optional<std::uint64_t> bytes;
    if (const auto given = map ? entry.find("bytes") : std::nullopt) {
        bytes = given->as_bytes().count;
        if (*bytes == 0) {
            given->fail("expected a size above 0");
        }
    }
    if (std::filesystem::is_regular_file(file)) {
        return std::make_unique<ProvedProgram>(read_thread_block_algorithm(file));
    }
    ChakraCollective collective = read_chakra_collective(file);
    if (collective.blocks) {
        return std::make_unique<ProvedProgram>(*collective.blocks);
    }
    return std::make_unique<RecordedProgram>(std::move(*collective.traffic), bytes);
}

ThreadBlockAlgorithm read_thread_block_algorithm(const std::string& file) {
    ByteSource source(file);
    refuse_other_formats(source, FilePurpose::CustomCollective);
    if (!looks_like_xml(source)) {
        throw TraceError(file +
                         ": is no MSCCL file (XML); Chakra files of a collective are named "
                         "by what precedes .0.et");
    }
    return read_msccl(source);
}

}  // namespace astra
