#include "workload/chakra/trace_loader.h"

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

#include "workload/chakra/byte_source.h"
#include "workload/chakra/chakra_reader.h"
#include "workload/chakra/json_reader.h"
#include "workload/chakra/trace_files.h"
#include "workload/graph/content_hash.h"
#include "workload/graph/graph_builder.h"
#include "workload/graph/groups.h"
#include "workload/graph/messages.h"
#include "workload/graph/workload_assembler.h"
#include "workload/nodes/node_assembler.h"

namespace astra {
namespace {

// A trace file read. Equal bytes give equal results for another rank, unless the file states a
// rank.
struct LoadedTrace {
    UnresolvedRank trace;
    std::shared_ptr<const std::vector<GroupDefinition>> groups;
    std::uint64_t dropped_dependencies = 0;
    StreamReport streams;
    std::optional<std::uint32_t> stated_rank;
    Warnings warnings;
};

// Warnings that differ only in their file, as one.
class FileWarnings {
  public:
    void add(const std::string& file, const Warnings& warnings) {
        for (const std::string& text : warnings.texts()) {
            const std::string rest =
                text.starts_with(file + ":") ? text.substr(file.size()) : " (" + text + ")";
            const auto [entry, added] = numbers_.try_emplace(rest, entries_.size());
            if (added) {
                entries_.push_back({file, rest, 0});
            }
            ++entries_[entry->second].files;
        }
    }
    void give(Warnings& warnings) const {
        for (const Entry& entry : entries_) {
            const std::string more =
                entry.files > 1 ? " (and " + std::to_string(entry.files - 1) + " more files)" : "";
            warnings.add(entry.file + more + entry.rest);
        }
    }

  private:
    struct Entry {
        std::string file;
        std::string rest;
        std::uint64_t files;
    };
    std::map<std::string, std::size_t> numbers_;
    std::vector<Entry> entries_;
};

class Loader {
  public:
    explicit Loader(const TraceSource& options) : options_(options) {}

    LoadedTrace& load(const std::string& file, std::uint32_t rank) {
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(file, error);
        // Only a file as long as another can equal it: the others are read once.
        if (!error && sizes_.contains(size)) {
            const ContentHash hash = ByteSource(file).stored_hash();
            const auto found = loaded_.find(hash);
            if (found != loaded_.end() && fits(found->second, rank)) {
                return found->second;
            }
        }
        ByteSource source(file);
        LoadedTrace loaded = read(source, rank);
        sizes_.insert(size);
        return loaded_.insert_or_assign(source.stored_hash(), std::move(loaded)).first->second;
    }

  private:
    static bool fits(const LoadedTrace& loaded, std::uint32_t rank) {
        return !loaded.stated_rank || *loaded.stated_rank == rank;
    }

    LoadedTrace read(ByteSource& source, std::uint32_t rank) const {
        refuse_other_formats(source, FilePurpose::Trace);
        LoadedTrace result;
        GraphBuilder builder(source.file(), rank, options_.ranks);
        if (options_.streams) {
            builder.use_streams(*options_.streams);
        }
        NodeAssembler nodes({source.file(), rank, options_.ranks, options_.element_bytes},
                            builder,
                            result.warnings);
        if (is_named_json(source.file()) || looks_like_json(source)) {
            read_json(source, nodes);
        } else {
            read_chakra(source, nodes);
        }
        result.trace = builder.finish(result.warnings);
        result.dropped_dependencies = builder.dropped_dependencies();
        result.streams = builder.streams();
        result.groups = std::make_shared<const std::vector<GroupDefinition>>(nodes.groups());
        result.stated_rank = nodes.stated_rank();
        return result;
    }

    const TraceSource& options_;
    std::set<std::uintmax_t> sizes_;
    std::map<ContentHash, LoadedTrace> loaded_;
};

void warn_of_streams(const std::string& prefix, const StreamReport& streams, Warnings& warnings) {
    if (streams.launched_only > 0 && streams.added() > 0) {
        warnings.add(prefix + ": " + std::to_string(streams.launched_only) + " of " +
                     std::to_string(streams.gpu_ops) +
                     " ops of the GPU wait for nothing but their launchers; " +
                     std::to_string(streams.added()) +
                     " dependencies are added by the streams of the trace: " +
                     std::to_string(streams.in_stream) + " within a stream, " +
                     std::to_string(streams.synchronised) + " of calls that synchronise, " +
                     std::to_string(streams.before_comm) +
                     " from a computation to the communication launched after it "
                     "(system.streams: 1 adds none)");
    }
    if (streams.contradictions > 0) {
        warnings.add(prefix + ": " + std::to_string(streams.contradictions) +
                     " ops run before others that their stream or a call that synchronises has "
                     "first, as the dependencies of the trace want");
    }
}

}  // namespace

Workload load_traces(const TraceSource& options, Warnings& warnings) {
    const std::vector<std::string> files =
        find_trace_files(options.prefix, options.ranks, warnings);
    GroupTable groups(options.ranks,
                      options.group_file.empty()
                          ? std::vector<GroupDefinition>{}
                          : read_group_file(options.group_file, options.ranks),
                      options.group_file);
    const std::string beside = options.prefix + ".groups.json";
    if (std::filesystem::exists(beside)) {
        groups.mention(beside);
    }
    Loader loader(options);
    WorkloadAssembler assembler;
    FileWarnings file_warnings;
    StreamReport streams;
    for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
        LoadedTrace& loaded = loader.load(files[rank], rank);
        groups.define(rank, *loaded.groups, warnings);
        streams.add(loaded.streams);
        // The warnings of an equal file carry the name of the one that was read.
        file_warnings.add(loaded.trace.file, loaded.warnings);
        UnresolvedRank trace = loaded.trace;
        trace.file = files[rank];
        assembler.add(trace, loaded.dropped_dependencies);
        loaded.trace.graph = trace.graph;  // frees a copy of a graph that is there already
    }
    file_warnings.give(warnings);
    warn_of_streams(options.prefix, streams, warnings);
    Workload workload = assembler.finish(groups);
    for (const auto& [name, number] : groups.read_by_number()) {
        warnings.add(options.prefix + ": pg_name '" + printable(name) + "' is read as group '" +
                     number + "', as ASTRA-sim reads it");
    }
    return workload;
}

}  // namespace astra
