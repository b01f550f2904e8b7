// How a component reads its section of the configuration (config_tree.h), key by key.
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

struct ConfigNode;  // private to the sources of this folder

inline constexpr std::uint64_t kMostSeed = ~std::uint64_t{0};

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

    // The paths of what the user has written below this map, without marking anything as read.
    std::vector<std::string> written_paths() const;

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
    // The seed of something random: the number of ConfigTree::set_seed, if there is one and the key
    // is not overridden by `--set`. A component reads its seeds with this alone.
    std::uint64_t seed_or(std::string_view key, std::uint64_t fallback) const;
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

}  // namespace astra
