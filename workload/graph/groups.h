// The communicator groups of a job: those of the group file, those that traces define and the
// default of all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "astra/core/warnings.h"
#include "workload/graph/execution_graph.h"

namespace astra {

// Reads {"name": [ranks…], …}. Throws ConfigError with the place in the file.
std::vector<GroupDefinition> read_group_file(const std::string& file, std::uint32_t ranks);
// Writes such a file. Throws TraceError.
void write_group_file(const std::vector<GroupDefinition>& groups, const std::string& file);

class GroupTable {
  public:
    // `source` names where `definitions` come from, for messages; "" = nowhere.
    GroupTable(std::uint32_t ranks,
               const std::vector<GroupDefinition>& definitions,
               std::string source);

    // Without a group file: one that lies there and might be the one, for messages.
    void mention(std::string file) { mentioned_ = std::move(file); }

    // Groups that the trace of `rank` defines. A name of the file keeps the file's ranks, with a
    // warning if they differ. Call it in ascending order of ranks.
    void define(std::uint32_t rank, const std::vector<GroupDefinition>& groups, Warnings& warnings);

    // The number of the group that `rank` calls `name`: the file's, that of the rank, another
    // rank's, or all ranks for "" and "0"; where none of them is called so, the group of the whole
    // number that the name begins with, as ASTRA-sim reads it: "1.0" is "1". Nothing if it is not
    // defined.
    std::optional<std::uint32_t> resolve(std::uint32_t rank, const std::string& name);
    bool has_member(std::uint32_t group, std::uint32_t rank) const;
    // Names that begin with a number, but are none: with the group they were taken for.
    const std::map<std::string, std::string>& read_by_number() const { return read_by_number_; }
    // "is not defined in …; known: …"
    std::string why_unknown() const;
    // Those that were resolved, by number.
    std::vector<GroupDefinition> take() { return std::move(used_); }

  private:
    using Members = std::vector<std::uint32_t>;
    struct Definition {
        Members ranks;
        std::optional<std::uint32_t> number;  // once it is used
    };
    using Block = std::map<std::string, Definition>;

    bool defines(const std::string& name) const;
    std::optional<std::uint32_t> find(std::uint32_t rank, const std::string& name);
    std::uint32_t number_of(const std::string& name, Definition& definition);

    std::uint32_t ranks_;
    std::string source_;
    std::string mentioned_;
    Block file_;
    std::map<std::string, bool> warned_;
    std::vector<std::pair<std::vector<GroupDefinition>, Block>> blocks_;  // distinct
    std::map<std::uint32_t, std::size_t> block_of_rank_;
    Definition everyone_;
    std::map<std::string, std::string> read_by_number_;
    std::vector<GroupDefinition> used_;
    std::vector<Members> sorted_;  // members of each used group
    std::map<std::pair<std::string, Members>, std::uint32_t> numbers_;
};

}  // namespace astra
