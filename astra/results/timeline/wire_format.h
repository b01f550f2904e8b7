// Protobuf's wire format, as far as a trace needs it: a tag (field · 8 + type), then a varint, a
// fixed64 or a length and as many bytes.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace astra::wire {

constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kFixed64 = 1;
constexpr std::uint32_t kBytes = 2;

// At most 10 bytes.
inline char* put_varint(char* to, std::uint64_t value) {
    while (value >= 0x80U) {
        *to++ = static_cast<char>(static_cast<unsigned char>(value | 0x80U));
        value >>= 7U;
    }
    *to++ = static_cast<char>(static_cast<unsigned char>(value));
    return to;
}

inline char* put_field(char* to, std::uint32_t field, std::uint64_t value) {
    return put_varint(put_varint(to, (field << 3U) | kVarint), value);
}

inline char* put_fixed64(char* to, std::uint32_t field, std::uint64_t value) {
    to = put_varint(to, (field << 3U) | kFixed64);
    for (std::uint32_t byte = 0; byte < 8; ++byte) {
        *to++ = static_cast<char>(static_cast<unsigned char>(value >> (8U * byte)));
    }
    return to;
}

inline void append_field(std::string& to, std::uint32_t field, std::uint64_t value) {
    char text[20];
    to.append(text, static_cast<std::size_t>(put_field(text, field, value) - text));
}

inline void append_bytes(std::string& to, std::uint32_t field, std::string_view bytes) {
    char text[20];
    char* end = put_varint(put_varint(text, (field << 3U) | kBytes), bytes.size());
    to.append(text, static_cast<std::size_t>(end - text));
    to.append(bytes);
}

}  // namespace astra::wire
