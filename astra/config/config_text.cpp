#include "astra/config/config_text.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "astra/core/error.h"

namespace astra {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;
// yaml-cpp reads all of "[[[[..." ahead before it reports one level.
constexpr std::int64_t kMaxOpenBrackets = 10'000;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

[[noreturn]] void fail_reading(const std::string& file, int error) {
    throw ConfigError(file + ": cannot be read: " + std::generic_category().message(error));
}

std::uint8_t byte_of(char c) {
    return static_cast<std::uint8_t>(c);
}

// Bytes of the UTF-8 character that starts `text`; 0 if it is not one.
std::size_t character_size(std::string_view text) {
    const std::uint8_t first = byte_of(text[0]);
    if (first < 0x80) {
        const bool control = (first < 0x20 && first != '\t' && first != '\n' && first != '\r');
        return control || first == 0x7F ? 0 : 1;
    }
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) {
        return 0;
    }
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte_of(text[i]) & 0xC0) != 0x80) {
            return 0;
        }
    }
    const std::uint8_t second = byte_of(text[1]);
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : size;
}

void check_is_text(std::string_view text, const std::string& name) {
    std::size_t line = 1;
    std::size_t line_start = 0;
    std::int64_t open_brackets = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t size = character_size(text.substr(at));
        if (size == 0) {
            std::array<char, 8> hex{};
            const int digits =
                std::snprintf(hex.data(), hex.size(), "0x%02X", unsigned{byte_of(text[at])});
            throw ConfigError(name + ":" + std::to_string(line) + ":" +
                              std::to_string(at - line_start + 1) + ": byte " +
                              std::string(hex.data(), static_cast<std::size_t>(digits)) +
                              " is not text; YAML or JSON in UTF-8 is expected");
        }
        const char c = text[at];
        open_brackets += (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
        if (open_brackets > kMaxOpenBrackets) {
            throw ConfigError(name + ":" + std::to_string(line) + ":" +
                              std::to_string(at - line_start + 1) +
                              ": nested deeper than 64 levels");
        }
        at += size;
        if (c == '\n') {
            ++line;
            line_start = at;
        }
    }
}

// The code unit of "\uXXXX" at the start of `text`.
std::optional<std::uint32_t> escaped_unit(std::string_view text) {
    if (text.size() < 6 || text[0] != '\\' || text[1] != 'u') {
        return std::nullopt;
    }
    std::uint32_t unit = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + 6, unit, 16);
    return error == std::errc() && end == text.data() + 6 ? std::optional(unit) : std::nullopt;
}

// "\ud83d\ude00" as YAML writes it, "\U0001f600"; "" if `text` does not start with such a pair.
std::string joined_surrogates(std::string_view text) {
    const std::optional<std::uint32_t> high = escaped_unit(text);
    if (!high || *high < 0xD800 || *high > 0xDBFF) {
        return {};
    }
    const std::optional<std::uint32_t> low = escaped_unit(text.substr(6));
    if (!low || *low < 0xDC00 || *low > 0xDFFF) {
        return {};
    }
    const std::uint32_t code = 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00);
    std::array<char, 16> buffer{};
    const int size = std::snprintf(buffer.data(), buffer.size(), "\\U%08x", code);
    return {buffer.data(), static_cast<std::size_t>(size)};
}

std::string json_as_yaml(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    bool in_string = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (in_string && c == '\\') {
            const std::string joined = joined_surrogates(text.substr(at));
            if (!joined.empty()) {
                result += joined;
                at += 11;
                continue;
            }
            result.append(text.substr(at, 2));
            ++at;
            continue;
        }
        in_string = in_string != (c == '"');
        result.push_back(c == '\t' && !in_string ? ' ' : c);
    }
    return result;
}

}  // namespace

std::string read_config_file(const std::string& file, FilePurpose purpose) {
    // To open a pipe would wait for its writer, and a device may have no end.
    std::error_code unknown;
    const std::filesystem::file_status status = std::filesystem::status(file, unknown);
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
        !std::filesystem::is_directory(status)) {
        throw ConfigError(file + ": is not a regular file");
    }
    errno = 0;
    const std::unique_ptr<std::FILE, Close> stream(std::fopen(file.c_str(), "rb"));
    if (stream == nullptr) {
        fail_reading(file, errno);
    }
    std::string text;
    std::array<char, kFormatHead> block{};
    for (bool first = true;; first = false) {
        const std::size_t size = std::fread(block.data(), 1, block.size(), stream.get());
        text.append(block.data(), size);
        const std::string refusal = first ? format_refusal(text, purpose) : "";
        if (!refusal.empty()) {
            std::string message = file;
            message.append(": ").append(refusal);
            throw ConfigError(message);
        }
        if (text.size() > kMaxFileBytes) {
            throw ConfigError(file + ": is larger than 64 MiB; a configuration file is expected");
        }
        if (size < block.size()) {
            break;
        }
    }
    if (std::ferror(stream.get()) != 0) {
        fail_reading(file, errno);
    }
    return text;
}

std::string prepared_text(std::string_view text, const std::string& name) {
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    check_is_text(text, name);
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
    return json ? json_as_yaml(text) : std::string(text);
}

}  // namespace astra
