// Hashes and seeded streams of 64 bits: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
#pragma once

#include <cstdint>

namespace astra {

inline constexpr std::uint64_t kMixStep = 0x9e3779b97f4a7c15ULL;

// A bijection that makes neighbours unlike. mix(seed), mix(seed + kMixStep), … is a stream.
constexpr std::uint64_t mix(std::uint64_t x) {
    x += kMixStep;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

}  // namespace astra
