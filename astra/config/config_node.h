// The nodes behind ConfigTree and ConfigView; included only by the .cpp files of this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

struct ConfigSource {
    std::string name;  // a file, or "--set key"
    std::string folder;
    bool is_override = false;
};

struct ConfigPlace {
    std::shared_ptr<const ConfigSource> source;
    std::uint32_t line = 0;  // 1-based; 0: the source has no lines
    std::uint32_t column = 0;
};

struct ConfigNode {
    enum class Kind : std::uint8_t { Null, Scalar, List, Map };

    Kind kind = Kind::Null;
    bool quoted = false;        // a scalar that can only be text
    bool read = false;          // somebody asked for this key
    bool is_default = false;    // not written by the user
    bool read_as_text = false;  // "1.50" is a name, not a number
    bool read_as_bool = false;
    bool file_name = false;
    std::uint32_t key_line = 0;
    std::uint32_t key_column = 0;
    ConfigPlace place;
    ConfigNode* parent = nullptr;
    std::string key;  // of a map's child; the position of a list's item
    std::string scalar;
    std::vector<std::unique_ptr<ConfigNode>> children;
    std::vector<std::string> known_keys;  // that were asked for in this map
    // What ConfigTree::set_seed was given; the root alone has it.
    std::optional<std::uint64_t> seed_of_all = std::nullopt;
};

inline constexpr std::size_t kMaxDepth = 64;

std::string to_text(const ConfigPlace& place);

// "system.collectives.all_reduce"; "" for the root.
std::string path_of(const ConfigNode& node);

// "place: path: message"; the path is left out when the place already says it.
[[noreturn]] void fail_at(const ConfigPlace& place,
                          const std::string& path,
                          std::string_view message);

// That the key of a map's child is none of `valid`.
[[noreturn]] void fail_unknown_key(const ConfigNode& child, const std::vector<std::string>& valid);

// The child `key` of a map, defaults included; nullptr if there is none.
ConfigNode* child_of(const ConfigNode& map, std::string_view key);

// Appends an empty child.
ConfigNode& add_child(ConfigNode& parent, std::string key, ConfigPlace place);

// What a node that is not what was expected is: "a map", "text in quotes".
std::string_view describe(const ConfigNode& node);

// The effective value of `root` as JSON.
std::string json_of(const ConfigNode& root, int indent);

}  // namespace astra
