#include "astra/config/config_node.h"

#include <algorithm>
#include <utility>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"

namespace astra {

std::string to_text(const ConfigPlace& place) {
    if (place.line == 0) {
        return place.source->name;
    }
    return place.source->name + ":" + std::to_string(place.line) + ":" +
           std::to_string(place.column);
}

std::string path_of(const ConfigNode& node) {
    std::vector<const ConfigNode*> chain;
    for (const ConfigNode* at = &node; at->parent != nullptr; at = at->parent) {
        chain.push_back(at);
    }
    std::string path;
    for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
        path.append(path.empty() ? "" : ".").append((*at)->key);
    }
    return path;
}

void fail_at(const ConfigPlace& place, const std::string& path, std::string_view message) {
    std::string text = to_text(place);
    if (!path.empty() && text != "--set " + path) {
        text.append(": ").append(path);
    }
    throw ConfigError(text.append(": ").append(message));
}

void fail_unknown_key(const ConfigNode& child, const std::vector<std::string>& valid) {
    ConfigPlace place = child.place;
    if (child.key_line != 0) {
        place.line = child.key_line;
        place.column = child.key_column;
    }
    fail_at(
        place, path_of(child), "unknown key '" + child.key + "'" + suggestion(child.key, valid));
}

ConfigNode* child_of(const ConfigNode& map, std::string_view key) {
    const auto found = std::find_if(map.children.begin(),
                                    map.children.end(),
                                    [&](const auto& child) { return child->key == key; });
    return found == map.children.end() ? nullptr : found->get();
}

ConfigNode& add_child(ConfigNode& parent, std::string key, ConfigPlace place) {
    ConfigNode& child = *parent.children.emplace_back(std::make_unique<ConfigNode>());
    child.parent = &parent;
    child.key = std::move(key);
    child.place = std::move(place);
    return child;
}

std::string_view describe(const ConfigNode& node) {
    switch (node.kind) {
        case ConfigNode::Kind::Null:
            return "nothing";
        case ConfigNode::Kind::List:
            return "a list";
        case ConfigNode::Kind::Map:
            return "a map";
        case ConfigNode::Kind::Scalar:
            break;
    }
    return node.quoted ? "text in quotes" : "a value";
}

}  // namespace astra
