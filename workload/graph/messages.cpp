#include "workload/graph/messages.h"

#include <algorithm>
#include <cstddef>

namespace astra {
namespace {

constexpr std::size_t kMostPrinted = 80;

bool is_continuation(char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

// Bytes of the UTF-8 character that `text` starts with; 0 if it is none.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const unsigned first = byte(0);
    if (first < 0x80U) {
        return 1;
    }
    if (first < 0xc2U || first > 0xf4U) {
        return 0;
    }
    const std::size_t size = first < 0xe0U ? 2 : first < 0xf0U ? 3 : 4;
    // Overlong forms, surrogates and numbers beyond Unicode show in the second byte.
    const unsigned least = first == 0xe0U ? 0xa0U : first == 0xf0U ? 0x90U : 0x80U;
    const unsigned most = first == 0xedU ? 0x9fU : first == 0xf4U ? 0x8fU : 0xbfU;
    if (byte(1) < least || byte(1) > most) {
        return 0;
    }
    for (std::size_t i = 2; i < size; ++i) {
        if (i >= text.size() || !is_continuation(text[i])) {
            return 0;
        }
    }
    return size;
}

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        if (size == 0) {
            return false;
        }
        text.remove_prefix(size);
    }
    return true;
}

}  // namespace

std::string_view cut_text(std::string_view text, std::size_t most) {
    if (text.size() <= most) {
        return text;
    }
    while (most > 0 && is_continuation(text[most])) {
        --most;
    }
    return text.substr(0, most);
}

void repair_utf8(std::string& text) {
    if (!is_utf8(text)) {
        std::replace_if(
            text.begin(), text.end(), [](char c) { return (c & '\x80') != 0; }, '?');
    }
}

std::string printable(std::string_view text) {
    std::string result(cut_text(text, kMostPrinted));
    for (char& c : result) {
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            c = '?';
        }
    }
    if (text.size() > kMostPrinted) {
        result += "...";
    }
    return result;
}

std::string node_place(const std::string& file,
                       std::uint32_t rank,
                       std::uint64_t id,
                       std::string_view name) {
    std::string result =
        file + ": rank " + std::to_string(rank) + ", node " + std::to_string(id) + " (";
    result += printable(name);
    result += ")";
    return result;
}

std::string ranges_text(const std::vector<std::uint32_t>& ascending) {
    std::string result;
    std::size_t i = 0;
    while (i < ascending.size()) {
        std::size_t last = i;
        while (last + 1 < ascending.size() && ascending[last + 1] == ascending[last] + 1) {
            ++last;
        }
        result += result.empty() ? "" : ", ";
        result += std::to_string(ascending[i]);
        if (last > i) {
            result += '-';
            result += std::to_string(ascending[last]);
        }
        i = last + 1;
    }
    return result;
}

}  // namespace astra
