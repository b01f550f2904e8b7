#include "system/model/measured_times.h"

#include <string>

#include "astra/config/config_view.h"
#include "astra/core/mix.h"
#include "astra/core/noise.h"
#include "system/model/measured_file.h"

namespace astra {

namespace {

MeasuredTime read_measured(const ConfigView& view) {
    MeasuredTime time;
    if (const auto file = view.find("file")) {
        const std::string column = view.string_or("column", "");
        for (const auto& [bytes, point] : read_measured_file(file->as_file_name(), column)) {
            if (!point.time) {
                file->fail("expected the output of nccl-tests: a table of bandwidths has no times");
            }
            time.points.emplace_back(Bytes{bytes}, *point.time);
        }
        return time;
    }
    if (const auto points = view.find("points")) {
        for (const ConfigView& item : points->items()) {
            const auto pair = item.items();
            if (pair.size() != 2) {
                item.fail("a point is a pair [bytes, time]");
            }
            const Bytes size = pair[0].as_bytes();
            if (!time.points.empty() && size <= time.points.back().first) {
                item.fail("points must be in ascending order of bytes");
            }
            time.points.emplace_back(size, pair[1].as_duration());
        }
        if (time.points.empty()) {
            points->fail("needs at least one point");
        }
        return time;
    }
    time.alpha = view.duration_or("alpha", {});
    time.beta = view.at("beta").as_bandwidth();
    if (time.beta.bits_per_s == 0) {
        view.at("beta").fail("expected a bandwidth above 0");
    }
    return time;
}

}  // namespace

Duration MeasuredTime::at(Bytes size) const {
    if (points.empty()) {
        return alpha + transfer_time(size, beta);
    }
    if (points.size() == 1) {
        return points[0].second;
    }
    std::size_t upper = 1;
    while (upper + 1 < points.size() && points[upper].first < size) {
        ++upper;
    }
    const auto& [x0, y0] = points[upper - 1];
    const auto& [x1, y1] = points[upper];
    // Rounded up, as every time; 128 bits hold the product of two 64-bit differences.
    using Wide = __int128;
    const Wide run = static_cast<Wide>(x1.count) - static_cast<Wide>(x0.count);
    const Wide rise = static_cast<Wide>(y1.ps) - static_cast<Wide>(y0.ps);
    const Wide offset = static_cast<Wide>(size.count) - static_cast<Wide>(x0.count);
    const Wide product = rise * offset;
    const Wide ps =
        static_cast<Wide>(y0.ps) + (product >= 0 ? (product + run - 1) / run : -((-product) / run));
    if (ps <= 0) {
        return {};
    }
    return {ps > static_cast<Wide>(kMaxPs) ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

MeasuredTimes MeasuredTimes::from_config(const ConfigView& system) {
    MeasuredTimes measured;
    const ConfigView collectives = system.section("collectives");
    const ConfigView section = system.section("measured");
    for (std::uint32_t k = 0; k < kCollectiveKinds; ++k) {
        const auto kind = static_cast<CollectiveKind>(k);
        if (const auto time = section.find(name_of(kind))) {
            measured.times_[k] = read_measured(*time);
        }
    }
    const auto block = static_cast<std::size_t>(CollectiveKind::ReduceScatterBlock);
    if (!measured.times_[block] && !collectives.has(name_of(CollectiveKind::ReduceScatterBlock))) {
        measured.times_[block] =
            measured.times_[static_cast<std::size_t>(CollectiveKind::ReduceScatter)];
    }
    measured.noise_ = NoiseConfig::from_config(system.section("measured_noise"));
    return measured;
}

Duration MeasuredTimes::with_noise(Duration time, GroupId group, std::uint64_t sequence) const {
    if (noise_.deviation == 0) {
        return time;
    }
    const std::uint64_t state =
        mix(mix(noise_.seed ^ (std::uint64_t{index(group)} << 40U)) ^ sequence);
    const double ps = static_cast<double>(time.ps) * noise_factor(noise_.deviation, state);
    return {ps >= static_cast<double>(kMaxPs) ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

}  // namespace astra
