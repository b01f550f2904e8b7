// The only reader of YAML and JSON configuration: a tree whose nodes know where they were written.
//
// Every key that is read is marked; a key that nobody read is an error that names its place and the
// nearest key that somebody asked for. A default that is used is remembered too, so that the
// effective configuration can be written out whole.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "astra/core/types.h"

namespace astra {

struct ConfigNode;  // private to the .cpp

// A handle on one node of a ConfigTree; cheap to copy; must not outlive the tree.
// All readers throw ConfigError "file:line:column: path.of.key: what is wrong; what is expected".
class ConfigView {
  public:
    // --- maps ---
    bool has(std::string_view key) const;  // true also marks the key as known (for suggestions)
    ConfigView at(std::string_view key) const;  // throws if absent: names the map and the key
    std::optional<ConfigView> find(std::string_view key) const;
    // The child map `key`, created empty (as a default) if absent.
    ConfigView section(std::string_view key) const;
    // Throws for the first key of this map that is none of these, with the nearest. For maps whose
    // other errors would hide a misspelt key from ConfigTree::reject_unread.
    void require_only(std::span<const std::string_view> keys) const;
    // (key, value) in file order; marks every key as read.
    std::vector<std::pair<std::string, ConfigView>> entries() const;

    // --- scalars of a map, with a default that is recorded ---
    std::string string_or(std::string_view key, std::string_view fallback) const;
    bool bool_or(std::string_view key, bool fallback) const;
    double number_or(std::string_view key, double fallback) const;
    std::uint64_t integer_or(std::string_view key,
                             std::uint64_t fallback,
                             std::uint64_t least,
                             std::uint64_t most) const;
    Duration duration_or(std::string_view key, Duration fallback) const;
    Bytes bytes_or(std::string_view key, Bytes fallback) const;
    Bandwidth bandwidth_or(std::string_view key, Bandwidth fallback) const;
    // One of `choices`; the error lists them and the nearest.
    std::string choice_or(std::string_view key,
                          std::string_view fallback,
                          std::span<const std::string> choices) const;

    // --- this node itself ---
    bool is_map() const;
    bool is_list() const;
    bool is_scalar() const;
    std::vector<ConfigView> items() const;  // of a list; a scalar counts as a list of one
    std::string as_string() const;
    bool as_bool() const;      // true/false/yes/no/on/off/0/1
    double as_number() const;  // finite
    std::uint64_t as_integer(std::uint64_t least, std::uint64_t most) const;
    Duration as_duration() const;    // "500ns": ps, ns, us, ms, s, min, h
    Bytes as_bytes() const;          // "1MiB": B, KB, MB, GB, TB, KiB, MiB, GiB, TiB
    Bandwidth as_bandwidth() const;  // "400Gbps", "50GB/s", "50GiB/s"
    double as_rate() const;          // operations a second: "312TFLOPS" (K, M, G, T, P)
    std::string as_choice(std::span<const std::string> choices) const;

    // "file:line:column", or "--set key" for an override.
    std::string where() const;
    std::string path() const;  // "system.collectives.all_reduce"
    // The folder of the file that the node was written in: relative file names are relative to it.
    std::string folder() const;
    // as_string() made a file name: relative names are taken from folder().
    std::string as_file_name() const;
    // Throws ConfigError at this node: "where: path: message".
    [[noreturn]] void fail(std::string_view message) const;

  private:
    friend class ConfigTree;
    explicit ConfigView(ConfigNode* node) : node_(node) {}
    ConfigNode* node_;
};

class ConfigTree {
  public:
    // Reads YAML or JSON (by content; JSON is read as YAML, positions kept). Throws ConfigError on
    // a missing file, bad syntax, duplicate keys, nesting beyond 64 levels or more than a million
    // nodes.
    static ConfigTree parse_file(const std::string& file);
    static ConfigTree parse_text(std::string_view text,
                                 const std::string& name,
                                 const std::string& folder = ".");
    static ConfigTree empty_map(const std::string& name);

    ConfigTree(const ConfigTree&) = delete;
    ConfigTree& operator=(const ConfigTree&) = delete;
    ConfigTree(ConfigTree&&) noexcept;
    ConfigTree& operator=(ConfigTree&&) noexcept;
    ~ConfigTree();

    ConfigView root() const;

    // `--set key.path=value`: creates maps on the way; list elements by number
    // ("network.dimensions.0.bandwidth"). The value is YAML ("[ring, direct]" is a list).
    void set(std::string_view assignment);
    // Puts a scalar, or a list of scalars, at a dotted path, with the place of `origin`: for
    // translating one format into another.
    void put(std::string_view path, std::string_view value, const ConfigView& origin);
    void put_list(std::string_view path,
                  const std::vector<std::string>& values,
                  const ConfigView& origin);

    // Throws ConfigError for the first key that nobody read.
    void reject_unread() const;

    // The configuration as it took effect, defaults included: one JSON object, keys in the order
    // of the file and then of reading. Folders of file names are left out.
    std::string effective_json(int indent) const;

  private:
    explicit ConfigTree(std::unique_ptr<ConfigNode> root);
    std::unique_ptr<ConfigNode> root_;
};

}  // namespace astra
