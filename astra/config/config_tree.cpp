#include "astra/config/config_tree.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "astra/config/config_node.h"
#include "astra/config/config_parse.h"
#include "astra/config/config_text.h"
#include "astra/core/error.h"

namespace astra {
namespace {

using Kind = ConfigNode::Kind;

std::unique_ptr<ConfigNode> parsed_root(std::string_view text,
                                        const std::string& name,
                                        const std::string& folder) {
    std::unique_ptr<ConfigNode> root =
        parse_config(text, std::make_shared<const ConfigSource>(ConfigSource{name, folder}));
    if (root->kind == Kind::Null) {
        throw ConfigError(name + ": holds nothing; a map of keys is expected");
    }
    return root;
}

std::optional<std::size_t> position_of(std::string_view part) {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) {
        return std::nullopt;
    }
    return value;
}

std::vector<std::string_view> split_path(std::string_view path, const ConfigPlace& place) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t dot = path.find('.');
        parts.push_back(path.substr(0, dot));
        if (parts.back().empty()) {
            fail_at(place, "", "a part of the key is empty; key.path=value is expected");
        }
        if (parts.size() > kMaxDepth) {
            fail_at(place, "", "the key has more than 64 parts");
        }
        if (dot == std::string_view::npos) {
            return parts;
        }
        path.remove_prefix(dot + 1);
    }
}

ConfigNode& list_element(ConfigNode& list, std::string_view part, const ConfigPlace& place) {
    const std::optional<std::size_t> position = position_of(part);
    const std::size_t size = list.children.size();
    // Any position will do in a list that the path itself makes: nobody reads a misspelt key, and
    // the check of keys says so better.
    if (!position || (*position > size && size > 0)) {
        fail_at(place,
                "",
                "'" + path_of(list) + "' is a list of " + std::to_string(size) +
                    "; a position in it is expected, not '" + std::string(part) + "'");
    }
    if (*position < size) {
        return *list.children[*position];
    }
    return add_child(list, std::to_string(size), place);
}

// The child `part` of `node`, made if absent; a number makes a list, anything else a map.
ConfigNode& child_named(ConfigNode& node, std::string_view part, const ConfigPlace& place) {
    if (node.kind == Kind::Scalar) {
        fail_at(place, "", "'" + path_of(node) + "' is a value; a map of keys is expected");
    }
    if (node.kind == Kind::Null) {
        node.kind = position_of(part) ? Kind::List : Kind::Map;
    }
    if (node.kind == Kind::List) {
        return list_element(node, part, place);
    }
    if (ConfigNode* child = child_of(node, part)) {
        child->is_default = false;
        return *child;
    }
    return add_child(node, std::string(part), place);
}

ConfigNode& node_at(ConfigNode& root, std::string_view path, const ConfigPlace& place) {
    ConfigNode* node = &root;
    for (const std::string_view part : split_path(path, place)) {
        node = &child_named(*node, part, place);
    }
    return *node;
}

// Puts the value of `from` instead of that of `to`, which keeps its key.
void replace_value(ConfigNode& to, ConfigNode&& from) {
    from.key = std::move(to.key);
    from.parent = to.parent;
    to = std::move(from);
    for (const auto& child : to.children) {
        child->parent = &to;
    }
}

ConfigNode scalar_node(std::string_view value, const ConfigPlace& place) {
    ConfigNode node;
    node.kind = Kind::Scalar;
    node.scalar = value;
    node.place = place;
    return node;
}

// An override has no lines: its place is its option.
void set_place(ConfigNode& node, const ConfigPlace& place) {
    node.place = place;
    node.key_line = 0;
    node.key_column = 0;
    for (const auto& child : node.children) {
        set_place(*child, place);
    }
}

std::unique_ptr<ConfigNode> copy_of(const ConfigNode& node, ConfigNode* parent) {
    auto copy = std::make_unique<ConfigNode>();
    copy->kind = node.kind;
    copy->quoted = node.quoted;
    copy->read = node.read;
    copy->is_default = node.is_default;
    copy->read_as_text = node.read_as_text;
    copy->read_as_bool = node.read_as_bool;
    copy->file_name = node.file_name;
    copy->key_line = node.key_line;
    copy->key_column = node.key_column;
    copy->place = node.place;
    copy->parent = parent;
    copy->key = node.key;
    copy->scalar = node.scalar;
    copy->known_keys = node.known_keys;
    copy->seed_of_all = node.seed_of_all;
    for (const auto& child : node.children) {
        copy->children.push_back(copy_of(*child, copy.get()));
    }
    return copy;
}

void reject_unread_in(const ConfigNode& node) {
    for (const auto& child : node.children) {
        if (node.kind == Kind::Map && !child->read && !child->is_default) {
            fail_unknown_key(*child, node.known_keys);
        }
        reject_unread_in(*child);
    }
}

}  // namespace

ConfigTree::ConfigTree(std::unique_ptr<ConfigNode> root) : root_(std::move(root)) {}
ConfigTree::ConfigTree(const ConfigTree& other) : root_(copy_of(*other.root_, nullptr)) {}
ConfigTree::ConfigTree(ConfigTree&&) noexcept = default;
ConfigTree& ConfigTree::operator=(ConfigTree&&) noexcept = default;
ConfigTree::~ConfigTree() = default;

ConfigTree ConfigTree::parse_file(const std::string& file, FilePurpose purpose) {
    const std::string folder = std::filesystem::path(file).parent_path().string();
    return ConfigTree(
        parsed_root(read_config_file(file, purpose), file, folder.empty() ? "." : folder));
}

ConfigTree ConfigTree::parse_text(std::string_view text,
                                  const std::string& name,
                                  const std::string& folder) {
    return ConfigTree(parsed_root(text, name, folder));
}

ConfigTree ConfigTree::empty_map(const std::string& name) {
    auto root = std::make_unique<ConfigNode>();
    root->kind = Kind::Map;
    root->place.source = std::make_shared<const ConfigSource>(ConfigSource{name, "."});
    return ConfigTree(std::move(root));
}

ConfigView ConfigTree::root() const {
    return ConfigView(root_.get());
}

void ConfigTree::set(std::string_view assignment) {
    const std::size_t equals = assignment.find('=');
    const std::string path(assignment.substr(0, equals));
    if (equals == std::string_view::npos || path.empty()) {
        throw ConfigError("--set " + std::string(assignment) + ": key.path=value is expected");
    }
    const auto source =
        std::make_shared<const ConfigSource>(ConfigSource{"--set " + path, ".", true});
    const ConfigPlace place{source, 0, 0};
    const std::unique_ptr<ConfigNode> value = parse_config(assignment.substr(equals + 1), source);
    set_place(*value, place);
    replace_value(node_at(*root_, path, place), std::move(*value));
}

void ConfigTree::set_seed(std::uint64_t seed) {
    root_->seed_of_all = seed;
}

void ConfigTree::put(std::string_view path, std::string_view value, const ConfigView& origin) {
    const ConfigPlace& place = origin.node_->place;
    replace_value(node_at(*root_, path, place), scalar_node(value, place));
}

void ConfigTree::put_list(std::string_view path,
                          const std::vector<std::string>& values,
                          const ConfigView& origin) {
    const ConfigPlace& place = origin.node_->place;
    ConfigNode list;
    list.kind = Kind::List;
    list.place = place;
    for (const std::string& value : values) {
        ConfigNode& item = add_child(list, std::to_string(list.children.size()), place);
        item.kind = Kind::Scalar;
        item.scalar = value;
    }
    replace_value(node_at(*root_, path, place), std::move(list));
}

void ConfigTree::reject_unread() const {
    reject_unread_in(*root_);
}

std::string ConfigTree::effective_json(int indent) const {
    return json_of(*root_, indent);
}

}  // namespace astra
