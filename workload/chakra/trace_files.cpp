#include "workload/chakra/trace_files.h"

#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "astra/core/error.h"
#include "astra/core/formats/file_format.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

constexpr std::array<std::string_view, 6> kSuffixes = {
    ".et", ".et.gz", ".et.zst", ".json", ".json.gz", ".json.zst"};

// The files there are for one rank, in the order of kSuffixes.
std::vector<std::string> files_of(const std::string& prefix, std::uint32_t rank) {
    std::vector<std::string> files;
    for (const std::string_view suffix : kSuffixes) {
        std::string file = prefix + "." + std::to_string(rank);
        file += suffix;
        std::error_code error;
        if (std::filesystem::exists(file, error)) {
            files.push_back(std::move(file));
        }
    }
    return files;
}

// A file where the prefix of files is expected.
[[noreturn]] void fail_file(const std::string& file) {
    const std::string refusal = format_refusal_of_file(file, FilePurpose::Trace);
    if (!refusal.empty()) {
        throw TraceError(file + ": " + refusal);
    }
    std::string prefix = file;
    for (const std::string_view suffix : kSuffixes) {
        if (file.ends_with(suffix)) {
            prefix.resize(file.size() - suffix.size());
        }
    }
    const std::size_t digits = prefix.find_last_not_of("0123456789");
    const bool numbered = prefix.size() < file.size() && digits != std::string::npos &&
                          digits + 1 < prefix.size() && prefix[digits] == '.';
    throw TraceError(file + ": is a file; what precedes .<rank>.et or .json is expected" +
                     (numbered ? ", here " + prefix.substr(0, digits) : ""));
}

[[noreturn]] void fail_missing(const std::string& prefix,
                               const std::vector<std::uint32_t>& missing,
                               std::uint32_t ranks) {
    const std::string pattern = prefix + ".<rank>.et or .json (each also with .gz or .zst)";
    if (missing.size() < ranks) {
        throw TraceError("no trace for ranks " + ranges_text(missing) + " of " +
                         std::to_string(ranks) + ": missing ranks " + ranges_text(missing) +
                         "; looked for " + pattern);
    }
    const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
    std::error_code error;
    if (std::filesystem::is_regular_file(prefix, error)) {
        fail_file(prefix);
    }
    const bool no_folder = !folder.empty() && !std::filesystem::is_directory(folder, error);
    throw TraceError("no file matches " + pattern +
                     (no_folder ? "; the folder " + folder.string() + " does not exist" : ""));
}

}  // namespace

std::uint32_t count_trace_ranks(const std::string& prefix) {
    std::uint32_t ranks = 0;
    while (!files_of(prefix, ranks).empty()) {
        ++ranks;
    }
    return ranks;
}

std::vector<std::string> find_trace_files(const std::string& prefix,
                                          std::uint32_t ranks,
                                          Warnings& warnings) {
    if (ranks == 0) {
        throw TraceError("a job needs at least one rank");
    }
    std::vector<std::string> files;
    std::vector<std::uint32_t> missing;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        std::vector<std::string> found = files_of(prefix, rank);
        if (found.empty()) {
            missing.push_back(rank);
            continue;
        }
        if (found.size() > 1) {
            warnings.add(found[1] + " is not read: " + found[0] + " is there for the same rank");
        }
        files.push_back(std::move(found[0]));
    }
    if (!missing.empty()) {
        fail_missing(prefix, missing, ranks);
    }
    if (const std::vector<std::string> extra = files_of(prefix, ranks); !extra.empty()) {
        warnings.add(extra[0] + " is not read: the job has only ranks 0 to " +
                     std::to_string(ranks - 1));
    }
    return files;
}

}  // namespace astra
