#include "workload/graph/groups.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <numeric>
#include <set>
#include <string_view>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "astra/core/error.h"
#include "astra/core/text/json_text.h"
#include "workload/graph/messages.h"
#include "workload/graph/process_groups.h"

namespace astra {
namespace {

constexpr std::size_t kMostListed = 10;

std::vector<std::uint32_t> sorted_copy(std::vector<std::uint32_t> ranks) {
    std::sort(ranks.begin(), ranks.end());
    return ranks;
}

// What std::stoi makes of a text, if anything.
std::optional<std::string> leading_integer(std::string_view text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n\v\f"), text.size()));
    if (text.starts_with('+')) {
        text.remove_prefix(1);
        if (text.starts_with('-')) {
            return std::nullopt;
        }
    }
    std::int32_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() ? std::optional(std::to_string(value)) : std::nullopt;
}

// "1.0", " 1": a number to the end.
bool is_decimal(std::string_view text) {
    const std::size_t first = text.find_first_of("0123456789");
    return first != std::string_view::npos &&
           text.substr(first).find_first_not_of("0123456789.") == std::string_view::npos;
}

}  // namespace

std::vector<GroupDefinition> read_group_file(const std::string& file, std::uint32_t ranks) {
    const ConfigTree tree = ConfigTree::parse_file(file);
    const ConfigView root = tree.root();
    if (!root.is_map()) {
        root.fail("a map from group names to lists of ranks is expected");
    }
    std::vector<GroupDefinition> groups;
    for (const auto& [name, value] : root.entries()) {
        if (!value.is_list()) {
            value.fail("a list of ranks is expected");
        }
        GroupDefinition group;
        group.name = name;
        for (const ConfigView& item : value.items()) {
            group.ranks.push_back(static_cast<std::uint32_t>(item.as_integer(0, ranks - 1)));
        }
        if (group.ranks.empty()) {
            value.fail("the group has no ranks");
        }
        if (!all_distinct(group.ranks)) {
            value.fail("a rank occurs twice in the group");
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

void write_group_file(const std::vector<GroupDefinition>& groups, const std::string& file) {
    std::ofstream out(file);
    out << '{';
    for (std::size_t i = 0; i < groups.size(); ++i) {
        out << (i == 0 ? "" : ",") << json_text(groups[i].name) << ":[";
        for (std::size_t k = 0; k < groups[i].ranks.size(); ++k) {
            out << (k == 0 ? "" : ",") << groups[i].ranks[k];
        }
        out << ']';
    }
    out << "}\n";
    out.flush();
    if (!out) {
        throw TraceError(file + ": cannot be written: " + std::strerror(errno));
    }
}

GroupTable::GroupTable(std::uint32_t ranks,
                       const std::vector<GroupDefinition>& definitions,
                       std::string source)
    : ranks_(ranks), source_(std::move(source)) {
    for (const GroupDefinition& group : definitions) {
        file_[group.name].ranks = group.ranks;
    }
}

void GroupTable::define(std::uint32_t rank,
                        const std::vector<GroupDefinition>& groups,
                        Warnings& warnings) {
    if (groups.empty()) {
        return;
    }
    for (const GroupDefinition& group : groups) {
        const auto found = file_.find(group.name);
        if (found != file_.end() && sorted_copy(found->second.ranks) != sorted_copy(group.ranks) &&
            !std::exchange(warned_[group.name], true)) {
            warnings.add(source_ + ": group '" + printable(group.name) +
                         "' has other ranks than the trace of rank " + std::to_string(rank) +
                         " defines; those of the file are taken");
        }
    }
    // Traces mostly define the same groups all over.
    if (blocks_.empty() || blocks_.back().first != groups) {
        Block block;
        for (const GroupDefinition& group : groups) {
            block[group.name].ranks = group.ranks;
        }
        blocks_.emplace_back(groups, std::move(block));
    }
    block_of_rank_[rank] = blocks_.size() - 1;
}

std::uint32_t GroupTable::number_of(const std::string& name, Definition& definition) {
    if (!definition.number) {
        Members members = sorted_copy(definition.ranks);
        const auto [entry, added] =
            numbers_.try_emplace({name, members}, static_cast<std::uint32_t>(used_.size()));
        if (added) {
            used_.push_back({name, definition.ranks});
            sorted_.push_back(std::move(members));
        }
        definition.number = entry->second;
    }
    return *definition.number;
}

std::optional<std::uint32_t> GroupTable::resolve(std::uint32_t rank, const std::string& name) {
    std::optional<std::uint32_t> group = find(rank, name);
    if (group) {
        return group;
    }
    const std::optional<std::string> number = leading_integer(name);
    group = number ? find(rank, *number) : std::nullopt;
    if (group && !is_decimal(name)) {
        read_by_number_[name] = *number;
    }
    return group;
}

std::optional<std::uint32_t> GroupTable::find(std::uint32_t rank, const std::string& name) {
    if (!name.empty()) {
        if (const auto found = file_.find(name); found != file_.end()) {
            return number_of(name, found->second);
        }
        if (const auto defined = block_of_rank_.find(rank); defined != block_of_rank_.end()) {
            Block& block = blocks_[defined->second].second;
            if (const auto found = block.find(name); found != block.end()) {
                return number_of(name, found->second);
            }
        }
        for (auto& [groups, block] : blocks_) {
            if (const auto found = block.find(name); found != block.end()) {
                return number_of(name, found->second);
            }
        }
    }
    if (!name.empty() && name != "0") {
        return std::nullopt;
    }
    if (everyone_.ranks.empty()) {
        everyone_.ranks.resize(ranks_);
        std::iota(everyone_.ranks.begin(), everyone_.ranks.end(), 0U);
    }
    // One group, whether a trace calls it "0" or nothing; "0" is its name unless that means
    // another.
    return number_of(defines("0") ? "all" : "0", everyone_);
}

bool GroupTable::defines(const std::string& name) const {
    return file_.contains(name) ||
           std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
               return block.second.contains(name);
           });
}

bool GroupTable::has_member(std::uint32_t group, std::uint32_t rank) const {
    return std::binary_search(sorted_[group].begin(), sorted_[group].end(), rank);
}

std::string GroupTable::why_unknown() const {
    std::string result =
        source_.empty() ? "is not defined: there is no group file" : "is not defined in " + source_;
    if (source_.empty() && !mentioned_.empty()) {
        result += " (" + mentioned_ +
                  " is there: give it as workload.groups, --comm-group-configuration or --groups)";
    }
    std::set<std::string> names;
    for (const auto& [name, definition] : file_) {
        names.insert(name);
    }
    for (const auto& [groups, block] : blocks_) {
        for (const auto& [name, definition] : block) {
            names.insert(name);
        }
    }
    std::string list;
    std::size_t listed = 0;
    for (const std::string& name : names) {
        if (++listed > kMostListed) {
            list += ", ...";
            break;
        }
        list += (list.empty() ? "" : ", ") + printable(name);
    }
    return list.empty() ? result : result + "; known: " + list;
}

}  // namespace astra
