// A table of things that a study chooses by name: topologies, backends, transports, algorithms,
// policies. Help texts, documents, messages and tests read it, so that an entry is one source and
// one line in the builtins.def of its folder. The table's source includes that file twice, with
// ASTRA_BUILTIN(name) first as a declaration of the entry and then as its address, to fill the
// array of a function's static Registry; network/backend/backend.cpp shows it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/core/text/nearest.h"

namespace astra {

// An Entry is a plain constant with a `name` (no other of the table has it) and a `summary` (one
// line without a full stop), among whatever else it is. The order is that of the table.
template <class Entry>
class Registry {
  public:
    // `kind`: what an entry is, for messages: "backend". The entries outlive the table.
    constexpr Registry(std::string_view kind, std::span<const Entry* const> entries)
        : kind_(kind), entries_(entries) {}

    std::string_view kind() const { return kind_; }
    std::size_t size() const { return entries_.size(); }
    auto begin() const { return entries_.begin(); }
    auto end() const { return entries_.end(); }
    const Entry& operator[](std::size_t i) const { return *entries_[i]; }

    // nullptr if there is none of that name.
    const Entry* find(std::string_view name) const {
        for (const Entry* entry : entries_) {
            if (entry->name == name) {
                return entry;
            }
        }
        return nullptr;
    }

    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Entry* entry : entries_) {
            names.emplace_back(entry->name);
        }
        return names;
    }

    // "; did you mean 'x'?" or, with no near name, "; valid: a, b, c".
    std::string nearest(std::string_view name) const { return suggestion(name, names()); }

    // "a, b, c or d", for help texts.
    std::string list() const { return joined(names(), " or "); }

    // A line an entry, "name  summary", the summaries below each other; each begins with `indent`.
    std::string describe(std::string_view indent = "  ") const {
        std::size_t width = 0;
        for (const Entry* entry : entries_) {
            width = std::max(width, entry->name.size());
        }
        std::string text;
        for (const Entry* entry : entries_) {
            text.append(indent).append(entry->name);
            text.append(width - entry->name.size() + 2, ' ').append(entry->summary).append("\n");
        }
        return text;
    }

  private:
    std::string_view kind_;
    std::span<const Entry* const> entries_;
};

}  // namespace astra
