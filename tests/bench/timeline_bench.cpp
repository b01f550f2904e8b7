// A timeline of a million slices, through the recorder: per round an op, a phase of a chunk and a
// message (a slice where it is sent, one where it arrives) on 64 ranks.
#include <cstdint>
#include <filesystem>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "astra/core/event_queue.h"
#include "astra/core/recorder/recorder.h"
#include "astra/results/timeline/timeline.h"

namespace astra {

namespace {

constexpr std::uint32_t kRanks = 64;
constexpr std::uint32_t kRounds = 250'000;
constexpr std::uint32_t kSlices = 4 * kRounds;

class Rounds {
  public:
    Rounds(EventQueue& queue, Recorder& recorder) : queue_(queue), recorder_(recorder) {}

    void round(std::uint64_t number) {
        const RankId rank{static_cast<std::uint32_t>(number % kRanks)};
        Span op;
        op.kind = SpanKind::Op;
        op.stream = OpStream::Compute;
        op.rank = rank;
        op.name = "gemm";
        Span phase = op;
        phase.kind = SpanKind::Phase;
        phase.name = "all_reduce";
        phase.detail = "ring";
        phase.chunk = static_cast<std::uint32_t>(number % 8);
        Span message;
        message.kind = SpanKind::Message;
        message.rank = rank;
        message.peer = RankId{static_cast<std::uint32_t>((number + 1) % kRanks)};
        message.bytes = {65'536};
        for (const Span& span : {op, phase, message}) {
            recorder_.end(recorder_.begin(span), kNoCause);
        }
        if (number < kRounds) {
            queue_.schedule_after({20'000}, Callback::to<&Rounds::round>(*this, number + 1));
        }
    }

  private:
    EventQueue& queue_;
    Recorder& recorder_;
};

void million_slices(benchmark::State& state) {
    const std::string path =
        std::filesystem::temp_directory_path() /
        ("astra-timeline-" + std::to_string(getpid()) + (state.range(0) == 0 ? "" : ".json"));
    for (auto step : state) {
        EventQueue queue;
        Recorder recorder(queue);
        TimelineOptions options;
        options.path = path;
        Timeline timeline(options, kRanks, [](LinkId) { return std::string(); });
        recorder.subscribe(timeline);
        Rounds rounds(queue, recorder);
        queue.schedule_at({}, Callback::to<&Rounds::round>(rounds, 1));
        queue.run();
        timeline.close();
    }
    state.counters["bytes/slice"] = static_cast<double>(std::filesystem::file_size(path)) / kSlices;
    std::filesystem::remove(path);
}
BENCHMARK(million_slices)->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace astra
