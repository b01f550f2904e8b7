// A Chrome trace: {"traceEvents": [...]} with complete events, flows and counters, as
// chrome://tracing and many others read it. Times are microseconds with six decimals: picoseconds.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "astra/results/timeline/streamed_file.h"
#include "astra/results/timeline/trace_format.h"

namespace astra {

class ChromeTrace final : public TraceFormat {
  public:
    explicit ChromeTrace(const std::string& path);

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
    void close() override;

  private:
    struct Thread {
        std::uint32_t process = 0;
        std::uint32_t thread = 0;
        std::string counter;  // quoted; of a counter
    };
    void next();
    std::string event(const TraceSlice& slice, const char* phase, SimTime at) const;
    void write_flow(const TraceSlice& slice, SimTime at);

    StreamedFile file_;
    bool first_ = true;
    std::vector<Thread> tracks_;           // by number
    std::vector<std::string> names_;       // by number, quoted
    std::vector<std::string> categories_;  // by number, quoted
};

}  // namespace astra
