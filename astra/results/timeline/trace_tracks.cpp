#include "astra/results/timeline/trace_tracks.h"

#include <algorithm>

#include <fmt/format.h>

namespace astra {

namespace {

constexpr std::array<const char*, kTrackKinds> kTrackNames = {"compute",
                                                              "cpu",
                                                              "memory",
                                                              "collectives",
                                                              "chunks",
                                                              "sends",
                                                              "receives",
                                                              "messages sent",
                                                              "messages received",
                                                              "waiting"};

}  // namespace

bool TraceTracks::later(SimTime time, const Row& row) {
    return time < row.end;
}

void TraceTracks::insert(Rows& rows, const Row& row) {
    rows.insert(std::upper_bound(rows.begin(), rows.end(), row.end, later), row);
}

// The row that has been idle for the shortest time; 0 if all are taken.
std::uint32_t TraceTracks::take(Rows& rows, SimTime begin, SimTime end) {
    const auto busy = std::upper_bound(rows.begin(), rows.end(), begin, later);
    if (busy == rows.begin()) {
        return 0;
    }
    const std::uint32_t track = std::prev(busy)->track;
    rows.erase(std::prev(busy));
    insert(rows, {end, track});
    return track;
}

// Numbers of processes are those of the ranks from 1 on, then the transfers'; threads follow, so
// that no two numbers are the same.
std::uint32_t TraceTracks::add_thread(const Process& process,
                                      std::string_view name,
                                      std::size_t rows,
                                      std::uint32_t outer) {
    const std::uint32_t track = ++tracks_;
    const std::string numbered =
        rows == 0 ? std::string(name) : fmt::format("{} {}", name, rows + 1);
    const std::uint32_t thread = ranks_ + 1 + track;
    if (outer == 0) {
        format_.add_thread(track, process.track, process.number, thread, numbered);
    } else {
        format_.add_thread_inside(track, outer, process.number, thread, numbered);
    }
    return track;
}

// A phase ends before its collective, so that this may be the first to know of the track.
std::uint32_t TraceTracks::collectives_of(Process& process) {
    if (process.collectives == 0) {
        const auto number = static_cast<std::size_t>(TrackKind::Collectives);
        process.collectives = add_thread(process, kTrackNames[number], 0);
        insert(process.rows[number], {{}, process.collectives});
    }
    return process.collectives;
}

std::uint32_t TraceTracks::take(RankId rank, TrackKind kind, SimTime begin, SimTime end) {
    if (index(rank) >= processes_.size()) {
        processes_.resize(std::size_t{index(rank)} + 1);
    }
    auto& process = processes_[index(rank)];
    if (!process) {
        process = std::make_unique<Process>();
        process->track = ++tracks_;
        process->number = index(rank) + 1;
        format_.add_process(process->track, process->number, fmt::format("rank {}", index(rank)));
    }
    const auto number = static_cast<std::size_t>(kind);
    Rows& rows = process->rows[number];
    std::uint32_t track = take(rows, begin, end);
    if (track == 0) {
        const std::uint32_t outer = kind == TrackKind::Chunks ? collectives_of(*process) : 0;
        track = add_thread(*process, kTrackNames[number], rows.size(), outer);
        insert(rows, {end, track});
        if (kind == TrackKind::Collectives && process->collectives == 0) {
            process->collectives = track;
        }
    }
    return track;
}

std::uint32_t TraceTracks::take_transfer(std::uint32_t communicator,
                                         std::string_view name,
                                         SimTime begin,
                                         SimTime end) {
    if (transfers_.track == 0) {
        transfers_.track = ++tracks_;
        transfers_.number = ranks_ + 1;
        format_.add_process(transfers_.track, transfers_.number, "gradient transfers");
    }
    if (communicator >= transfer_rows_.size()) {
        transfer_rows_.resize(std::size_t{communicator} + 1);
    }
    Rows& rows = transfer_rows_[communicator];
    std::uint32_t track = take(rows, begin, end);
    if (track == 0) {
        track = add_thread(transfers_, fmt::format("group {}", name), rows.size());
        insert(rows, {end, track});
    }
    return track;
}

std::uint32_t TraceTracks::add_counter(std::string_view name) {
    const std::uint32_t track = ++tracks_;
    format_.add_counter(track, name);
    return track;
}

}  // namespace astra
