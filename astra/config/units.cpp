#include "astra/config/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

#include "astra/config/decimal.h"
#include "astra/config/exact_text.h"

namespace astra {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

constexpr std::uint64_t kPsASecond = 1'000'000'000'000;
constexpr std::uint64_t kKi = 1ULL << 10;
constexpr std::uint64_t kMi = 1ULL << 20;
constexpr std::uint64_t kGi = 1ULL << 30;
constexpr std::uint64_t kTi = 1ULL << 40;
constexpr std::uint64_t kKilo = 1'000;
constexpr std::uint64_t kMega = 1'000'000;
constexpr std::uint64_t kGiga = 1'000'000'000;
constexpr std::uint64_t kTera = 1'000'000'000'000;

constexpr std::array<Unit, 7> kTimes = {{{"ps", 1},
                                         {"ns", kKilo},
                                         {"us", kMega},
                                         {"ms", kGiga},
                                         {"s", kPsASecond},
                                         {"min", 60 * kPsASecond},
                                         {"h", 3600 * kPsASecond}}};

constexpr std::array<Unit, 10> kSizes = {{{"B", 1},
                                          {"KB", kKilo},
                                          {"kB", kKilo},
                                          {"MB", kMega},
                                          {"GB", kGiga},
                                          {"TB", kTera},
                                          {"KiB", kKi},
                                          {"MiB", kMi},
                                          {"GiB", kGi},
                                          {"TiB", kTi}}};

constexpr std::array<Unit, 6> kBits = {
    {{"", 1}, {"K", kKilo}, {"k", kKilo}, {"M", kMega}, {"G", kGiga}, {"T", kTera}}};

struct Power {
    std::string_view name;
    int power;
};

constexpr std::array<Power, 6> kRates = {
    {{"FLOPS", 0}, {"KFLOPS", 3}, {"MFLOPS", 6}, {"GFLOPS", 9}, {"TFLOPS", 12}, {"PFLOPS", 15}}};

struct Quantity {
    Decimal number;
    std::string_view unit;
};

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

std::optional<Quantity> parse_quantity(std::string_view text) {
    text = trimmed(text);
    std::optional<Decimal> number = take_decimal(text);
    if (!number) {
        return std::nullopt;
    }
    return Quantity{std::move(*number), trimmed(text)};
}

bool is_bare_zero(const Quantity& quantity) {
    return quantity.unit.empty() && quantity.number.is_zero();
}

std::optional<std::uint64_t> factor_of(std::string_view name, std::span<const Unit> units) {
    for (const Unit& unit : units) {
        if (unit.name == name) {
            return unit.factor;
        }
    }
    return std::nullopt;
}

std::optional<std::uint64_t> in_units(const Quantity& quantity, std::span<const Unit> units) {
    if (is_bare_zero(quantity)) {
        return 0;
    }
    const std::optional<std::uint64_t> factor = factor_of(quantity.unit, units);
    return factor ? scaled(quantity.number, *factor) : std::nullopt;
}

// Bits a second in one of the unit of a bandwidth.
std::optional<std::uint64_t> bandwidth_factor(std::string_view unit) {
    for (const std::string_view ending : {std::string_view("bps"), std::string_view("b/s")}) {
        if (unit.ends_with(ending)) {
            return factor_of(unit.substr(0, unit.size() - ending.size()), kBits);
        }
    }
    if (!unit.ends_with("/s")) {
        return std::nullopt;
    }
    const std::optional<std::uint64_t> bytes = factor_of(unit.substr(0, unit.size() - 2), kSizes);
    return bytes ? std::optional<std::uint64_t>(*bytes * 8) : std::nullopt;
}

// Six significant digits; never an exponent for what a unit can leave.
std::string rounded(double value) {
    std::array<char, 64> buffer{};
    const int size =
        std::snprintf(buffer.data(), buffer.size(), value < 999'999.5 ? "%.6g" : "%.0f", value);
    return {buffer.data(), static_cast<std::size_t>(size)};
}

// `units` rises; the last whose rounded value is at least one is used.
std::string with_unit(double value, std::span<const Unit> units, std::string_view ending) {
    // Half of the last of six digits: 999.9996 us is 1 ms.
    constexpr double nearly_one = 1 - 5e-7;
    const Unit* chosen = &units.front();
    for (const Unit& unit : units) {
        if (value / static_cast<double>(unit.factor) >= nearly_one) {
            chosen = &unit;
        }
    }
    std::string text = rounded(value / static_cast<double>(chosen->factor));
    return text.append(" ").append(chosen->name).append(ending);
}

// value / 10^places of it, exactly, followed by `unit`.
std::string with_point(std::uint64_t value, int places, std::string_view unit) {
    const Decimal number =
        parse_decimal(std::to_string(value) + "e-" + std::to_string(places)).value_or(Decimal{});
    return to_plain_text(number).append(unit);
}

}  // namespace

std::optional<Duration> parse_duration(std::string_view text) {
    const std::optional<Quantity> quantity = parse_quantity(text);
    const auto ps = quantity ? in_units(*quantity, kTimes) : std::nullopt;
    return ps ? std::optional<Duration>(Duration{*ps}) : std::nullopt;
}

bool is_duration(std::string_view text) {
    const std::optional<Quantity> quantity = parse_quantity(text);
    return quantity && (is_bare_zero(*quantity) || factor_of(quantity->unit, kTimes));
}

std::optional<Bytes> parse_bytes(std::string_view text) {
    const std::optional<Quantity> quantity = parse_quantity(text);
    const auto count = quantity ? in_units(*quantity, kSizes) : std::nullopt;
    return count ? std::optional<Bytes>(Bytes{*count}) : std::nullopt;
}

std::optional<Bandwidth> parse_bandwidth(std::string_view text) {
    const std::optional<Quantity> quantity = parse_quantity(text);
    if (!quantity) {
        return std::nullopt;
    }
    if (is_bare_zero(*quantity)) {
        return Bandwidth{};
    }
    const auto factor = bandwidth_factor(quantity->unit);
    const auto bits = factor ? scaled(quantity->number, *factor) : std::nullopt;
    return bits ? std::optional<Bandwidth>(Bandwidth{*bits}) : std::nullopt;
}

std::optional<double> parse_rate(std::string_view text) {
    const std::optional<Quantity> quantity = parse_quantity(text);
    if (!quantity) {
        return std::nullopt;
    }
    for (const Power& unit : kRates) {
        if (unit.name == quantity->unit) {
            return to_double(quantity->number, unit.power);
        }
    }
    return std::nullopt;
}

std::string to_text(Duration duration) {
    constexpr std::array<Unit, 6> shown = {{{"ps", 1},
                                            {"ns", kKilo},
                                            {"us", kMega},
                                            {"ms", kGiga},
                                            {"s", kPsASecond},
                                            {"h", 3600 * kPsASecond}}};
    return with_unit(static_cast<double>(duration.ps), shown, "");
}

std::string to_text(Bytes bytes) {
    constexpr std::array<Unit, 5> shown = {
        {{"B", 1}, {"KiB", kKi}, {"MiB", kMi}, {"GiB", kGi}, {"TiB", kTi}}};
    return with_unit(static_cast<double>(bytes.count), shown, "");
}

std::string to_text(Bandwidth bandwidth) {
    if (bandwidth.bits_per_s == 0) {
        return "unlimited";
    }
    constexpr std::array<Unit, 5> shown = {
        {{"B", 1}, {"KB", kKilo}, {"MB", kMega}, {"GB", kGiga}, {"TB", kTera}}};
    return with_unit(static_cast<double>(bandwidth.bits_per_s) / 8, shown, "/s");
}

std::string exact_text(Duration duration) {
    if (duration.ps == 0) {
        return "0ns";
    }
    constexpr std::array<Power, 4> shown = {{{"s", 12}, {"ms", 9}, {"us", 6}, {"ns", 3}}};
    for (const Power& unit : shown) {
        if (duration.ps >= static_cast<std::uint64_t>(std::pow(10, unit.power))) {
            return with_point(duration.ps, unit.power, unit.name);
        }
    }
    return std::to_string(duration.ps) + "ps";
}

std::string exact_text(Bytes bytes) {
    constexpr std::array<Unit, 4> shown = {
        {{"TiB", kTi}, {"GiB", kGi}, {"MiB", kMi}, {"KiB", kKi}}};
    for (const Unit& unit : shown) {
        if (bytes.count != 0 && bytes.count % unit.factor == 0) {
            return std::to_string(bytes.count / unit.factor).append(unit.name);
        }
    }
    return std::to_string(bytes.count) + "B";
}

std::string exact_text(Bandwidth bandwidth) {
    constexpr std::array<Unit, 2> shown = {{{"Gbps", kGiga}, {"Mbps", kMega}}};
    for (const Unit& unit : shown) {
        if (bandwidth.bits_per_s != 0 && bandwidth.bits_per_s % unit.factor == 0) {
            return std::to_string(bandwidth.bits_per_s / unit.factor).append(unit.name);
        }
    }
    return std::to_string(bandwidth.bits_per_s) + "bps";
}

std::string exact_text(double number) {
    std::array<char, 64> buffer{};
    const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number);
    return error == std::errc() ? std::string(buffer.data(), end) : std::to_string(number);
}

}  // namespace astra
