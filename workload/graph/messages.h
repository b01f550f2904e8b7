// The common forms of messages about traces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// `text` fit for one line of a message: control characters replaced, cut to 80 bytes.
std::string printable(std::string_view text);

// The longest start of `text` that has at most `most` bytes and does not end within a character.
std::string_view cut_text(std::string_view text, std::size_t most);

// Replaces all bytes beyond ASCII unless `text` is UTF-8.
void repair_utf8(std::string& text);

// "file: rank 3, node 7 (name)"
std::string node_place(const std::string& file,
                       std::uint32_t rank,
                       std::uint64_t id,
                       std::string_view name);

// "3, 8-15" for ascending numbers.
std::string ranges_text(const std::vector<std::uint32_t>& ascending);

}  // namespace astra
