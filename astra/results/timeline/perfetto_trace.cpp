#include "astra/results/timeline/perfetto_trace.h"

#include "astra/results/timeline/wire_format.h"

namespace astra {

namespace {

// Numbers of fields, by message.
namespace trace {
constexpr std::uint32_t kPacket = 1;
}
namespace packet {
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequenceId = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kName = 2;
constexpr std::uint32_t kProcess = 3;
constexpr std::uint32_t kThread = 4;
constexpr std::uint32_t kParent = 5;
constexpr std::uint32_t kCounter = 8;
constexpr std::uint32_t kPid = 1;
constexpr std::uint32_t kProcessName = 6;
constexpr std::uint32_t kTid = 2;
constexpr std::uint32_t kThreadName = 5;
constexpr std::uint32_t kUnit = 3;
}  // namespace descriptor
namespace event {
constexpr std::uint32_t kCategory = 3;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kName = 10;
constexpr std::uint32_t kTrack = 11;
constexpr std::uint32_t kCounterValue = 30;
constexpr std::uint32_t kFlow = 47;
constexpr std::uint32_t kTerminatingFlow = 48;
}  // namespace event
namespace interned {
constexpr std::uint32_t kCategories = 1;
constexpr std::uint32_t kNames = 2;
}  // namespace interned

constexpr std::uint32_t kSliceBegin = 1;
constexpr std::uint32_t kSliceEnd = 2;
constexpr std::uint32_t kInstant = 3;
constexpr std::uint32_t kCount = 4;
constexpr std::uint32_t kUnitBytes = 3;
constexpr std::uint32_t kStateCleared = 1;

// All packets are of one sequence: nothing is lost in between, so that those that use interned
// names need not say so.
constexpr std::uint32_t kSequence = 1;
// Longer than any event, and below 128, so that a length is one byte.
constexpr std::size_t kLongestEvent = 100;

}  // namespace

void PerfettoTrace::write_packet(std::uint32_t field, std::string_view content) {
    std::string text;
    wire::append_field(text, packet::kSequenceId, kSequence);
    if (first_) {
        wire::append_field(text, packet::kSequenceFlags, kStateCleared);
        first_ = false;
    }
    wire::append_bytes(text, field, content);
    std::string whole;
    wire::append_bytes(whole, trace::kPacket, text);
    file_.write(whole);
}

void PerfettoTrace::add_process(std::uint32_t track, std::uint32_t process, std::string_view name) {
    std::string described;
    wire::append_field(described, descriptor::kPid, process);
    wire::append_bytes(described, descriptor::kProcessName, name);
    std::string text;
    wire::append_field(text, descriptor::kUuid, track);
    wire::append_bytes(text, descriptor::kProcess, described);
    write_packet(packet::kTrackDescriptor, text);
}

void PerfettoTrace::add_thread(std::uint32_t track,
                               std::uint32_t process_track,
                               std::uint32_t process,
                               std::uint32_t thread,
                               std::string_view name) {
    std::string described;
    wire::append_field(described, descriptor::kPid, process);
    wire::append_field(described, descriptor::kTid, thread);
    wire::append_bytes(described, descriptor::kThreadName, name);
    std::string text;
    wire::append_field(text, descriptor::kUuid, track);
    wire::append_field(text, descriptor::kParent, process_track);
    wire::append_bytes(text, descriptor::kThread, described);
    write_packet(packet::kTrackDescriptor, text);
}

// A track below that of a thread is no thread itself.
void PerfettoTrace::add_thread_inside(std::uint32_t track,
                                      std::uint32_t outer_track,
                                      std::uint32_t,
                                      std::uint32_t,
                                      std::string_view name) {
    std::string text;
    wire::append_field(text, descriptor::kUuid, track);
    wire::append_bytes(text, descriptor::kName, name);
    wire::append_field(text, descriptor::kParent, outer_track);
    write_packet(packet::kTrackDescriptor, text);
}

void PerfettoTrace::add_counter(std::uint32_t track, std::string_view name) {
    std::string described;
    wire::append_field(described, descriptor::kUnit, kUnitBytes);
    std::string text;
    wire::append_field(text, descriptor::kUuid, track);
    wire::append_bytes(text, descriptor::kName, name);
    wire::append_bytes(text, descriptor::kCounter, described);
    write_packet(packet::kTrackDescriptor, text);
}

void PerfettoTrace::write_interned(std::uint32_t list,
                                   std::uint32_t number,
                                   std::string_view text) {
    std::string entry;
    wire::append_field(entry, 1, number);
    wire::append_bytes(entry, 2, text);
    std::string all;
    wire::append_bytes(all, list, entry);
    write_packet(packet::kInternedData, all);
}

void PerfettoTrace::add_name(std::uint32_t name, std::string_view text) {
    write_interned(interned::kNames, name, text);
}

void PerfettoTrace::add_category(std::uint32_t category, std::string_view text) {
    write_interned(interned::kCategories, category, text);
}

// The end of a slice says no more than where and when.
void PerfettoTrace::write_event(SimTime at, std::uint32_t type, const TraceSlice& slice) {
    char* const start = file_.room(kLongestEvent);
    char* to = wire::put_varint(start, (trace::kPacket << 3U) | wire::kBytes);
    char* const packet_length = to++;
    to = wire::put_field(to, packet::kTimestamp, at.ps);
    to = wire::put_field(to, packet::kSequenceId, kSequence);
    to = wire::put_varint(to, (packet::kTrackEvent << 3U) | wire::kBytes);
    char* const event_length = to++;
    to = wire::put_field(to, event::kType, type);
    to = wire::put_field(to, event::kTrack, slice.track);
    if (type != kSliceEnd) {
        if (slice.category != 0) {
            to = wire::put_field(to, event::kCategory, slice.category);
        }
        to = wire::put_field(to, event::kName, slice.name);
        if (slice.flow != 0) {
            to = wire::put_fixed64(
                to, slice.flow_ends ? event::kTerminatingFlow : event::kFlow, slice.flow);
        }
    }
    *event_length = static_cast<char>(to - event_length - 1);
    *packet_length = static_cast<char>(to - packet_length - 1);
    file_.used(static_cast<std::size_t>(to - start));
}

void PerfettoTrace::slice(const TraceSlice& slice) {
    write_event(slice.begin, kSliceBegin, slice);
    write_event(slice.end, kSliceEnd, slice);
}

void PerfettoTrace::instant(const TraceSlice& slice) {
    write_event(slice.end, kInstant, slice);
}

void PerfettoTrace::count(std::uint32_t track, SimTime at, std::uint64_t value) {
    std::string text;
    wire::append_field(text, packet::kTimestamp, at.ps);
    wire::append_field(text, packet::kSequenceId, kSequence);
    std::string described;
    wire::append_field(described, event::kType, kCount);
    wire::append_field(described, event::kTrack, track);
    wire::append_field(described, event::kCounterValue, value);
    wire::append_bytes(text, packet::kTrackEvent, described);
    std::string whole;
    wire::append_bytes(whole, trace::kPacket, text);
    file_.write(whole);
}

}  // namespace astra
