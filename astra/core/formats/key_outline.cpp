#include "astra/core/formats/key_outline.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace astra {
namespace {

constexpr std::size_t kMostKeys = 256;
constexpr std::size_t kLongestKey = 64;
constexpr std::string_view kUtf8Mark = "\xef\xbb\xbf";
constexpr std::string_view kSpaces = " \t\r\n";

void add_key(std::set<std::string, std::less<>>& keys, std::string_view key) {
    if (keys.size() < kMostKeys && key.size() <= kLongestKey) {
        keys.emplace(key);
    }
}

class JsonScan {
  public:
    JsonScan(std::string_view text, KeyOutline& outline) : text_(text), outline_(outline) {}

    void run() {
        for (; at_ < text_.size(); ++at_) {
            const char c = text_[at_];
            if (c == '"') {
                take_text();
            } else if (c == '{' || c == '[') {
                outline_.is_list = outline_.is_list || (open_.empty() && c == '[');
                open_.push_back(c);
            } else if ((c == '}' || c == ']') && !open_.empty()) {
                open_.pop_back();
            }
        }
    }

  private:
    void take_text() {
        const std::size_t begin = ++at_;
        while (at_ < text_.size() && text_[at_] != '"') {
            at_ += text_[at_] == '\\' ? 2U : 1U;
        }
        if (at_ >= text_.size()) {
            return;
        }
        const std::string_view content = text_.substr(begin, at_ - begin);
        const std::size_t next = text_.find_first_not_of(kSpaces, at_ + 1);
        const bool is_key = !open_.empty() && open_.back() == '{' &&
                            next != std::string_view::npos && text_[next] == ':';
        if (!is_key) {
            return;
        }
        // A text is a document, or several: the maps of all of them are outermost.
        if (open_.size() == 1) {
            add_key(outline_.keys, content);
        } else if (open_[open_.size() - 2] == '[' &&
                   open_.size() == (open_.front() == '[' ? 2U : 3U)) {
            add_key(outline_.item_keys, content);
        }
    }

    std::string_view text_;
    KeyOutline& outline_;
    std::size_t at_ = 0;
    std::vector<char> open_;
};

bool is_key_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

// Lines without indent that begin with "key:"; a list's maps one level below.
void scan_yaml(std::string_view text, KeyOutline& outline) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t indent = std::min(line.find_first_not_of(" -"), line.size());
        const bool item = indent > 0;
        line.remove_prefix(indent);
        if (line.starts_with('"') || line.starts_with('\'')) {
            line.remove_prefix(1);
        }
        const auto stop =
            std::find_if_not(line.begin(), line.end(), [](char c) { return is_key_letter(c); });
        const auto size = static_cast<std::size_t>(stop - line.begin());
        std::string_view rest = line.substr(size);
        if (rest.starts_with('"') || rest.starts_with('\'')) {
            rest.remove_prefix(1);
        }
        const bool colon = rest.starts_with(':') &&
                           (rest.size() == 1 || kSpaces.find(rest[1]) != std::string_view::npos);
        if (size > 0 && colon) {
            add_key(item ? outline.item_keys : outline.keys, line.substr(0, size));
        }
    }
}

}  // namespace

KeyOutline key_outline(std::string_view text) {
    KeyOutline outline;
    if (text.starts_with(kUtf8Mark)) {
        text.remove_prefix(kUtf8Mark.size());
    }
    const std::size_t first = text.find_first_not_of(kSpaces);
    if (first == std::string_view::npos) {
        return outline;
    }
    outline.is_json = text[first] == '{' || text[first] == '[';
    if (outline.is_json) {
        JsonScan(text.substr(first), outline).run();
    } else {
        scan_yaml(text, outline);
    }
    return outline;
}

}  // namespace astra
