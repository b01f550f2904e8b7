// The quantities that every layer shares: simulated time, sizes, rates and identities.
// Units are in the types: time in picoseconds, sizes in bytes, rates in bits a second.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace astra {

// The largest value that stands for a time; arithmetic saturates here and the event queue refuses
// to schedule at it. About 213 days.
inline constexpr std::uint64_t kMaxPs = std::numeric_limits<std::uint64_t>::max();

struct Duration {
    std::uint64_t ps = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const Duration&) const = default;
};

struct SimTime {
    std::uint64_t ps = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const SimTime&) const = default;
};

struct Bytes {
    std::uint64_t count = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const Bytes&) const = default;
};

// Zero means "no limit": a transfer at bandwidth zero takes no time.
struct Bandwidth {
    std::uint64_t bits_per_s = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const Bandwidth&) const = default;
};

constexpr std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
    return a > kMaxPs - b ? kMaxPs : a + b;
}
constexpr std::uint64_t saturating_multiply(std::uint64_t a, std::uint64_t b) {
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return product > kMaxPs ? kMaxPs : static_cast<std::uint64_t>(product);
}
constexpr SimTime operator+(SimTime t, Duration d) {
    return {saturating_add(t.ps, d.ps)};
}
constexpr Duration operator+(Duration a, Duration b) {
    return {saturating_add(a.ps, b.ps)};
}
constexpr Duration operator*(std::uint64_t n, Duration d) {
    return {saturating_multiply(n, d.ps)};
}
// Requires later >= earlier.
constexpr Duration operator-(SimTime later, SimTime earlier) {
    return {later.ps - earlier.ps};
}
constexpr Bytes operator+(Bytes a, Bytes b) {
    return {a.count + b.count};
}

// Time to move `size` at `rate`, rounded up to a picosecond, saturating: bytes · 8 · 10^12 / rate.
constexpr Duration transfer_time(Bytes size, Bandwidth rate) {
    if (rate.bits_per_s == 0 || size.count == 0) {
        return {};
    }
    using Wide = unsigned __int128;
    const Wide bits = static_cast<Wide>(size.count) * 8'000'000'000'000ULL;
    const Wide ps = (bits + rate.bits_per_s - 1) / rate.bits_per_s;
    return {ps > kMaxPs ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

// What a link of that rate moves in `time`, whole bytes.
constexpr std::uint64_t bytes_in(Duration time, Bandwidth rate) {
    const auto bits = static_cast<unsigned __int128>(time.ps) * rate.bits_per_s;
    return static_cast<std::uint64_t>(bits / 8'000'000'000'000ULL);
}

// The size of part `index` of `size` cut into `parts`: the first size mod parts parts are one byte
// longer, so that the parts always add up to `size`.
constexpr Bytes part_of(Bytes size, std::uint64_t parts, std::uint64_t index) {
    return {size.count / parts + (index < size.count % parts ? 1U : 0U)};
}

enum class RankId : std::uint32_t {};
enum class GroupId : std::uint32_t {};
enum class OpId : std::uint32_t {};    // index of an op in its rank's graph
enum class LinkId : std::uint32_t {};  // index of a directed link of the topology

constexpr std::uint32_t index(RankId id) {
    return static_cast<std::uint32_t>(id);
}
constexpr std::uint32_t index(GroupId id) {
    return static_cast<std::uint32_t>(id);
}
constexpr std::uint32_t index(OpId id) {
    return static_cast<std::uint32_t>(id);
}
constexpr std::uint32_t index(LinkId id) {
    return static_cast<std::uint32_t>(id);
}

enum class CollectiveKind : std::uint8_t {
    AllReduce,
    Reduce,
    AllGather,
    Gather,
    Scatter,
    Broadcast,
    AllToAll,
    ReduceScatter,
    ReduceScatterBlock,
    Barrier,
};
inline constexpr std::uint32_t kCollectiveKinds = 10;

// snake_case, as in result files: "all_reduce".
const char* name_of(CollectiveKind kind);

}  // namespace astra
