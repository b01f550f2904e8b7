// What a trace file is made of, whatever its format: processes with threads, slices on threads,
// arrows between them, counters.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "astra/core/types.h"

namespace astra {

struct TraceSlice {
    std::uint32_t track = 0;
    std::uint32_t name = 0;
    std::uint32_t category = 0;
    SimTime begin;
    SimTime end;
    std::uint64_t flow = 0;  // arrows begin here; 0: none
    bool flow_ends = false;  // they end here instead
};

// Numbers of tracks, names and categories are from 1. Of a track, slices come in the order of
// time and never overlap. Throws ConfigError when the disk refuses.
class TraceFormat {
  public:
    TraceFormat() = default;
    TraceFormat(const TraceFormat&) = delete;
    TraceFormat& operator=(const TraceFormat&) = delete;
    virtual ~TraceFormat() = default;

    // Each before it is used, once.
    virtual void add_process(std::uint32_t track, std::uint32_t process, std::string_view name) = 0;
    virtual void add_thread(std::uint32_t track,
                            std::uint32_t process_track,
                            std::uint32_t process,
                            std::uint32_t thread,
                            std::string_view name) = 0;
    // A thread that is shown inside another one of the same process, where the format can say so.
    virtual void add_thread_inside(std::uint32_t track,
                                   std::uint32_t outer_track,
                                   std::uint32_t process,
                                   std::uint32_t thread,
                                   std::string_view name) = 0;
    virtual void add_counter(std::uint32_t track, std::string_view name) = 0;
    virtual void add_name(std::uint32_t name, std::string_view text) = 0;
    virtual void add_category(std::uint32_t category, std::string_view text) = 0;

    virtual void slice(const TraceSlice& slice) = 0;
    // At `slice.end`.
    virtual void instant(const TraceSlice& slice) = 0;
    // From `at` on.
    virtual void count(std::uint32_t track, SimTime at, std::uint64_t value) = 0;

    // The file is there from now on.
    virtual void close() = 0;
};

// The end of the file's name chooses the format: ".json" is a Chrome trace, anything else
// Perfetto's.
std::unique_ptr<TraceFormat> open_trace(const std::string& path);

}  // namespace astra
