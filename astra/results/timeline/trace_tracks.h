// The tracks of a trace: of each rank a process, with a thread for each thing that it does, and
// another one of the same name where two of the same would overlap.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "astra/results/timeline/trace_format.h"

namespace astra {

enum class TrackKind : std::uint8_t {
    Compute,
    Cpu,
    Memory,
    Collectives,
    Chunks,
    Sends,
    Receives,
    MessagesSent,
    MessagesReceived,
    Waiting,
};
inline constexpr std::size_t kTrackKinds = 10;

// O(log n) a slice where n of the same kind overlap.
class TraceTracks {
  public:
    // The run has `ranks` ranks. The format outlives the tracks.
    TraceTracks(TraceFormat& format, std::uint32_t ranks) : format_(format), ranks_(ranks) {}

    // A track on which nothing ends after `begin`; it is taken up to `end`. Tracks that there are
    // not yet are added to the trace.
    std::uint32_t take(RankId rank, TrackKind kind, SimTime begin, SimTime end);
    // As take(), of the gradient transfers of a communicator.
    std::uint32_t take_transfer(std::uint32_t communicator,
                                std::string_view name,
                                SimTime begin,
                                SimTime end);
    std::uint32_t add_counter(std::string_view name);

  private:
    struct Row {
        SimTime end;
        std::uint32_t track = 0;
    };
    using Rows = std::vector<Row>;  // by end
    struct Process {
        std::uint32_t track = 0;
        std::uint32_t number = 0;
        std::uint32_t collectives = 0;  // the first track of that kind; 0: not yet
        std::array<Rows, kTrackKinds> rows;
    };
    static bool later(SimTime time, const Row& row);
    static void insert(Rows& rows, const Row& row);
    static std::uint32_t take(Rows& rows, SimTime begin, SimTime end);
    // `outer`: a track of the process that shows the thread inside it; 0: none.
    std::uint32_t add_thread(const Process& process,
                             std::string_view name,
                             std::size_t rows,
                             std::uint32_t outer = 0);
    // The first track of a process for collectives, within which the chunks are shown.
    std::uint32_t collectives_of(Process& process);

    TraceFormat& format_;
    std::uint32_t ranks_;
    std::uint32_t tracks_ = 0;
    std::vector<std::unique_ptr<Process>> processes_;  // by rank
    Process transfers_;
    std::vector<Rows> transfer_rows_;  // by communicator
};

}  // namespace astra
