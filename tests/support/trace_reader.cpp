#include "tests/support/trace_reader.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace astra::test {

namespace {

struct Field {
    std::uint64_t number = 0;
    std::uint64_t value = 0;  // of a varint or a fixed64
    std::string_view bytes;
};

std::uint64_t varint(std::string_view& text) {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (text.empty()) {
            break;
        }
        const auto byte = static_cast<unsigned char>(text.front());
        text.remove_prefix(1);
        value |= std::uint64_t{byte & 0x7fU} << shift;
        if (byte < 0x80U) {
            return value;
        }
    }
    throw std::runtime_error("a varint without an end");
}

std::vector<Field> fields(std::string_view text) {
    std::vector<Field> all;
    while (!text.empty()) {
        const std::uint64_t tag = varint(text);
        Field& field = all.emplace_back();
        field.number = tag >> 3U;
        if ((tag & 7U) == 0) {
            field.value = varint(text);
            continue;
        }
        const std::uint64_t size = (tag & 7U) == 1 ? 8 : (tag & 7U) == 2 ? varint(text) : ~0ULL;
        if (size > text.size()) {
            throw std::runtime_error(fmt::format("field {} is cut off", field.number));
        }
        field.bytes = text.substr(0, size);
        text.remove_prefix(size);
        if ((tag & 7U) == 1) {
            for (unsigned byte = 0; byte < 8; ++byte) {
                field.value |= std::uint64_t{static_cast<unsigned char>(field.bytes[byte])}
                               << (8U * byte);
            }
        }
    }
    return all;
}

class Reader {
  public:
    void packet(std::string_view text);
    ReadTrace finish() {
        for (const auto& [track, open] : open_) {
            if (!open.empty()) {
                throw std::runtime_error(fmt::format("track {} has a slice without end", track));
            }
        }
        return std::move(trace_);
    }

  private:
    struct Track {
        std::string process;
        std::string thread;
        std::string inside;  // of which thread
        std::uint64_t last = 0;
    };
    void describe(std::string_view text);
    void intern(std::string_view text);
    void event(std::uint64_t at, std::string_view text);
    template <class Map>
    static const typename Map::mapped_type& known(const Map& map, std::uint64_t key) {
        const auto found = map.find(key);
        if (found == map.end()) {
            throw std::runtime_error(fmt::format("{} was not described before", key));
        }
        return found->second;
    }

    ReadTrace trace_;
    std::map<std::uint64_t, Track> tracks_;
    std::map<std::uint64_t, std::string> names_;
    std::map<std::uint64_t, std::string> categories_;
    std::map<std::uint64_t, std::vector<ReadSlice>> open_;
    std::set<std::uint64_t> numbers_;  // pids and tids
};

// "chunks" of "chunks 2".
std::string without_number(std::string_view name) {
    std::string text(name.substr(0, name.find_last_not_of("0123456789") + 1));
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

void Reader::packet(std::string_view text) {
    std::uint64_t at = 0;
    std::uint64_t sequence = 0;
    for (const Field& field : fields(text)) {
        switch (field.number) {
            case 8:
                at = field.value;
                break;
            case 10:
                sequence = field.value;
                break;
            case 11:
                event(at, field.bytes);
                break;
            case 12:
                intern(field.bytes);
                break;
            case 60:
                describe(field.bytes);
                break;
            default:
                break;
        }
    }
    if (sequence == 0) {
        throw std::runtime_error("a packet without a sequence");
    }
}

void Reader::describe(std::string_view text) {
    std::uint64_t uuid = 0;
    std::string name;
    Track track;
    bool counter = false;
    for (const Field& field : fields(text)) {
        if (field.number == 1) {
            uuid = field.value;
        } else if (field.number == 2) {
            name = field.bytes;
        } else if (field.number == 5) {
            track.process = known(tracks_, field.value).process;
            track.inside = known(tracks_, field.value).thread;
        } else if (field.number == 3 || field.number == 4) {
            for (const Field& inner : fields(field.bytes)) {
                if (field.number == 3 && inner.number == 6) {
                    track.process = inner.bytes;
                } else if (field.number == 4 && inner.number == 5) {
                    track.thread = without_number(inner.bytes);
                } else if (inner.number == (field.number == 3 ? 1U : 2U) &&
                           !numbers_.insert(inner.value).second) {
                    throw std::runtime_error(fmt::format("two threads of number {}", inner.value));
                }
            }
        } else if (field.number == 8) {
            counter = true;
        }
    }
    if (track.thread.empty() && !track.inside.empty()) {
        track.thread = without_number(name);
    }
    if (counter) {
        trace_.counters[uuid].name = name;
    } else if (!tracks_.emplace(uuid, track).second) {
        throw std::runtime_error(fmt::format("track {} is described twice", uuid));
    }
}

void Reader::intern(std::string_view text) {
    for (const Field& list : fields(text)) {
        std::uint64_t number = 0;
        std::string name;
        for (const Field& field : fields(list.bytes)) {
            if (field.number == 1) {
                number = field.value;
            } else if (field.number == 2) {
                name = field.bytes;
            }
        }
        (list.number == 1 ? categories_ : names_)[number] = name;
    }
}

void Reader::event(std::uint64_t at, std::string_view text) {
    ReadSlice slice;
    std::uint64_t type = 0;
    std::int64_t count = 0;
    for (const Field& field : fields(text)) {
        switch (field.number) {
            case 3:
                slice.category = known(categories_, field.value);
                break;
            case 9:
                type = field.value;
                break;
            case 10:
                slice.name = known(names_, field.value);
                break;
            case 11:
                slice.track = field.value;
                break;
            case 30:
                count = static_cast<std::int64_t>(field.value);
                break;
            case 47:
                slice.flows.push_back(field.value);
                break;
            case 48:
                slice.ended_flows.push_back(field.value);
                break;
            default:
                break;
        }
    }
    ++trace_.events;
    if (type == 4) {
        auto& values = trace_.counters.at(slice.track).values;
        if (!values.empty() && values.back().first > at) {
            throw std::runtime_error("a counter goes back in time");
        }
        values.emplace_back(at, count);
        return;
    }
    known(tracks_, slice.track);
    Track& track = tracks_[slice.track];
    if (at < track.last) {
        throw std::runtime_error(fmt::format("track {} goes back in time", slice.track));
    }
    track.last = at;
    slice.process = track.process;
    slice.thread = track.thread;
    slice.inside = track.inside;
    slice.begin = at;
    slice.end = at;
    auto& open = open_[slice.track];
    if (type == 1) {
        open.push_back(slice);
    } else if (type == 3) {
        slice.instant = true;
        trace_.slices.push_back(slice);
    } else if (type == 2) {
        if (open.empty()) {
            throw std::runtime_error(fmt::format("track {} ends nothing", slice.track));
        }
        open.back().end = at;
        trace_.slices.push_back(open.back());
        open.pop_back();
    } else {
        throw std::runtime_error(fmt::format("an event of type {}", type));
    }
}

}  // namespace

ReadTrace read_perfetto(std::string_view bytes) {
    Reader reader;
    for (const Field& field : fields(bytes)) {
        if (field.number != 1) {
            throw std::runtime_error("a trace holds packets");
        }
        reader.packet(field.bytes);
    }
    return reader.finish();
}

std::uint64_t ReadTrace::covered(const std::string& process,
                                 const std::vector<std::string>& threads) const {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> all;
    for (const ReadSlice& slice : slices) {
        if (slice.process == process &&
            std::find(threads.begin(), threads.end(), slice.thread) != threads.end()) {
            all.emplace_back(slice.begin, slice.end);
        }
    }
    std::sort(all.begin(), all.end());
    std::uint64_t length = 0;
    std::uint64_t reached = 0;
    for (const auto& [begin, end] : all) {
        if (end > reached) {
            length += end - std::max(begin, reached);
            reached = end;
        }
    }
    return length;
}

std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace astra::test
