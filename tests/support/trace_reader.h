// Reads a Perfetto trace back by the public field numbers of trace_packet.proto and
// track_event.proto, knowing nothing of the program that wrote it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace astra::test {

struct ReadSlice {
    std::string process;
    std::string thread;  // without the number of a second track of its name
    std::string inside;  // the thread that shows this one, "" if it is none
    std::string name;
    std::string category;
    std::uint64_t track = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::vector<std::uint64_t> flows;
    std::vector<std::uint64_t> ended_flows;
    bool instant = false;
};

struct ReadCounter {
    std::string name;
    std::vector<std::pair<std::uint64_t, std::int64_t>> values;  // in the order of the file
};

struct ReadTrace {
    std::vector<ReadSlice> slices;  // in the order in which they end in the file
    std::map<std::uint64_t, ReadCounter> counters;
    std::size_t events = 0;

    // Total length of the union of the slices on these threads of a process.
    std::uint64_t covered(const std::string& process,
                          const std::vector<std::string>& threads) const;
};

// Throws std::runtime_error on what Perfetto would not read: an end without a begin on its track,
// slices that are left open, time that runs backwards on a track, a name, a track or a process that
// was not described before, two threads of one number.
ReadTrace read_perfetto(std::string_view bytes);

std::string read_bytes(const std::string& path);

}  // namespace astra::test
