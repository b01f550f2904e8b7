// Wrong networks, each run through the program in a process of its own, whose time and memory can
// be told.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/experiment.h"

namespace astra::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr double kMostSeconds = 10;
inline constexpr std::uint64_t kMostMegabytes = 4'000;
#else
inline constexpr double kMostSeconds = 1;
inline constexpr std::uint64_t kMostMegabytes = 200;
#endif

struct Costs {
    int status = -1;  // of the process; -1: it was killed
    std::string error;
    double seconds = 0;  // of processor time
    std::uint64_t megabytes = 0;
};

// A program that runs away is ended after 20 s of processor time.
inline Costs run_apart(const Arguments& arguments, const ScratchFolder& folder) {
    const std::string error_file = folder.file("stderr");
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
        const rlimit limit{20, 20};
        setrlimit(RLIMIT_CPU, &limit);
        if (std::freopen("/dev/null", "w", stdout) == nullptr ||
            std::freopen(error_file.c_str(), "w", stderr) == nullptr) {
            _exit(99);
        }
        const int status = run_program(arguments);
        std::fflush(nullptr);
        _exit(status);
    }
    Costs costs;
    int status = 0;
    rusage used{};
    EXPECT_EQ(wait4(child, &status, 0, &used), child);
    costs.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    costs.seconds = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                    static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e-6;
    costs.megabytes = static_cast<std::uint64_t>(used.ru_maxrss) / 1024;
    std::ostringstream text;
    text << std::ifstream(error_file).rdbuf();
    costs.error = text.str();
    return costs;
}

struct BadNetwork {
    std::string name;
    std::string study;               // without a workload: flows are
    std::vector<std::string> parts;  // of the message
    std::string graph{};             // graph.yml
    Arguments more{};                // options
    std::string flows = "1 0 1 65536 0\n";
};

inline std::ostream& operator<<(std::ostream& out, const BadNetwork& row) {
    return out << row.name;
}

inline std::string dimension(const std::string& keys) {
    return "network:\n  dimensions:\n    - {bandwidth: 100Gbps, latency: 500ns, " + keys + "}\n";
}
inline std::string on_switch(const std::string& keys) {
    return dimension("topology: switch, ranks: 8") + "  " + keys + "\n";
}
inline std::string on_leaf_spine(const std::string& keys) {
    return dimension("topology: leaf_spine, ranks: 8, hosts_per_leaf: 4") + "  " + keys + "\n";
}
inline std::string on_packets(const std::string& keys) {
    return on_switch("backend: packet\n  packet: {" + keys + "}");
}
inline std::string on_graph() {
    return dimension("topology: custom, file: graph.yml");
}

// Status 2 and one line that has all parts, at most `times` the usual time and memory.
inline void expect_refused(const BadNetwork& bad, unsigned times = 1) {
    const ScratchFolder folder;
    folder.write("graph.yml", bad.graph);
    Arguments arguments = {"run",
                           folder.write("study.yml", bad.study),
                           "--flows=" + folder.write("set.flows", bad.flows)};
    arguments.insert(arguments.end(), bad.more.begin(), bad.more.end());
    const Costs costs = run_apart(arguments, folder);
    EXPECT_EQ(costs.status, 2) << costs.error;
    EXPECT_THAT(costs.error, testing::StartsWith("astra: error: "));
    EXPECT_EQ(std::count(costs.error.begin(), costs.error.end(), '\n'), 1) << costs.error;
    for (const std::string& part : bad.parts) {
        EXPECT_THAT(costs.error, testing::HasSubstr(part));
    }
    EXPECT_LT(costs.seconds, kMostSeconds * times);
    EXPECT_LT(costs.megabytes, kMostMegabytes * times);
}

inline const auto kBadNetworkName = [](const auto& row) { return row.param.name; };

}  // namespace astra::test
