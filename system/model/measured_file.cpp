#include "system/model/measured_file.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"

namespace astra {

namespace {

constexpr std::size_t kMostLines = 100'000;
constexpr std::size_t kLongestLine = 4096;
// "size count type redop root time algbw busbw #wrong time algbw busbw #wrong"; the last may lack.
constexpr std::size_t kNcclFields = 12;
constexpr std::size_t kNcclMostFields = 13;
constexpr std::size_t kNcclOutOfPlace = 5;  // the time; the bus bandwidth comes two fields later
constexpr std::size_t kNcclInPlace = 9;
constexpr double kMostMicroseconds = 1e12;

std::vector<std::string> split(const std::string& line, bool csv) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    std::string field;
    while (csv ? static_cast<bool>(std::getline(stream, field, ','))
               : static_cast<bool>(stream >> field)) {
        const std::size_t begin = field.find_first_not_of(" \t\r\"");
        const std::size_t end = field.find_last_not_of(" \t\r\"");
        fields.push_back(begin == std::string::npos ? "" : field.substr(begin, end - begin + 1));
    }
    return fields;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
        return std::nullopt;
    }
    return value;
}

class Reader {
  public:
    Reader(std::string file, std::string column)
        : file_(std::move(file)), column_(std::move(column)) {}

    MeasuredPoints read() {
        std::ifstream stream(file_);
        if (!stream) {
            throw ConfigError(fmt::format("cannot read '{}'", file_));
        }
        // The line has a bounded length: a device has lines without an end.
        std::vector<char> buffer(kLongestLine + 1);
        while (stream.getline(buffer.data(), static_cast<std::streamsize>(buffer.size()))) {
            const std::string line(buffer.data());
            if (++line_ > kMostLines) {
                fail(fmt::format("at most {} lines", kMostLines));
            }
            const std::size_t begin = line.find_first_not_of(" \t\r");
            if (begin != std::string::npos && line[begin] != '#') {
                take(line);
            }
        }
        if (!stream.eof() && stream.gcount() > 0) {
            ++line_;
            fail(fmt::format("a line of more than {} bytes", kLongestLine));
        }
        if (!stream.eof()) {
            throw ConfigError(fmt::format("cannot read '{}'", file_));
        }
        if (result_.empty()) {
            throw ConfigError(fmt::format("{} holds no measurement", file_));
        }
        return result_;
    }

  private:
    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(fmt::format("{}:{}: {}", file_, line_, what));
    }

    void take(const std::string& line) {
        if (!header_.empty() || line.find(',') != std::string::npos) {
            take_csv(split(line, true));
            return;
        }
        const std::vector<std::string> fields = split(line, false);
        if (!column_.empty() && column_ != "in_place") {
            fail(
                fmt::format("no column '{}': nccl-tests' output has out of place (the default) "
                            "and in_place",
                            column_));
        }
        if (fields[0].find_first_not_of("0123456789") != std::string::npos) {
            const bool row = fields.size() >= kNcclFields && fields.size() <= kNcclMostFields &&
                             number<double>(fields[kNcclOutOfPlace]);
            if (row) {
                fail(fmt::format("'{}' is not a size in bytes", fields[0]));
            }
            return;  // what nccl-tests say around their table
        }
        if (fields.size() < kNcclFields || fields.size() > kNcclMostFields) {
            fail(fmt::format(
                "{} fields; a row of nccl-tests has {}", fields.size(), kNcclMostFields));
        }
        if (fields[0] == "0") {
            return;
        }
        const std::size_t time_column = column_.empty() ? kNcclOutOfPlace : kNcclInPlace;
        const auto time_us = number<double>(fields[time_column]);
        if (!time_us || !(*time_us > 0) || *time_us > kMostMicroseconds) {
            fail(fmt::format("'{}' is not a time in us", fields[time_column]));
        }
        add(fields[0], fields[time_column + 2]).time =
            Duration{static_cast<std::uint64_t>(std::llround(*time_us * 1e6))};
    }

    void take_csv(const std::vector<std::string>& fields) {
        if (header_.empty()) {
            header_ = fields;
            if (header_[0] != "bytes" || header_.size() < 2) {
                fail("expected a line of headers, 'bytes' first");
            }
            if (column_.empty()) {
                column_ = header_[1];
            }
            const auto found = std::find(header_.begin() + 1, header_.end(), column_);
            if (found == header_.end()) {
                fail(fmt::format("no column '{}'{}", column_, suggestion(column_, header_)));
            }
            place_ = static_cast<std::size_t>(found - header_.begin());
            return;
        }
        if (fields.size() != header_.size()) {
            fail(fmt::format("{} fields; the header has {}", fields.size(), header_.size()));
        }
        add(fields[0], fields[place_]);
    }

    MeasuredPoint& add(const std::string& size_text, const std::string& value_text) {
        const auto size = number<std::uint64_t>(size_text);
        const auto value = number<double>(value_text);
        if (!size || *size == 0) {
            fail(fmt::format("'{}' is not a size in bytes", size_text));
        }
        if (!value || !(*value > 0)) {
            fail(fmt::format("'{}' is not a bandwidth above 0", value_text));
        }
        const auto [known, fresh] = result_.emplace(*size, MeasuredPoint{*value, {}});
        if (!fresh) {
            fail(fmt::format("size {} is there twice", *size));
        }
        return known->second;
    }

    std::string file_;
    std::string column_;
    std::size_t line_ = 0;
    std::size_t place_ = 0;
    std::vector<std::string> header_;
    MeasuredPoints result_;
};

}  // namespace

MeasuredPoints read_measured_file(const std::string& file, const std::string& column) {
    return Reader(file, column).read();
}

}  // namespace astra
