#include "astra/config/units.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "astra/config/exact_text.h"

namespace astra {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::optional<std::uint64_t> ps(const std::string& text) {
    const std::optional<Duration> value = parse_duration(text);
    return value ? std::optional(value->ps) : std::nullopt;
}

std::optional<std::uint64_t> bytes(const std::string& text) {
    const std::optional<Bytes> value = parse_bytes(text);
    return value ? std::optional(value->count) : std::nullopt;
}

std::optional<std::uint64_t> bits(const std::string& text) {
    const std::optional<Bandwidth> value = parse_bandwidth(text);
    return value ? std::optional(value->bits_per_s) : std::nullopt;
}

TEST(ParseDuration, KnowsEveryUnit) {
    EXPECT_EQ(ps("1ps"), 1U);
    EXPECT_EQ(ps("500ns"), 500'000U);
    EXPECT_EQ(ps("936.25ns"), 936'250U);
    EXPECT_EQ(ps("1.5us"), 1'500'000U);
    EXPECT_EQ(ps("2ms"), 2'000'000'000U);
    EXPECT_EQ(ps("1s"), 1'000'000'000'000U);
    EXPECT_EQ(ps("1min"), 60'000'000'000'000U);
    EXPECT_EQ(ps("1h"), 3'600'000'000'000'000U);
    EXPECT_EQ(ps("0"), 0U);
    EXPECT_EQ(ps(" 10 ns "), 10'000U);
    EXPECT_EQ(ps("+.5us"), 500'000U);
    EXPECT_EQ(ps("1e-3s"), 1'000'000'000U);
    EXPECT_EQ(ps("1E3ns"), 1'000'000U);
}

TEST(ParseDuration, RoundsToTheNearestPicosecond) {
    EXPECT_EQ(ps("0.0004ns"), 0U);
    EXPECT_EQ(ps("0.0005ns"), 1U);
    EXPECT_EQ(ps("0.00049999999999999999999999999999999999999ns"), 0U);
    EXPECT_EQ(ps("1e-999999999999999999999ns"), 0U);
}

TEST(ParseDuration, FitsExactlyUpToTheLargest) {
    EXPECT_EQ(ps("18446744073709551615ps"), kMost);
    EXPECT_EQ(ps("18446744073709551.615ns"), kMost);
    EXPECT_EQ(ps("18446744073709551616ps"), std::nullopt);
    EXPECT_EQ(ps("18446744073709551615.5ps"), std::nullopt);
    EXPECT_EQ(ps("1e999999999999999999999s"), std::nullopt);
    EXPECT_EQ(ps("6000h"), std::nullopt);
}

TEST(ParseDuration, RejectsEverythingElse) {
    for (const char* text :
         {"",      " ",    "ns",    "10",     "1.5",    "-1ns",    "nan", "inf",
          "infns", "1e",   "1ens",  "0x10ns", "1..5ns", "1.2.3ns", ".ns", "1 n s",
          "10nss", "10NS", "10ns5", "--1ns",  "++1ns",  "1,5ns",   "-0"}) {
        EXPECT_EQ(ps(text), std::nullopt) << text;
    }
}

TEST(ParseBytes, KnowsPowersOfTenAndOfTwo) {
    EXPECT_EQ(bytes("17B"), 17U);
    EXPECT_EQ(bytes("1KB"), 1'000U);
    EXPECT_EQ(bytes("1kB"), 1'000U);
    EXPECT_EQ(bytes("1MB"), 1'000'000U);
    EXPECT_EQ(bytes("1.5GB"), 1'500'000'000U);
    EXPECT_EQ(bytes("1TB"), 1'000'000'000'000U);
    EXPECT_EQ(bytes("1KiB"), 1'024U);
    EXPECT_EQ(bytes("1 MiB"), 1'048'576U);
    EXPECT_EQ(bytes("1GiB"), 1ULL << 30);
    EXPECT_EQ(bytes("16777215TiB"), 16'777'215ULL << 40);
    EXPECT_EQ(bytes("16777216TiB"), std::nullopt);
    EXPECT_EQ(bytes("0"), 0U);
    EXPECT_EQ(bytes("1Mib"), std::nullopt);
    EXPECT_EQ(bytes("1"), std::nullopt);
}

TEST(ParseBandwidth, KnowsBitsAndBytes) {
    EXPECT_EQ(bits("400Gbps"), 400'000'000'000U);
    EXPECT_EQ(bits("400Gb/s"), 400'000'000'000U);
    EXPECT_EQ(bits("8bps"), 8U);
    EXPECT_EQ(bits("1kbps"), 1'000U);
    EXPECT_EQ(bits("50GB/s"), 400'000'000'000U);
    EXPECT_EQ(bits("50GiB/s"), 429'496'729'600U);
    EXPECT_EQ(bits("1B/s"), 8U);
    EXPECT_EQ(bits("0"), 0U);
    EXPECT_EQ(bits("0GB/s"), 0U);
}

TEST(ParseBandwidth, IsExactWhereDoublesAreNot) {
    EXPECT_EQ(bits("0.1GiB/s"), 858'993'459U);    // ...459.2
    EXPECT_EQ(bits("0.3GiB/s"), 2'576'980'378U);  // ...377.6
    EXPECT_EQ(bits("123456789.123456789Gbps"), 123'456'789'123'456'789U);
    EXPECT_EQ(bits("0.123456789123456789123456789Tbps"), 123'456'789'123U);
}

TEST(ParseBandwidth, RejectsEverythingElse) {
    for (const char* text : {"50",
                             "50GB",
                             "50Gb",
                             "50GBps",
                             "50gbps",
                             "50GiB",
                             "50/s",
                             "GB/s",
                             "-1GB/s",
                             "50GB/S",
                             "1e30GB/s",
                             "nanGB/s",
                             ""}) {
        EXPECT_EQ(bits(text), std::nullopt) << text;
    }
}

TEST(ParseRate, KnowsPrefixes) {
    EXPECT_EQ(parse_rate("312TFLOPS"), 312e12);
    EXPECT_EQ(parse_rate("1.5e12FLOPS"), 1.5e12);
    EXPECT_EQ(parse_rate("1 PFLOPS"), 1e15);
    EXPECT_EQ(parse_rate("989.4TFLOPS"), 989.4e12);
    EXPECT_EQ(parse_rate("312"), std::nullopt);
    EXPECT_EQ(parse_rate("0"), std::nullopt);
    EXPECT_EQ(parse_rate("-1TFLOPS"), std::nullopt);
    EXPECT_EQ(parse_rate("1e400FLOPS"), std::nullopt);
    EXPECT_EQ(parse_rate("312TFLOP"), std::nullopt);
}

TEST(ToText, ChoosesTheUnitThatFits) {
    EXPECT_EQ(to_text(Duration{43'050'000}), "43.05 us");
    EXPECT_EQ(to_text(Duration{0}), "0 ps");
    EXPECT_EQ(to_text(Duration{999}), "999 ps");
    EXPECT_EQ(to_text(Duration{999'999'999}), "1 ms");
    EXPECT_EQ(to_text(Duration{90'000'000'000'000}), "90 s");
    EXPECT_EQ(to_text(Duration{kMost}), "5124.1 h");
    EXPECT_EQ(to_text(Bytes{1'048'576}), "1 MiB");
    EXPECT_EQ(to_text(Bytes{1'000'000}), "976.562 KiB");
    EXPECT_EQ(to_text(Bytes{kMost}), "16777216 TiB");
    EXPECT_EQ(to_text(Bandwidth{400'000'000'000}), "50 GB/s");
    EXPECT_EQ(to_text(Bandwidth{1}), "0.125 B/s");
    EXPECT_EQ(to_text(Bandwidth{0}), "unlimited");
}

TEST(ExactText, ReadsBackToTheSameValue) {
    EXPECT_EQ(exact_text(Duration{10'000}), "10ns");
    EXPECT_EQ(exact_text(Duration{1'500'000}), "1.5us");
    EXPECT_EQ(exact_text(Duration{0}), "0ns");
    EXPECT_EQ(exact_text(Bandwidth{536'870'912'000}), "536870912000bps");
    EXPECT_EQ(exact_text(Bandwidth{400'000'000'000}), "400Gbps");
    EXPECT_EQ(exact_text(Bytes{1'048'576}), "1MiB");
    EXPECT_EQ(exact_text(Bytes{1'000}), "1000B");
    EXPECT_EQ(exact_text(0.1), "0.1");
    const std::vector<std::uint64_t> values = {
        0, 1, 999, 1'000, 1'001, 1'234'567, 999'999'999'999, 1'000'000'000'001, kMost - 1, kMost};
    for (const std::uint64_t value : values) {
        EXPECT_EQ(ps(exact_text(Duration{value})), value);
        EXPECT_EQ(bytes(exact_text(Bytes{value})), value);
        EXPECT_EQ(bits(exact_text(Bandwidth{value})), value);
    }
}

}  // namespace
}  // namespace astra
