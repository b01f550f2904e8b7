// The nodes of one file of a Chakra custom collective, as they stand there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

struct Attributes {
    std::map<std::string, std::int64_t, std::less<>> numbers;
    std::map<std::string, std::string, std::less<>> texts;

    std::optional<std::int64_t> number(std::string_view name) const;
    std::string text(std::string_view name, std::string_view fallback) const;
};

struct RawNode {
    enum class Type : std::uint8_t { Send, Receive, Compute };
    std::uint64_t id = 0;
    std::string name;
    Type type = Type::Compute;
    std::uint64_t duration_us = 0;
    std::vector<std::uint64_t> parents;  // ids
    Attributes attributes;

    bool is_message() const { return type != Type::Compute; }
};

struct RawFile {
    static constexpr std::int64_t kMostNumber = 0x7fffffff;

    std::string file;
    Attributes metadata;
    std::vector<RawNode> nodes;

    // Throws TraceError "file: node 3 (name): what".
    [[noreturn]] void fail(const RawNode& node, const std::string& what) const;
    // An attribute from 0 to kMostNumber; fails without one.
    std::uint32_t small(const RawNode& node, const char* name) const;
    std::uint32_t small_or(const RawNode& node, const char* name, std::uint32_t fallback) const;
};

// Adds to `total`, the nodes of all files, which is bounded. Throws TraceError.
RawFile read_collective_nodes(const std::string& file, std::size_t& total);

}  // namespace astra
