#include "workload/flows/flow_set.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/error.h"
#include "workload/chakra/byte_source.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

constexpr std::size_t kLongestLine = 1024;
constexpr std::size_t kColumns = 5;
constexpr std::size_t kMostColumns = 6;
constexpr std::size_t kListedFlows = 12;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr const char* kForm = "'id src dst bytes after [start]' is expected";

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// Ids in order, to find the flow of one. Files number their flows in order and without gaps more
// often than not, and then nothing is sorted or searched.
class IdIndex {
  public:
    explicit IdIndex(const std::vector<std::uint64_t>& ids) : ids_(ids) {
        if (std::is_sorted(ids.begin(), ids.end())) {
            return;
        }
        order_.resize(ids.size());
        std::iota(order_.begin(), order_.end(), 0U);
        std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
            return ids[a] != ids[b] ? ids[a] < ids[b] : a < b;
        });
    }

    // The position of a flow that has the id of the one before it in order, or kNone.
    std::uint32_t twice() const {
        std::uint32_t first = FlowSet::kNone;
        for (std::uint32_t position = 1; position < ids_.size(); ++position) {
            if (ids_[flow_at(position)] == ids_[flow_at(position - 1)] &&
                (first == FlowSet::kNone || flow_at(position) < flow_at(first))) {
                first = position;
            }
        }
        return first;
    }
    std::uint32_t flow_at(std::uint32_t position) const {
        return order_.empty() ? position : order_[position];
    }

    // kNone if there is none of that id.
    std::uint32_t find(std::uint64_t id) const {
        const std::uint64_t guess = id - ids_[flow_at(0)];
        if (guess < ids_.size() && ids_[flow_at(static_cast<std::uint32_t>(guess))] == id) {
            return flow_at(static_cast<std::uint32_t>(guess));
        }
        std::uint32_t low = 0;
        auto high = static_cast<std::uint32_t>(ids_.size());
        while (low < high) {
            const std::uint32_t middle = low + (high - low) / 2;
            if (ids_[flow_at(middle)] < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low < ids_.size() && ids_[flow_at(low)] == id ? flow_at(low) : FlowSet::kNone;
    }

  private:
    const std::vector<std::uint64_t>& ids_;
    std::vector<std::uint32_t> order_;  // empty if the ids are in order
};

}  // namespace

class FlowSetReader {
  public:
    FlowSetReader(const std::string& file, std::uint32_t ranks) : source_(file), ranks_(ranks) {}

    FlowSet read() {
        refuse_other_formats(source_, FilePurpose::Flows);
        read_lines();
        if (set_.size() == 0) {
            throw TraceError(fmt::format("{}: holds no flow; {}", source_.file(), kForm));
        }
        resolve();
        refuse_circles();
        set_.link_children();
        return std::move(set_);
    }

  private:
    [[noreturn]] void fail(std::uint32_t line, const std::string& what) const {
        std::string text = what;  // may quote whatever the file holds
        repair_utf8(text);
        throw TraceError(fmt::format("{}:{}: {}", source_.file(), line, text));
    }
    [[noreturn]] void fail(const std::string& what) const { fail(line_, what); }

    void read_lines();
    void read_line(std::string_view line);
    std::size_t split(std::string_view line, std::array<std::string_view, kMostColumns>& columns);
    std::uint64_t number(std::string_view text, const char* column, std::uint64_t most) const;
    std::uint32_t rank(std::string_view text, const char* column) const;
    void add_start(std::string_view text);
    void resolve();
    void refuse_circles() const;

    ByteSource source_;
    std::uint32_t ranks_;
    FlowSet set_;
    std::uint32_t line_ = 0;
    std::uint64_t total_bytes_ = 0;
    std::vector<std::uint64_t> after_;  // by flow
    std::vector<std::uint32_t> lines_;  // by flow
};

// A line that is too long is seen before it is read whole, whatever the file holds.
void FlowSetReader::read_lines() {
    bool in_comment = false;
    if (source_.ensure(kByteOrderMark.size()) && source_.window().starts_with(kByteOrderMark)) {
        line_ = 1;
        fail("begins with a byte order mark; plain text without one is expected");
    }
    while (true) {
        const bool more = source_.ensure(kLongestLine + 1);
        std::string_view window = source_.window();
        if (window.empty()) {
            return;
        }
        while (!window.empty()) {
            std::size_t end = window.find('\n');
            const bool whole = end != std::string_view::npos;
            if (!whole && more && window.size() <= kLongestLine) {
                break;  // the rest of the line is still to be read
            }
            end = whole ? end : window.size();
            if (!in_comment) {
                ++line_;
                in_comment = window.front() == '#';
            }
            if (!in_comment) {
                if (end > kLongestLine) {
                    fail(fmt::format("a line of more than {} bytes; {}", kLongestLine, kForm));
                }
                read_line(window.substr(0, end));
            }
            in_comment = in_comment && !whole;
            window.remove_prefix(whole ? end + 1 : end);
        }
        source_.consume(source_.window().size() - window.size());
    }
}

std::size_t FlowSetReader::split(std::string_view line,
                                 std::array<std::string_view, kMostColumns>& columns) {
    std::size_t count = 0;
    std::size_t at = 0;
    while (true) {
        while (at < line.size() && is_blank(line[at])) {
            ++at;
        }
        if (at == line.size()) {
            return count;
        }
        const std::size_t begin = at;
        while (at < line.size() && !is_blank(line[at])) {
            ++at;
        }
        if (count == kMostColumns) {
            fail(fmt::format("'{}' is one column too many; {}",
                             printable(line.substr(begin, at - begin)),
                             kForm));
        }
        columns[count++] = line.substr(begin, at - begin);
    }
}

std::uint64_t FlowSetReader::number(std::string_view text,
                                    const char* column,
                                    std::uint64_t most) const {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range ||
        (error == std::errc() && stop == end && value > most)) {
        fail(fmt::format("{}: {} is beyond the limit of {}", column, printable(text), most));
    }
    if (error != std::errc() || stop != end) {
        fail(fmt::format(
            "{}: '{}' is not a whole number from 0; {}", column, printable(text), kForm));
    }
    return value;
}

std::uint32_t FlowSetReader::rank(std::string_view text, const char* column) const {
    const std::uint64_t value = number(text, column, ~std::uint64_t{0});
    if (value >= ranks_) {
        fail(fmt::format(
            "{}: there is no rank {}; the ranks are 0 to {}", column, value, ranks_ - 1));
    }
    return static_cast<std::uint32_t>(value);
}

void FlowSetReader::add_start(std::string_view text) {
    const auto start = parse_duration(text);
    if (!start) {
        fail(fmt::format("start: '{}' is {}",
                         printable(text),
                         is_duration(text) ? "longer than 2^64 ps, some 213 days"
                                           : "not a time with a unit, as in 5us"));
    }
    set_.earliest_ps_.resize(set_.size());
    set_.earliest_ps_.back() = start->ps;
}

void FlowSetReader::read_line(std::string_view line) {
    std::array<std::string_view, kMostColumns> columns;
    const std::size_t count = split(line, columns);
    if (count == 0) {
        return;
    }
    if (count < kColumns) {
        fail(fmt::format("only {} columns; {}", count, kForm));
    }
    if (set_.size() == FlowSet::kMostFlows) {
        fail(fmt::format("more than {} flows", FlowSet::kMostFlows));
    }
    const std::uint64_t id = number(columns[0], "id", ~std::uint64_t{0});
    if (id == 0) {
        fail("id: 0 is no id; a number from 1 is expected");
    }
    const std::uint32_t source = rank(columns[1], "src");
    const std::uint32_t destination = rank(columns[2], "dst");
    if (source == destination) {
        fail(fmt::format("flow {} goes from rank {} to itself", id, source));
    }
    const std::uint64_t bytes = number(columns[3], "bytes", FlowSet::kMostBytes);
    total_bytes_ += bytes;
    if (total_bytes_ > 64 * FlowSet::kMostBytes) {
        fail(fmt::format("the flows up to here carry more than {} B", 64 * FlowSet::kMostBytes));
    }
    after_.push_back(number(columns[4], "after", ~std::uint64_t{0}));
    lines_.push_back(line_);
    set_.id_.push_back(id);
    set_.source_.push_back(source);
    set_.destination_.push_back(destination);
    set_.bytes_.push_back(bytes);
    if (count == kMostColumns) {
        add_start(columns[5]);
    }
}

// From ids to indices.
void FlowSetReader::resolve() {
    if (!set_.earliest_ps_.empty()) {
        set_.earliest_ps_.resize(set_.size());
    }
    const IdIndex ids(set_.id_);
    if (const std::uint32_t position = ids.twice(); position != FlowSet::kNone) {
        const std::uint32_t flow = ids.flow_at(position);
        fail(lines_[flow],
             fmt::format("id {} stands in line {} already",
                         set_.id_[flow],
                         lines_[ids.flow_at(position - 1)]));
    }
    set_.parent_.resize(set_.size());
    for (std::uint32_t flow = 0; flow < set_.size(); ++flow) {
        if (after_[flow] == 0) {
            set_.parent_[flow] = FlowSet::kNone;
            continue;
        }
        set_.parent_[flow] = ids.find(after_[flow]);
        if (set_.parent_[flow] == FlowSet::kNone) {
            fail(lines_[flow],
                 fmt::format("after: there is no flow {} for flow {} to wait for",
                             after_[flow],
                             set_.id_[flow]));
        }
    }
}

// Follows the parents of every flow up to one that has been passed before: by the same walk, it is
// a circle.
void FlowSetReader::refuse_circles() const {
    std::vector<std::uint32_t> passed_by(set_.size(), FlowSet::kNone);
    for (std::uint32_t start = 0; start < set_.size(); ++start) {
        std::uint32_t flow = start;
        while (flow != FlowSet::kNone && passed_by[flow] == FlowSet::kNone) {
            passed_by[flow] = start;
            flow = set_.parent_[flow];
        }
        if (flow == FlowSet::kNone || passed_by[flow] != start) {
            continue;
        }
        if (set_.parent_[flow] == flow) {
            fail(lines_[flow], fmt::format("flow {} waits for itself", set_.id_[flow]));
        }
        std::string circle = std::to_string(set_.id_[flow]);
        std::uint32_t first = flow;
        std::size_t length = 1;
        for (std::uint32_t f = set_.parent_[flow]; f != flow; f = set_.parent_[f]) {
            first = std::min(first, f);
            if (++length <= kListedFlows) {
                circle += fmt::format(" after {}", set_.id_[f]);
            }
        }
        circle += length > kListedFlows ? " after …" : "";
        fail(lines_[first],
             fmt::format("{} flows wait for each other in a circle: {} after {}",
                         length,
                         circle,
                         set_.id_[flow]));
    }
}

FlowSet FlowSet::read(const std::string& file, std::uint32_t ranks) {
    return FlowSetReader(file, ranks).read();
}

void FlowSet::link_children() {
    child_begin_.assign(size() + std::size_t{1}, 0);
    for (const std::uint32_t parent : parent_) {
        if (parent != kNone) {
            ++child_begin_[parent + std::size_t{1}];
        }
    }
    std::partial_sum(child_begin_.begin(), child_begin_.end(), child_begin_.begin());
    child_.resize(child_begin_.back());
    std::vector<std::uint32_t> next(child_begin_.begin(), child_begin_.end() - 1);
    for (std::uint32_t flow = 0; flow < size(); ++flow) {
        if (parent_[flow] != kNone) {
            child_[next[parent_[flow]]++] = flow;
        }
    }
}

}  // namespace astra
