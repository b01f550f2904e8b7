#include <charconv>
#include <limits>
#include <optional>

#include <nlohmann/json.hpp>

#include "astra/config/config_node.h"
#include "astra/config/decimal.h"

namespace astra {
namespace {

using Json = nlohmann::ordered_json;

template <class Integer>
std::optional<Json> exact_integer(const std::string& text) {
    Integer value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return Json(value);
}

std::optional<Json> number_of(const std::string& text) {
    if (std::optional<Json> value = exact_integer<std::int64_t>(text)) {
        return value;
    }
    if (std::optional<Json> value = exact_integer<std::uint64_t>(text)) {
        return value;
    }
    const bool negative = text.starts_with('-');
    const std::optional<Decimal> number =
        parse_decimal(std::string_view(text).substr(negative ? 1 : 0));
    const std::optional<double> value = number ? to_double(*number, 0) : std::nullopt;
    if (!value) {
        return std::nullopt;
    }
    return Json(negative ? -*value : *value);
}

std::string base_name(std::string_view file) {
    while (file.size() > 1 && file.ends_with('/')) {
        file.remove_suffix(1);
    }
    const std::size_t slash = file.rfind('/');
    return std::string(slash == std::string_view::npos ? file : file.substr(slash + 1));
}

std::optional<Json> bool_of(const ConfigNode& node) {
    const std::string& text = node.scalar;
    if (text == "true" || text == "True" || text == "TRUE") {
        return Json(true);
    }
    if (text == "false" || text == "False" || text == "FALSE") {
        return Json(false);
    }
    // "on" may be a name: only what was read as a switch is one.
    if (node.read_as_bool && !number_of(text)) {
        const char first = text.empty() ? 'n' : text[0];
        const bool on = text.size() == 2 && (text[1] == 'n' || text[1] == 'N');
        return Json(first == 'y' || first == 'Y' || on);
    }
    return std::nullopt;
}

Json scalar_json(const ConfigNode& node) {
    if (node.file_name) {
        return base_name(node.scalar);
    }
    if (!node.quoted && !node.read_as_text) {
        if (std::optional<Json> value = bool_of(node)) {
            return std::move(*value);
        }
        if (std::optional<Json> value = number_of(node.scalar)) {
            return std::move(*value);
        }
    }
    return node.scalar;
}

// Where results go says nothing about what was simulated.
bool is_output_folder(const ConfigNode& node) {
    return node.key == "directory" && node.parent != nullptr && node.parent->key == "output";
}

Json node_json(const ConfigNode& node) {
    switch (node.kind) {
        case ConfigNode::Kind::Null:
            return nullptr;
        case ConfigNode::Kind::Scalar:
            return scalar_json(node);
        case ConfigNode::Kind::List: {
            Json list = Json::array();
            for (const auto& child : node.children) {
                list.push_back(node_json(*child));
            }
            return list;
        }
        case ConfigNode::Kind::Map:
            break;
    }
    Json map = Json::object();
    auto& members = map.get_ref<Json::object_t&>();
    members.reserve(node.children.size());
    for (const auto& child : node.children) {
        if (!is_output_folder(*child)) {
            // The keys of a node differ; the map's own insertion would search for each of them.
            static_cast<Json::object_t::Container&>(members).emplace_back(child->key,
                                                                          node_json(*child));
        }
    }
    return map;
}

}  // namespace

std::string json_of(const ConfigNode& root, int indent) {
    // A text given on the command line need not be UTF-8.
    return node_json(root).dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace astra
