// Perfetto's native format: a sequence of TracePackets in protobuf's wire format
// (protos/perfetto/trace/trace_packet.proto of github.com/google/perfetto).
//
// The format counts nanoseconds. A simulation counts picoseconds, and none may be lost: a unit of
// the file's time is one picosecond, so that a viewer that shows 1 ms means 1 us.
// Some 40 bytes a slice, 10 more for an end of an arrow.
#pragma once

#include <string>

#include "astra/results/timeline/streamed_file.h"
#include "astra/results/timeline/trace_format.h"

namespace astra {

class PerfettoTrace final : public TraceFormat {
  public:
    explicit PerfettoTrace(const std::string& path) : file_(path) {}

    void add_process(std::uint32_t track, std::uint32_t process, std::string_view name) override;
    void add_thread(std::uint32_t track,
                    std::uint32_t process_track,
                    std::uint32_t process,
                    std::uint32_t thread,
                    std::string_view name) override;
    void add_thread_inside(std::uint32_t track,
                           std::uint32_t outer_track,
                           std::uint32_t process,
                           std::uint32_t thread,
                           std::string_view name) override;
    void add_counter(std::uint32_t track, std::string_view name) override;
    void add_name(std::uint32_t name, std::string_view text) override;
    void add_category(std::uint32_t category, std::string_view text) override;
    void slice(const TraceSlice& slice) override;
    void instant(const TraceSlice& slice) override;
    void count(std::uint32_t track, SimTime at, std::uint64_t value) override;
    void close() override { file_.close(); }

  private:
    void write_packet(std::uint32_t field, std::string_view content);
    void write_interned(std::uint32_t list, std::uint32_t number, std::string_view text);
    void write_event(SimTime at, std::uint32_t type, const TraceSlice& slice);

    StreamedFile file_;
    bool first_ = true;
};

}  // namespace astra
