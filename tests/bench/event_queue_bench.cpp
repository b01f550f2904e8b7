// Pop-and-push of the event queue at a constant number of pending events, with the increments of a
// packet network: a packet of 4096 bytes at 400 Gb/s takes 81,920 ps, a link 500,000 ps.
#include <array>
#include <cstdint>

#include <benchmark/benchmark.h>

#include "astra/core/event_queue.h"

namespace astra {

namespace {

class Hopper {
  public:
    explicit Hopper(EventQueue& queue) : queue_(queue) {}

    void hop(std::uint64_t packet) {
        // A cheap generator, so that it does not show in the figure.
        state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
        static constexpr std::array<std::uint64_t, 4> increments = {
            81'920, 500'000, 581'920, 163'840};
        queue_.schedule_after({increments[state_ >> 62]},
                              Callback::to<&Hopper::hop>(*this, packet));
    }
    void start(std::uint64_t packets) {
        for (std::uint64_t packet = 0; packet < packets; ++packet) {
            state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
            queue_.schedule_at({(state_ >> 33) % 581'920},
                               Callback::to<&Hopper::hop>(*this, packet));
        }
    }

  private:
    EventQueue& queue_;
    std::uint64_t state_ = 1;
};

void pop_and_push(benchmark::State& state) {
    EventQueue queue;
    Hopper hopper(queue);
    hopper.start(static_cast<std::uint64_t>(state.range(0)));
    for (auto _ : state) {
        queue.step();
    }
    state.SetItemsProcessed(state.iterations());
}
BENCHMARK(pop_and_push)->Arg(1'000)->Arg(100'000)->Arg(1'000'000);

}  // namespace

}  // namespace astra
