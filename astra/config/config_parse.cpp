#include "astra/config/config_parse.h"

#include <algorithm>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "astra/config/config_text.h"
#include "astra/core/error.h"

namespace astra {
namespace {

constexpr std::size_t kMaxNodes = 1'000'000;
constexpr std::string_view kStandardTag = "tag:yaml.org,2002:";

// Builds nodes from the parser's events, so that the limits hold before memory is spent.
class NodeBuilder final : public YAML::EventHandler {
  public:
    explicit NodeBuilder(std::shared_ptr<const ConfigSource> source)
        : source_(std::move(source)), root_(std::make_unique<ConfigNode>()) {
        root_->place = ConfigPlace{source_, 1, 1};
    }

    std::unique_ptr<ConfigNode> take_root() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark& mark) override {
        if (++documents_ > 1) {
            fail(mark, "text after the end of the document; one document a file is expected");
        }
    }
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        remember(anchor, add_value(mark));
    }

    void OnScalar(const YAML::Mark& mark,
                  const std::string& tag,
                  YAML::anchor_t anchor,
                  const std::string& value) override {
        if (expects_key()) {
            take_key(mark, value);
            return;
        }
        ConfigNode& node = add_value(mark);
        node.kind = ConfigNode::Kind::Scalar;
        node.scalar = value;
        // The parser's own tags: "?" for a plain scalar, "!" for a quoted one.
        node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
        check_tag(mark, tag);
        remember(anchor, node);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            fail(mark, "an alias of something that is not a value");
        }
        const bool open = std::any_of(open_.begin(), open_.end(), [&](const Open& level) {
            return level.node == found->second;
        });
        if (open) {
            fail(mark, "an alias inside the value that it stands for");
        }
        ConfigNode& node = add_value(mark);
        copy_value(*found->second, node, mark, open_.size());
    }

    void OnSequenceStart(const YAML::Mark& mark,
                         const std::string& tag,
                         YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        start(mark, tag, anchor, ConfigNode::Kind::List);
    }
    void OnSequenceEnd() override { open_.pop_back(); }

    void OnMapStart(const YAML::Mark& mark,
                    const std::string& tag,
                    YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        start(mark, tag, anchor, ConfigNode::Kind::Map);
    }
    void OnMapEnd() override { open_.pop_back(); }

    [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
        throw ConfigError(to_text(place_at(mark)) + ": " + message);
    }

  private:
    // A list or map that is not finished.
    struct Open {
        ConfigNode* node;
        bool has_key = false;
        std::string key;
        YAML::Mark key_mark;
        std::unordered_map<std::string_view, const ConfigNode*> keys;
    };

    ConfigPlace place_at(const YAML::Mark& mark) const {
        if (mark.is_null()) {
            return {source_, 0, 0};
        }
        return {source_,
                static_cast<std::uint32_t>(mark.line) + 1,
                static_cast<std::uint32_t>(mark.column) + 1};
    }

    bool expects_key() const {
        return !open_.empty() && open_.back().node->kind == ConfigNode::Kind::Map &&
               !open_.back().has_key;
    }

    void take_key(const YAML::Mark& mark, const std::string& value) {
        Open& level = open_.back();
        if (const auto found = level.keys.find(value); found != level.keys.end()) {
            fail(mark,
                 "the key '" + value + "' was given before, at line " +
                     std::to_string(found->second->key_line));
        }
        level.key = value;
        level.key_mark = mark;
        level.has_key = true;
    }

    void count_node(const YAML::Mark& mark) {
        if (++nodes_ > kMaxNodes) {
            fail(mark, "more than 1000000 values");
        }
    }

    ConfigNode& add_value(const YAML::Mark& mark) {
        count_node(mark);
        if (open_.empty()) {
            root_->place = place_at(mark);
            return *root_;
        }
        if (expects_key()) {
            fail(mark, "a key must be plain text");
        }
        Open& level = open_.back();
        if (level.node->kind == ConfigNode::Kind::List) {
            return add_child(
                *level.node, std::to_string(level.node->children.size()), place_at(mark));
        }
        ConfigNode& node = add_child(*level.node, std::move(level.key), place_at(mark));
        const ConfigPlace key_place = place_at(level.key_mark);
        node.key_line = key_place.line;
        node.key_column = key_place.column;
        level.keys.emplace(node.key, &node);
        level.has_key = false;
        return node;
    }

    void start(const YAML::Mark& mark,
               const std::string& tag,
               YAML::anchor_t anchor,
               ConfigNode::Kind kind) {
        ConfigNode& node = add_value(mark);
        check_depth(mark, open_.size() + 1);
        check_tag(mark, tag);
        node.kind = kind;
        remember(anchor, node);
        open_.push_back(Open{&node, false, {}, {}, {}});
    }

    void check_depth(const YAML::Mark& mark, std::size_t depth) const {
        if (depth > kMaxDepth) {
            fail(mark, "nested deeper than 64 levels");
        }
    }

    void check_tag(const YAML::Mark& mark, const std::string& tag) const {
        if (tag.size() > 1 && !tag.starts_with(kStandardTag)) {
            fail(mark, "the tag '" + tag + "' is not supported");
        }
    }

    void remember(YAML::anchor_t anchor, ConfigNode& node) {
        if (anchor != YAML::NullAnchor) {
            anchors_[anchor] = &node;
        }
    }

    // The copies keep the place of what they are copies of: that is where a mistake is mended.
    void copy_value(const ConfigNode& from,
                    ConfigNode& to,
                    const YAML::Mark& mark,
                    std::size_t depth) {
        to.kind = from.kind;
        to.quoted = from.quoted;
        to.scalar = from.scalar;
        to.place = from.place;
        if (from.kind == ConfigNode::Kind::List || from.kind == ConfigNode::Kind::Map) {
            check_depth(mark, depth + 1);
        }
        for (const auto& child : from.children) {
            count_node(mark);
            ConfigNode& copy = add_child(to, child->key, child->place);
            copy.key_line = child->key_line;
            copy.key_column = child->key_column;
            copy_value(*child, copy, mark, depth + 1);
        }
    }

    std::shared_ptr<const ConfigSource> source_;
    std::unique_ptr<ConfigNode> root_;
    std::vector<Open> open_;
    std::unordered_map<YAML::anchor_t, ConfigNode*> anchors_;
    std::size_t nodes_ = 0;
    std::size_t documents_ = 0;
};

}  // namespace

std::unique_ptr<ConfigNode> parse_config(std::string_view text,
                                         const std::shared_ptr<const ConfigSource>& source) {
    std::istringstream stream(prepared_text(text, source->name));
    NodeBuilder builder(source);
    try {
        YAML::Parser parser(stream);
        while (parser.HandleNextDocument(builder)) {
        }
    } catch (const YAML::Exception& error) {
        builder.fail(error.mark, error.msg);
    }
    return builder.take_root();
}

}  // namespace astra
