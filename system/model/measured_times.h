// Collectives that are not simulated message by message: how long each kind takes, as measured.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "astra/core/types.h"
#include "system/model/noise_config.h"

namespace astra {

class ConfigView;

// The time of a collective by its size.
struct MeasuredTime {
    Duration alpha;
    Bandwidth beta;                                  // alpha + bytes / beta
    std::vector<std::pair<Bytes, Duration>> points;  // if not empty: interpolated instead

    // Between two points on a straight line, beyond them on the line of the nearest two, never
    // below 0.
    Duration at(Bytes size) const;
};

class MeasuredTimes {
  public:
    // system.measured and system.measured_noise. A reduce_scatter_block takes the time of a
    // reduce_scatter, unless it has one, or an algorithm, to itself. Throws ConfigError.
    static MeasuredTimes from_config(const ConfigView& system);

    // nullptr: none was measured.
    const MeasuredTime* of(CollectiveKind kind) const {
        const auto& time = times_[static_cast<std::size_t>(kind)];
        return time ? &*time : nullptr;
    }
    void set(CollectiveKind kind, MeasuredTime time) {
        times_[static_cast<std::size_t>(kind)] = std::move(time);
    }

    // The time stretched by noise that depends on the seed, the group and the number of the
    // collective in it alone: by a factor of mean 1 (astra/core/noise.h).
    Duration with_noise(Duration time, GroupId group, std::uint64_t sequence) const;

  private:
    std::array<std::optional<MeasuredTime>, kCollectiveKinds> times_;
    NoiseConfig noise_;
};

}  // namespace astra
