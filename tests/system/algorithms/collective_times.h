// What every algorithm takes on an empty network, by closed forms. Costs as in the α-β-γ model of
// Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH"
// (2005), and of Chan, Heimlich, Purkayastha, van de Geijn, "Collective communication:
// theory, practice, and experience" (2007), with what this simulator adds: a delay d before the
// first message and for every message received.
//
// n members, S bytes in the buffer, m = S/n. C(x): a message of x bytes; R(x): its reduction.
#pragma once

#include <bit>
#include <cstdint>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "astra/core/types.h"

namespace astra::times {

using Kind = CollectiveKind;
using Time = std::uint64_t;

inline constexpr Time kDelay = 10'000;     // ps
inline constexpr Time kLatency = 500'000;  // ps a link
// 3 and all its multiples by powers of two, so that every m and half of it is whole.
inline constexpr std::uint64_t kSize = 3U << 20U;

struct Network {
    std::string backend;
    std::string topology;
    bool aware() const { return backend == "congestion_aware"; }
    bool switched() const { return topology == "switch"; }
};

// 100 GB/s are 10 ps a byte, 1000 GB/s of local memory 1 ps a byte and access.
struct Costs {
    Network network;
    std::uint64_t n = 0;
    Time d = kDelay;

    static Time wire(std::uint64_t bytes) { return 10 * bytes; }
    // Each member sends `at_once` such messages at once, to different members, and receives as
    // many. A switch stores a message and forwards it: they leave one after the other, and the last
    // one crosses the second link alone. A full connection has a link for each.
    Time c(std::uint64_t bytes, std::uint64_t at_once = 1) const {
        if (!network.switched()) {
            return kLatency + wire(bytes);
        }
        return 2 * kLatency + (network.aware() ? at_once + 1 : 1) * wire(bytes);
    }
    // One that is received.
    Time step(std::uint64_t bytes, std::uint64_t at_once = 1) const {
        return c(bytes, at_once) + d;
    }
    // Two reads and a write.
    static Time r(std::uint64_t bytes) { return 3 * bytes; }
    std::uint64_t m() const { return kSize / n; }
    std::uint64_t levels() const { return static_cast<std::uint64_t>(std::bit_width(n - 1)); }
};

enum class Sizes : std::uint8_t { Any, PowersOfTwo, ThreeHalves, EvenFromFour, FromEight };

struct Row {
    const char* algorithm;
    Kind kind;
    Sizes sizes;
    Time (*expected)(const Costs& t);
    bool shares_a_switch = false;  // messages meet there: no closed form
};

inline std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.algorithm << ' ' << name_of(row.kind);
}
inline std::string name_of_row(const testing::TestParamInfo<Row>& test) {
    return std::string(test.param.algorithm) + "_" + name_of(test.param.kind) + "_" +
           std::to_string(test.index);
}

// Runs the row on every network and size that it is for.
void expect_closed_form(const Row& row);

// Σ over the steps of recursive halving: S/2, S/4, … m; `parts` as fractions 1/2^i of S.
Time halving(const Costs& t, std::uint64_t members, bool reduces);
// Σ over the steps of distance 1, 2, 4, … of messages of min(distance, n - distance) blocks. In a
// reduce_scatter the first distance/2 blocks are reduced while the next message is in flight.
Time bruck(const Costs& t, bool reduces);
// Σ over the steps of distance d, those at offsets 0, 2d, 4d, … below n - d: their number of
// blocks.
Time pat(const Costs& t, bool reduces);
// n = 2^L, at most two blocks a message: one step of one, n/2 - 1 of two, n-1 blocks in all.
Time pat2(const Costs& t, bool reduces);
// Groups of two (G = 2) of n/2 = O: inside S/2, across m.
Time hierarchical2(const Costs& t, bool reduces);
// A message every wire(x) follows the first one where links take one at a time.
Time behind(const Costs& t, std::uint64_t slices, std::uint64_t bytes);
// How much longer a member's message waits that follows an exchange whose other half was there
// before: until its own half has left, and not until the other one is reduced.
inline Time in_turn(const Costs& t, std::uint64_t bytes) {
    return t.network.aware() ? Costs::wire(bytes) - Costs::r(bytes) : 0;
}
std::uint64_t power_below(const Costs& t);
// Folding: n-2^L members first hand S to another one, and get S back.
Time folding(const Costs& t);
// Rings of stride 1, -1, 2, -2 … that have no divisor in common with n: φ(n), at most 8.
std::uint64_t rings(const Costs& t);
// k rings at once, each with S/k: 2(n-1) steps of S/kn, half of them reduced. (Patarasuk, Yuan,
// "Bandwidth optimal all-reduce algorithms for clusters of workstations", 2009, for k = 1.)
Time rings_side_by_side(const Costs& t, std::uint64_t k);
// The first half of it: a reduce_scatter.
Time reducing_rings(const Costs& t, std::uint64_t k);
// Up and down a binary tree of L levels, all of `bytes` at every edge.
Time up_and_down(const Costs& t, std::uint64_t bytes);

}  // namespace astra::times
