#include "astra/simulation/run_loop.h"

#include <algorithm>
#include <chrono>

namespace astra {

namespace {

// A slice of events is to take about this long: long enough to cost nothing, short enough for a
// person.
constexpr std::chrono::milliseconds kSliceTime{50};
constexpr std::uint64_t kFirstSlice = 64;
constexpr std::uint64_t kLongestSlice = 1U << 20;

}  // namespace

RunProgress RunLoop::progress() const {
    return {
        layers_.queue.now(), layers_.ranks(), layers_.finished_ranks(), layers_.queue.executed()};
}

// Background traffic would go on for ever: with it, events are run one by one, so that the run ends
// with the event that ends the workload.
bool RunLoop::run_slice(SimTime until, std::uint64_t events) {
    EventQueue& queue = layers_.queue;
    if (!layers_.background) {
        return queue.run_until(until, events);
    }
    for (; events > 0 && !layers_.finished(); --events) {
        const std::uint64_t before = queue.executed();
        if (!queue.run_until(until, 1) || queue.executed() == before) {
            break;
        }
        const std::uint64_t moved = layers_.replayer.finished_ops() + layers_.watched->delivered() +
                                    layers_.flows.finished_flows();
        if (moved != moves_) {
            moves_ = moved;
            layers_.background->workload_moved();
        }
    }
    return !queue.empty();
}

bool RunLoop::run(const RunLimits& limits, const Simulation::Watcher& watcher) {
    const EventQueue& queue = layers_.queue;
    std::uint64_t length = kFirstSlice;
    while (queue.executed() < limits.max_events) {
        const std::uint64_t before = queue.executed();
        const std::uint64_t slice = std::min(length, limits.max_events - before);
        const auto start = std::chrono::steady_clock::now();
        const bool more = run_slice(limits.until, slice);
        if (std::chrono::steady_clock::now() - start < kSliceTime) {
            length = std::min(2 * length, kLongestSlice);
        } else {
            length = std::max<std::uint64_t>(length / 2, 1);
        }
        if (watcher && !watcher(progress())) {
            return false;
        }
        if (!more || queue.executed() - before < slice) {
            break;  // nothing left, or nothing before the time limit
        }
    }
    return true;
}

}  // namespace astra
