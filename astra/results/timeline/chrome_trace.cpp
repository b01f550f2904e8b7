#include "astra/results/timeline/chrome_trace.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace astra {

namespace {

std::string quoted(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

// In microseconds, exactly.
std::string microseconds(std::uint64_t ps) {
    return fmt::format("{}.{:06}", ps / 1'000'000U, ps % 1'000'000U);
}

template <class T>
T& at_number(std::vector<T>& all, std::uint32_t number) {
    if (all.size() <= number) {
        all.resize(std::size_t{number} + 1);
    }
    return all[number];
}

}  // namespace

ChromeTrace::ChromeTrace(const std::string& path) : file_(path), categories_{"\"\""} {
    file_.write("{\"displayTimeUnit\": \"ns\", \"traceEvents\": [");
}

void ChromeTrace::next() {
    file_.write(first_ ? "\n" : ",\n");
    first_ = false;
}

void ChromeTrace::add_process(std::uint32_t, std::uint32_t process, std::string_view name) {
    next();
    file_.write(
        fmt::format(R"({{"ph": "M", "name": "process_name", "pid": {}, "args": {{"name": {}}}}})",
                    process,
                    quoted(name)));
}

void ChromeTrace::add_thread(std::uint32_t track,
                             std::uint32_t,
                             std::uint32_t process,
                             std::uint32_t thread,
                             std::string_view name) {
    at_number(tracks_, track) = {process, thread, {}};
    next();
    file_.write(fmt::format(
        R"({{"ph": "M", "name": "thread_name", "pid": {}, "tid": {}, "args": {{"name": {}}}}})",
        process,
        thread,
        quoted(name)));
}

void ChromeTrace::add_thread_inside(std::uint32_t track,
                                    std::uint32_t outer_track,
                                    std::uint32_t process,
                                    std::uint32_t thread,
                                    std::string_view name) {
    add_thread(track, outer_track, process, thread, name);
}

void ChromeTrace::add_counter(std::uint32_t track, std::string_view name) {
    at_number(tracks_, track).counter = quoted(name);
}

void ChromeTrace::add_name(std::uint32_t name, std::string_view text) {
    at_number(names_, name) = quoted(text);
}

void ChromeTrace::add_category(std::uint32_t category, std::string_view text) {
    at_number(categories_, category) = quoted(text);
}

std::string ChromeTrace::event(const TraceSlice& slice, const char* phase, SimTime at) const {
    const Thread& thread = tracks_[slice.track];
    return fmt::format(R"({{"ph": "{}", "pid": {}, "tid": {}, "ts": {}, "name": {}, "cat": {})",
                       phase,
                       thread.process,
                       thread.thread,
                       microseconds(at.ps),
                       names_[slice.name],
                       categories_[slice.category]);
}

void ChromeTrace::write_flow(const TraceSlice& slice, SimTime at) {
    if (slice.flow != 0) {
        next();
        file_.write(fmt::format(R"({}, "id": {}{}}})",
                                event(slice, slice.flow_ends ? "f" : "s", at),
                                slice.flow,
                                slice.flow_ends ? R"(, "bp": "e")" : ""));
    }
}

void ChromeTrace::slice(const TraceSlice& slice) {
    next();
    file_.write(fmt::format(R"({}, "dur": {}}})",
                            event(slice, "X", slice.begin),
                            microseconds((slice.end - slice.begin).ps)));
    write_flow(slice, slice.begin);
}

void ChromeTrace::instant(const TraceSlice& slice) {
    // Arrows end only in slices: one of no length.
    next();
    file_.write(fmt::format(R"({}, "dur": 0}})", event(slice, "X", slice.end)));
    write_flow(slice, slice.end);
}

void ChromeTrace::count(std::uint32_t track, SimTime at, std::uint64_t value) {
    next();
    file_.write(fmt::format(
        R"({{"ph": "C", "pid": 0, "tid": 0, "ts": {}, "name": {}, "args": {{"bytes": {}}}}})",
        microseconds(at.ps),
        tracks_[track].counter,
        value));
}

void ChromeTrace::close() {
    file_.write("\n]}\n");
    file_.close();
}

}  // namespace astra
