// One collective over all ranks, as a row of a table: the run must take the time of the closed form
// to the picosecond, and lie beside what ASTRA-sim 2 measured.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "tests/support/replay_check.h"

namespace astra::test {

inline constexpr const char* kAware = "congestion_aware";
inline constexpr const char* kUnaware = "congestion_unaware";

struct ReplaySystem {
    std::vector<std::string> algorithms{"ring"};
    std::uint32_t chunks = 1;
    std::uint32_t active = 1;
    std::uint64_t delay = 10;     // ns
    std::uint64_t memory = 1600;  // GB/s
    bool baseline = false;
    std::uint32_t queues = 0;  // 0 = not given
    double scale = 0;          // of the delay; 0 = not given
    std::string scheduling = "LIFO";
    std::uint32_t dimensions = 0;  // bits of involved_dim; 0 = not given
};

struct ReplayRow {
    std::string name;  // of the row in the reference's table
    std::string backend;
    std::vector<NetworkDimension> network;
    CollectiveKind kind{};
    std::uint64_t bytes = 0;
    ReplaySystem system;
    Reference reference;
};

// Factors of sizes, bandwidths and latencies.
struct ReplayScale {
    std::uint64_t bytes = 1;
    std::uint64_t bandwidth = 1;
    std::uint64_t latency = 1;
};

Experiment replay_experiment(const ReplayRow& row, const ReplayScale& scale = {});
FinishRange replay_time(const ReplayRow& row, const ReplayScale& scale = {});

inline std::ostream& operator<<(std::ostream& out, const ReplayRow& row) {
    return out << row.name;
}

}  // namespace astra::test
