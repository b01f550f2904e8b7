#include "astra/config/config_view.h"

#include <algorithm>

#include "astra/config/config_node.h"
#include "astra/config/config_scalar.h"
#include "astra/config/exact_text.h"
#include "astra/core/text/nearest.h"

namespace astra {
namespace {

using Kind = ConfigNode::Kind;

void require_map(const ConfigView& view, const ConfigNode& node) {
    if (node.kind == Kind::Null) {
        view.fail("has no value; a map of keys is expected");
    }
    if (node.kind != Kind::Map) {
        view.fail("is " + std::string(describe(node)) + "; a map of keys is expected");
    }
}

void learn_key(ConfigNode& map, std::string_view key) {
    if (std::find(map.known_keys.begin(), map.known_keys.end(), key) == map.known_keys.end()) {
        map.known_keys.emplace_back(key);
    }
}

// The child that the user wrote.
ConfigNode* written_child(const ConfigView& view, ConfigNode& map, std::string_view key) {
    require_map(view, map);
    learn_key(map, key);
    ConfigNode* child = child_of(map, key);
    return child == nullptr || child->is_default ? nullptr : child;
}

void record_default(ConfigNode& map, std::string_view key, std::string text, bool quoted) {
    ConfigNode* child = child_of(map, key);
    if (child == nullptr) {
        child = &add_child(map, std::string(key), map.place);
    }
    child->kind = Kind::Scalar;
    child->is_default = true;
    child->quoted = quoted;
    child->scalar = std::move(text);
}

// A key that is written but that nobody reads and that looks like `key`.
std::string misspelling_of(const ConfigNode& map, std::string_view key) {
    std::vector<std::string> unread;
    for (const auto& child : map.children) {
        if (!child->read && !child->is_default) {
            unread.push_back(child->key);
        }
    }
    const std::string nearest = nearest_name(key, unread);
    return nearest.empty() ? std::string() : "; is '" + nearest + "' a misspelling of it?";
}

}  // namespace

std::vector<std::string> ConfigView::written_paths() const {
    std::vector<std::string> paths;
    for (const auto& child : node_->children) {
        if (child->kind == ConfigNode::Kind::Map) {
            const auto below = ConfigView(child.get()).written_paths();
            paths.insert(paths.end(), below.begin(), below.end());
        } else if (!child->is_default) {
            paths.push_back(path_of(*child));
        }
    }
    return paths;
}

bool ConfigView::has(std::string_view key) const {
    return written_child(*this, *node_, key) != nullptr;
}

std::optional<ConfigView> ConfigView::find(std::string_view key) const {
    ConfigNode* child = written_child(*this, *node_, key);
    if (child == nullptr) {
        return std::nullopt;
    }
    child->read = true;
    return ConfigView(child);
}

ConfigView ConfigView::at(std::string_view key) const {
    const std::optional<ConfigView> child = find(key);
    if (!child) {
        fail("the key '" + std::string(key) + "' is missing" + misspelling_of(*node_, key));
    }
    return *child;
}

ConfigView ConfigView::section(std::string_view key) const {
    if (const std::optional<ConfigView> child = find(key)) {
        require_map(*child, *child->node_);
        return *child;
    }
    ConfigNode* child = child_of(*node_, key);
    if (child == nullptr) {
        child = &add_child(*node_, std::string(key), node_->place);
        child->kind = Kind::Map;
        child->is_default = true;
    }
    return ConfigView(child);
}

void ConfigView::require_only(std::span<const std::string_view> keys) const {
    require_map(*this, *node_);
    for (const auto& child : node_->children) {
        if (std::find(keys.begin(), keys.end(), child->key) == keys.end()) {
            fail_unknown_key(*child, {keys.begin(), keys.end()});
        }
    }
}

std::vector<std::pair<std::string, ConfigView>> ConfigView::entries() const {
    require_map(*this, *node_);
    std::vector<std::pair<std::string, ConfigView>> result;
    result.reserve(node_->children.size());
    for (const auto& child : node_->children) {
        if (!child->is_default) {
            child->read = true;
            result.emplace_back(child->key, ConfigView(child.get()));
        }
    }
    return result;
}

std::string ConfigView::string_or(std::string_view key, std::string_view fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_string();
    }
    record_default(*node_, key, std::string(fallback), true);
    return std::string(fallback);
}

bool ConfigView::bool_or(std::string_view key, bool fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_bool();
    }
    record_default(*node_, key, fallback ? "true" : "false", false);
    return fallback;
}

double ConfigView::number_or(std::string_view key, double fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_number();
    }
    record_default(*node_, key, exact_text(fallback), false);
    return fallback;
}

std::uint64_t ConfigView::integer_or(std::string_view key,
                                     std::uint64_t fallback,
                                     std::uint64_t least,
                                     std::uint64_t most) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_integer(least, most);
    }
    record_default(*node_, key, std::to_string(fallback), false);
    return fallback;
}

std::uint64_t ConfigView::seed_or(std::string_view key, std::uint64_t fallback) const {
    const ConfigNode* root = node_;
    while (root->parent != nullptr) {
        root = root->parent;
    }
    if (root->seed_of_all) {
        ConfigNode* child = written_child(*this, *node_, key);
        const bool overridden =
            child != nullptr && child->place.source && child->place.source->is_override;
        if (!overridden) {
            if (child != nullptr) {
                child->read = true;
            }
            record_default(*node_, key, std::to_string(*root->seed_of_all), false);
            return *root->seed_of_all;
        }
    }
    return integer_or(key, fallback, 0, kMostSeed);
}

Duration ConfigView::duration_or(std::string_view key, Duration fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_duration();
    }
    record_default(*node_, key, exact_text(fallback), true);
    return fallback;
}

Bytes ConfigView::bytes_or(std::string_view key, Bytes fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_bytes();
    }
    record_default(*node_, key, exact_text(fallback), true);
    return fallback;
}

Bandwidth ConfigView::bandwidth_or(std::string_view key, Bandwidth fallback) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_bandwidth();
    }
    record_default(*node_, key, exact_text(fallback), true);
    return fallback;
}

std::string ConfigView::choice_or(std::string_view key,
                                  std::string_view fallback,
                                  std::span<const std::string> choices) const {
    if (const std::optional<ConfigView> child = find(key)) {
        return child->as_choice(choices);
    }
    record_default(*node_, key, std::string(fallback), true);
    return std::string(fallback);
}

bool ConfigView::is_map() const {
    return node_->kind == Kind::Map;
}

bool ConfigView::is_list() const {
    return node_->kind == Kind::List;
}

bool ConfigView::is_scalar() const {
    return node_->kind == Kind::Scalar;
}

std::vector<ConfigView> ConfigView::items() const {
    if (node_->kind == Kind::Scalar) {
        return {*this};
    }
    if (node_->kind == Kind::Null) {
        fail("has no value; a list is expected");
    }
    if (node_->kind == Kind::Map) {
        fail("is a map; a list is expected");
    }
    std::vector<ConfigView> result;
    result.reserve(node_->children.size());
    for (const auto& child : node_->children) {
        result.push_back(ConfigView(child.get()));
    }
    return result;
}

std::string ConfigView::as_string() const {
    return astra::as_string(*node_);
}

bool ConfigView::as_bool() const {
    return astra::as_bool(*node_);
}

double ConfigView::as_number() const {
    return astra::as_number(*node_);
}

std::uint64_t ConfigView::as_integer(std::uint64_t least, std::uint64_t most) const {
    return astra::as_integer(*node_, least, most);
}

Duration ConfigView::as_duration() const {
    return astra::as_duration(*node_);
}

Bytes ConfigView::as_bytes() const {
    return astra::as_bytes(*node_);
}

Bandwidth ConfigView::as_bandwidth() const {
    return astra::as_bandwidth(*node_);
}

double ConfigView::as_rate() const {
    return astra::as_rate(*node_);
}

std::string ConfigView::as_choice(std::span<const std::string> choices) const {
    return astra::as_choice(*node_, choices);
}

std::string ConfigView::as_file_name() const {
    return astra::as_file_name(*node_);
}

std::string ConfigView::where() const {
    return to_text(node_->place);
}

std::string ConfigView::path() const {
    return path_of(*node_);
}

std::string ConfigView::folder() const {
    return node_->place.source->folder;
}

void ConfigView::fail(std::string_view message) const {
    fail_at(node_->place, path_of(*node_), message);
}

}  // namespace astra
