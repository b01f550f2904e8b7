#include "workload/generate/tensor_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/text/nearest.h"
#include "workload/graph/messages.h"

namespace astra {

namespace {

constexpr std::size_t kMostRows = 1'000'000;
constexpr std::size_t kLongestLine = 4096;
constexpr std::uint64_t kMostParameters = std::uint64_t{1} << 53U;
constexpr std::uint64_t kBytesOfFp32 = 4;

// In the order of Reader::Column.
constexpr std::array<const char*, 4> kColumns = {
    "tensor", "params", "fwd_flops_per_sample", "grad_bytes_fp32"};

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \t\r\"");
    const std::size_t end = text.find_last_not_of(" \t\r\"");
    return begin == std::string_view::npos ? std::string_view{}
                                           : text.substr(begin, end - begin + 1);
}

std::vector<std::string> fields_of(std::string_view line) {
    std::vector<std::string> fields;
    while (true) {
        const std::size_t comma = line.find(',');
        fields.emplace_back(trimmed(line.substr(0, comma)));
        if (comma == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(comma + 1);
    }
}

class Reader {
  public:
    explicit Reader(const std::string& file) : file_(file) {}

    std::vector<TensorRow> read() {
        std::ifstream stream(file_);
        if (!stream) {
            throw ConfigError(file_ + ": cannot be read");
        }
        std::string line;
        while (next_line(stream, line)) {
            const std::string_view text = trimmed(line);
            if (text.empty() || text.front() == '#') {
                continue;
            }
            if (columns_ == 0) {
                take_header(fields_of(line));
            } else {
                take_row(fields_of(line));
            }
        }
        if (rows_.empty()) {
            throw ConfigError(file_ + ": holds no tensor");
        }
        return std::move(rows_);
    }

  private:
    enum Column : std::uint8_t { Tensor, Parameters, Operations, GradientBytes, Columns };
    static constexpr std::size_t kAbsent = ~std::size_t{0};

    [[noreturn]] void fail(const std::string& what) const {
        throw ConfigError(fmt::format("{}:{}: {}", file_, line_, what));
    }

    // Not std::getline: a file without line ends would be read whole.
    bool next_line(std::ifstream& stream, std::string& line) {
        ++line_;
        line.clear();
        for (int c = stream.get(); c != std::char_traits<char>::eof(); c = stream.get()) {
            if (c == '\n') {
                return true;
            }
            if (line.size() == kLongestLine) {
                fail(fmt::format("more than {} bytes in a line", kLongestLine));
            }
            line.push_back(static_cast<char>(c));
        }
        if (stream.bad()) {
            throw ConfigError(file_ + ": cannot be read");
        }
        return !line.empty();
    }

    void take_header(const std::vector<std::string>& fields) {
        columns_ = fields.size();
        for (std::size_t column = 0; column < Columns; ++column) {
            const auto found = std::find(fields.begin(), fields.end(), kColumns[column]);
            if (found == fields.end() && column != GradientBytes) {
                std::vector<std::string> listed;
                listed.reserve(fields.size());
                for (const std::string& field : fields) {
                    listed.push_back(printable(field));
                }
                fail(fmt::format("the line of headers has no column '{}'{}",
                                 kColumns[column],
                                 suggestion(kColumns[column], listed)));
            }
            place_[column] =
                found == fields.end() ? kAbsent : static_cast<std::size_t>(found - fields.begin());
        }
    }

    std::uint64_t number(const std::vector<std::string>& fields,
                         Column column,
                         std::uint64_t most) const {
        const std::string& text = fields[place_[column]];
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, value);
        if (parsed.ec != std::errc() || parsed.ptr != end || value > most) {
            fail(fmt::format("'{}' is not a whole number up to {}", printable(text), most));
        }
        return value;
    }

    void take_row(const std::vector<std::string>& fields) {
        if (fields.size() != columns_) {
            fail(fmt::format("{} fields; the header has {}", fields.size(), columns_));
        }
        if (rows_.size() == kMostRows) {
            fail(fmt::format("more than {} tensors", kMostRows));
        }
        TensorRow row;
        row.name = fields[place_[Tensor]];
        row.parameters = number(fields, Parameters, kMostParameters);
        row.operations = number(fields, Operations, ~std::uint64_t{0});
        if (row.name.empty() || !names_.insert(row.name).second) {
            fail(row.name.empty() ? "the tensor has no name"
                                  : "a second tensor '" + printable(row.name) + "'");
        }
        if (place_[GradientBytes] != kAbsent) {
            const std::uint64_t bytes = number(fields, GradientBytes, ~std::uint64_t{0});
            if (bytes != kBytesOfFp32 * row.parameters) {
                fail(fmt::format("grad_bytes_fp32 is {}, but {} parameters of 4 B are {}",
                                 bytes,
                                 row.parameters,
                                 kBytesOfFp32 * row.parameters));
            }
        }
        rows_.push_back(std::move(row));
    }

    const std::string& file_;
    std::size_t line_ = 0;
    std::size_t columns_ = 0;
    std::array<std::size_t, Columns> place_{};
    std::set<std::string> names_;
    std::vector<TensorRow> rows_;
};

}  // namespace

std::vector<TensorRow> read_tensor_table(const std::string& file) {
    return Reader(file).read();
}

}  // namespace astra
