// The calibrated machines of inputs/machines against published figures of nccl-tests.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/simulation/simulation.h"
#include "tests/support/experiment.h"
#include "tests/support/source_folder.h"

namespace astra::test {
namespace {

// all_reduce_perf, bus bandwidth in GB/s (10^9), eight GPUs of one node; from the Azure AI
// benchmarking guide: ND A100 v4 and ND H100 v5 with NCCL 2.18.5, ND H200 v5 with NCCL 2.20.5. H100
// and H200 ran NVLS. Two decimals, so that figures below 8 KiB are rounded by 7 % and more.
constexpr std::uint64_t kSizes[] = {1'024,
                                    8'192,
                                    65'536,
                                    262'144,
                                    1'048'576,
                                    4'194'304,
                                    16'777'216,
                                    67'108'864,
                                    268'435'456,
                                    1'073'741'824,
                                    4'294'967'296,
                                    8'589'934'592};
constexpr std::size_t kRows = std::size(kSizes);

struct Measured {
    std::string machine;
    double bus_bandwidth[kRows];
};

const Measured kMeasured[] = {
    {"a100_8",
     {0.04, 0.33, 2.70, 10.11, 36.22, 71.43, 109.22, 166.63, 213.87, 228.10, 230.48, 231.58}},
    {"h100_8",
     {0.07, 0.53, 2.72, 10.86, 43.70, 128.73, 234.45, 361.78, 423.38, 466.35, 475.54, 478.87}},
    {"h200_8",
     {0.06, 0.47, 3.72, 14.75, 52.96, 138.44, 240.41, 368.11, 432.24, 467.58, 477.41, 479.98}},
};

double time_us(const std::string& machine, std::uint64_t bytes) {
    ConfigTree study = ConfigTree::parse_file(source_file("inputs/machines/" + machine + ".yml"),
                                              FilePurpose::Study);
    study.set("workload.generate.kind=collective");
    study.set("workload.generate.collective=all_reduce");
    study.set(fmt::format("workload.generate.bytes={}B", bytes));
    Simulation simulation(Study(std::move(study)));
    EXPECT_TRUE(simulation.run({}));
    return static_cast<double>(simulation.result().simulated.ps) / 1e6;
}

// GB/s: 2·7/8 of the buffer over the time.
double bus_bandwidth(const std::string& machine, std::uint64_t bytes) {
    return 1.75 * static_cast<double>(bytes) / 1e3 / time_us(machine, bytes);
}

// Mean absolute error in per cent of every other row from `first` on, of 8 KiB and more.
double mean_error(const Measured& measured, std::size_t first) {
    double sum = 0;
    int count = 0;
    for (std::size_t row = first; row < kRows; row += 2) {
        if (kSizes[row] >= 8192) {
            const double truth = measured.bus_bandwidth[row];
            sum += std::abs(bus_bandwidth(measured.machine, kSizes[row]) / truth - 1);
            ++count;
        }
    }
    return 100 * sum / count;
}

// Fitted on the first, third, fifth … row only (scripts/fit-machine); the others check.
TEST(Machines, MeetWhatWasMeasured) {
    double fitted_sum = 0;
    double held_out_sum = 0;
    for (const Measured& measured : kMeasured) {
        const double fitted = mean_error(measured, 0);
        const double held_out = mean_error(measured, 1);
        fmt::print("{}: {:.2f} % of the rows fitted on, {:.2f} % of those held out\n",
                   measured.machine,
                   fitted,
                   held_out);
        EXPECT_LT(fitted, 8) << measured.machine;
        EXPECT_LT(held_out, 8) << measured.machine;
        fitted_sum += fitted;
        held_out_sum += held_out;
    }
    fmt::print("all: {:.2f} %, {:.2f} %\n", fitted_sum / 3, held_out_sum / 3);
    EXPECT_LT(fitted_sum / 3, 8);
    EXPECT_LT(held_out_sum / 3, 8);
}

// From 1 KiB to 8 GiB in steps of 2^(1/4): times grow, and the bandwidth never falls, and never
// grows by more than the size does (that would be a time that falls).
TEST(Machines, AreSmoothBetweenThePoints) {
    for (const Measured& measured : kMeasured) {
        double last_time = 0;
        double last_bandwidth = 0;
        for (int step = 0; step <= 92; ++step) {
            const auto bytes = static_cast<std::uint64_t>(std::exp2(10 + step / 4.0)) / 8 * 8;
            const double time = time_us(measured.machine, bytes);
            const double bandwidth = static_cast<double>(bytes) / time;
            EXPECT_GE(time, last_time) << measured.machine << ' ' << bytes;
            EXPECT_GE(bandwidth, 0.99 * last_bandwidth) << measured.machine << ' ' << bytes;
            last_time = time;
            last_bandwidth = bandwidth;
        }
    }
}

}  // namespace
}  // namespace astra::test
