// A fast hash of bytes, wide enough to stand for them (not against an attacker).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace astra {

class ContentHash {
  public:
    // The result depends on how the bytes are cut into calls, unless all but the last call give a
    // multiple of eight.
    void add(const void* data, std::size_t size) {
        const char* bytes = static_cast<const char*>(data);
        std::size_t i = 0;
        for (; i + 8 <= size; i += 8) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + i, 8);
            add_word(word);
        }
        if (i < size) {
            std::uint64_t word = 0;
            std::memcpy(&word, bytes + i, size - i);
            add_word(word);
        }
        add_word(size);
    }
    void add_word(std::uint64_t word) {
        low_ = fold(low_ ^ word, 0x9e3779b97f4a7c15U) + 0x2545f4914f6cdd1dU;
        high_ = fold(high_ + word, 0xd6e8feb86659fd93U) ^ 0xa0761d6478bd642fU;
    }
    std::uint64_t low() const { return low_; }
    bool operator==(const ContentHash& other) const = default;
    bool operator<(const ContentHash& other) const {
        return low_ != other.low_ ? low_ < other.low_ : high_ < other.high_;
    }

  private:
    static std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
        const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
        return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
    }
    std::uint64_t low_ = 0x8ebc6af09c88c6e3U;
    std::uint64_t high_ = 0x589965cc75374cc3U;
};

}  // namespace astra
