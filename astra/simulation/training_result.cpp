#include "astra/simulation/training_result.h"

#include <algorithm>
#include <array>
#include <utility>

namespace astra {

namespace {

constexpr std::size_t kBins = 100;  // of an iteration

// Length of the union; `transfers` are of one iteration.
Duration busy(std::vector<TransferRecord> transfers) {
    std::sort(transfers.begin(), transfers.end(), [](const auto& a, const auto& b) {
        return std::pair(a.start, a.end) < std::pair(b.start, b.end);
    });
    Duration length;
    SimTime until;
    for (const TransferRecord& transfer : transfers) {
        const SimTime start = std::max(transfer.start, until);
        if (transfer.end > start) {
            length = length + (transfer.end - start);
            until = transfer.end;
        }
    }
    return length;
}

// How uneven the transfers are over the steady iteration that ends at `end`: the bytes of the
// fullest of a hundred bins over those of the mean one, a transfer's bytes evenly over its time.
double peak_to_mean(const std::vector<TransferRecord>& transfers, SimTime end, Duration length) {
    std::array<double, kBins> bins{};
    const double start = static_cast<double>(end.ps) - static_cast<double>(length.ps);
    const double bin = static_cast<double>(length.ps) / kBins;
    double total = 0;
    for (const TransferRecord& transfer : transfers) {
        const double from = (static_cast<double>(transfer.start.ps) - start) / bin;
        const double to = (static_cast<double>(transfer.end.ps) - start) / bin;
        const double first = std::max(from, 0.0);
        const double last = std::min(to, static_cast<double>(kBins));
        if (last <= first || to <= from) {
            continue;
        }
        const double density = static_cast<double>(transfer.bytes.count) / (to - from);
        for (auto b = static_cast<std::size_t>(first); b < kBins; ++b) {
            const double low = std::max(first, static_cast<double>(b));
            const double high = std::min(last, static_cast<double>(b + 1));
            if (high <= low) {
                break;
            }
            bins[b] += density * (high - low);
            total += density * (high - low);
        }
    }
    return total > 0 ? *std::max_element(bins.begin(), bins.end()) * kBins / total : 0;
}

void add_sizes(std::vector<TransferRecord> transfers, TrainingResult& result) {
    const auto smaller = [](const auto& a, const auto& b) { return a.bytes < b.bytes; };
    std::sort(transfers.begin(), transfers.end(), smaller);
    result.transfers = static_cast<std::uint32_t>(transfers.size());
    result.least = transfers.front().bytes;
    result.median = transfers[(transfers.size() - 1) / 2].bytes;
    result.most = transfers.back().bytes;
}

double quotient(Duration a, Duration b) {
    return b.ps == 0 ? 0 : static_cast<double>(a.ps) / static_cast<double>(b.ps);
}

}  // namespace

std::uint32_t typical_iteration(const std::vector<IterationTimes>& iterations) {
    const auto n = static_cast<std::uint32_t>(iterations.size());
    return n >= 3 ? n - 2 : n - 1;
}

Duration steady_length(const std::vector<IterationTimes>& iterations) {
    std::size_t n = iterations.size();
    if (n == 1) {
        return iterations[0].end - iterations[0].start;
    }
    // Nothing follows the last one, so that its own transfers have the network to themselves.
    n -= n >= 4 ? 1 : 0;
    // Differences of ends, backwards.
    const auto step = [&](std::size_t i) {
        return std::max(iterations[n - 1 - i].end, iterations[n - 2 - i].end) -
               iterations[n - 2 - i].end;
    };
    for (std::size_t period = 1; 2 * period <= n - 1; ++period) {
        bool repeats = true;
        for (std::size_t i = 0; i < period && repeats; ++i) {
            repeats = step(i) == step(i + period);
        }
        if (repeats) {
            return {(iterations[n - 1].end - iterations[n - 1 - period].end).ps / period};
        }
    }
    return step(0);
}

TrainingResult training_result(std::uint32_t job,
                               std::string name,
                               std::vector<IterationTimes> iterations,
                               const std::vector<CommunicatorRecord>& communicators,
                               const std::vector<TransferRecord>& transfers) {
    TrainingResult result;
    result.job = std::move(name);
    result.iterations = std::move(iterations);
    result.steady = steady_length(result.iterations);
    const std::uint32_t iteration = typical_iteration(result.iterations);
    std::vector<TransferRecord> of_job;
    std::vector<TransferRecord> of_iteration;
    for (const TransferRecord& transfer : transfers) {
        if (communicators[transfer.communicator].job == job) {
            of_job.push_back(transfer);
            if (transfer.iteration == iteration) {
                of_iteration.push_back(transfer);
            }
        }
    }
    result.computation = result.iterations[iteration].compute;
    if (of_iteration.empty()) {
        return result;
    }
    add_sizes(of_iteration, result);
    result.load_peak_to_mean =
        peak_to_mean(of_job, result.iterations[iteration].end, result.steady);
    const Duration m = result.communication = busy(std::move(of_iteration));
    const Duration p = result.computation;
    result.lower_bound = p;
    for (const CommunicatorRecord& communicator : communicators) {
        if (communicator.job == job) {
            const double ps = static_cast<double>(communicator.alpha.ps) +
                              communicator.beta_ps * static_cast<double>(communicator.bytes.count);
            result.lower_bound =
                std::max(result.lower_bound, Duration{static_cast<std::uint64_t>(ps)});
        }
    }
    result.ratio = quotient(m, p);
    result.speedup_left = quotient(std::min(m, p), std::max(m, p));
    const double hidden = static_cast<double>(m.ps) + static_cast<double>(p.ps) -
                          static_cast<double>(result.steady.ps);
    const double least = static_cast<double>(std::min(m, p).ps);
    result.overlap = least > 0 ? hidden / least : 0;
    return result;
}

}  // namespace astra
