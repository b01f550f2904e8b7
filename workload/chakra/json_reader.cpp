#include "workload/chakra/json_reader.h"

#include <cstddef>
#include <iterator>
#include <string>

#include <nlohmann/json.hpp>

#include "astra/core/error.h"
#include "workload/chakra/json_events.h"
#include "workload/graph/messages.h"

namespace astra {
namespace {

using nlohmann::json;

constexpr std::size_t kHead = 4096;
constexpr std::size_t kMostMessage = 300;
constexpr std::size_t kMostToken = std::size_t{64} << 20U;  // blanks before it included
constexpr int kOutOfRange = 406;  // the parser's number for a number that a double cannot hold
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";

bool is_blank(char c) {
    return kBlanks.find(c) != std::string_view::npos;
}

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// A source and how far it was read; shared by the iterators, which only name it.
struct Input {
    ByteSource* source = nullptr;
    JsonPosition position;
    bool line_ended = false;
    std::size_t since_token = 0;  // bytes

    void advance() {
        if (++since_token > kMostToken) {
            fail("a text, a number or a gap of more than 64 MiB");
        }
        if (line_ended) {
            ++position.line;
            position.column = 0;
        }
        ++position.column;
        line_ended = source->window().front() == '\n';
        source->consume(1);
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw TraceError(source->file() + ":" + std::to_string(position.line) + ":" +
                         std::to_string(position.column) + ": " + what);
    }
};

class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    Iterator() = default;
    explicit Iterator(Input* input) : input_(input) {}

    char operator*() const { return input_->source->window().front(); }
    Iterator& operator++() {
        input_->advance();
        return *this;
    }
    bool operator==(const Iterator& other) const { return at_end() == other.at_end(); }
    bool operator!=(const Iterator& other) const { return !(*this == other); }

  private:
    bool at_end() const { return input_ == nullptr || !input_->source->ensure(1); }
    Input* input_ = nullptr;
};

class Handler final : public nlohmann::json_sax<json> {
  public:
    Handler(JsonEvents& events, Input& input) : events_(events), input_(input) {}

    bool null() override { return give({}); }
    bool boolean(bool value) override {
        JsonScalar scalar;
        scalar.type = JsonScalar::Type::Boolean;
        scalar.magnitude = value ? 1 : 0;
        return give(scalar);
    }
    bool number_integer(number_integer_t value) override {
        JsonScalar scalar;
        scalar.type = JsonScalar::Type::Integer;
        scalar.negative = value < 0;
        const auto bits = static_cast<std::uint64_t>(value);
        scalar.magnitude = value < 0 ? ~bits + 1 : bits;
        return give(scalar);
    }
    bool number_unsigned(number_unsigned_t value) override {
        JsonScalar scalar;
        scalar.type = JsonScalar::Type::Integer;
        scalar.magnitude = value;
        return give(scalar);
    }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        JsonScalar scalar;
        scalar.type = JsonScalar::Type::Number;
        scalar.number = value;
        return give(scalar);
    }
    bool string(string_t& value) override {
        JsonScalar scalar;
        scalar.type = JsonScalar::Type::Text;
        scalar.text = value;
        return give(scalar);
    }
    bool binary(binary_t& /*value*/) override { return true; }
    bool start_object(std::size_t /*size*/) override {
        events_.start_object();
        return check_depth() && next_token();
    }
    bool key(string_t& name) override {
        events_.key(name);
        return next_token();
    }
    bool end_object() override {
        events_.end_object();
        return next_token();
    }
    bool start_array(std::size_t /*size*/) override {
        events_.start_array();
        return check_depth() && next_token();
    }
    bool end_array() override {
        events_.end_array();
        return next_token();
    }
    bool parse_error(std::size_t /*at*/,
                     const std::string& token,
                     const nlohmann::detail::exception& error) override {
        if (error.id == kOutOfRange) {
            input_.fail("the number " + printable(token) + " is out of range");
        }
        std::string what = error.what();
        // "[json.exception.parse_error.101] parse error at line 1, column 2: …": its lines are
        // those of one document, ours those of the file.
        const std::size_t column = what.find(": ");
        what.erase(0, column == std::string::npos ? 0 : column + 2);
        input_.fail(std::string(cut_text(what, kMostMessage)));
    }

  private:
    bool give(const JsonScalar& value) {
        events_.scalar(value);
        return next_token();
    }
    bool next_token() {
        input_.since_token = 0;
        return true;
    }
    bool check_depth() const {
        if (events_.too_deep()) {
            input_.fail("nested deeper than " + std::to_string(JsonEvents::kMostDepth) + " levels");
        }
        return true;
    }

    JsonEvents& events_;
    Input& input_;
};

}  // namespace

bool looks_like_json(ByteSource& source) {
    source.ensure(kHead);
    std::string_view text = source.window().substr(0, kHead);
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    text = without_blanks(text);
    if (text.empty() || (text.front() != '{' && text.front() != '[')) {
        return false;
    }
    const bool object = text.front() == '{';
    text = without_blanks(text.substr(1));
    if (text.empty()) {
        return false;
    }
    if (!object) {
        return text.front() == '{' || text.front() == '[' || text.front() == ']';
    }
    if (text.front() == '}') {
        return true;
    }
    if (text.front() != '"') {
        return false;
    }
    std::size_t i = 1;
    while (i < text.size() && (is_letter(text[i]) || (text[i] >= '0' && text[i] <= '9'))) {
        ++i;
    }
    return i > 1 && i < text.size() && text[i] == '"' &&
           without_blanks(text.substr(i + 1)).starts_with(':');
}

bool is_named_json(const std::string& file) {
    return file.ends_with(".json") || file.ends_with(".json.gz") || file.ends_with(".json.zst");
}

void read_json(ByteSource& source, NodeAssembler& nodes) {
    Input input{&source, {}};
    JsonEvents events(nodes, input.position);
    Handler handler(events, input);
    if (!source.ensure(1)) {
        throw TraceError(source.file() + ": the file is empty");
    }
    source.ensure(kByteOrderMark.size());
    if (source.window().starts_with(kByteOrderMark)) {
        source.consume(kByteOrderMark.size());
    }
    for (bool first = true;; first = false) {
        while (source.ensure(1) && is_blank(source.window().front())) {
            input.advance();
        }
        const bool ended = !source.ensure(1);
        if (ended && !first) {
            return;
        }
        if (ended || (source.window().front() != '{' && source.window().front() != '[')) {
            if (!ended) {
                input.advance();
            }
            input.fail("a JSON trace is an object or a list");
        }
        json::sax_parse(Iterator(&input), Iterator(), &handler, json::input_format_t::json, false);
    }
}

}  // namespace astra
