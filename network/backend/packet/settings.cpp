#include "network/backend/packet/settings.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "network/backend/packet/packet.h"

namespace astra::packet {

namespace {

constexpr std::uint64_t kMostPart = Packet::kMostBytes / 2;
constexpr double kMostErrorRate = 0.5;

std::uint32_t small_size(const ConfigView& packet,
                         const char* key,
                         std::uint64_t fallback,
                         std::uint64_t least) {
    const Bytes size = packet.bytes_or(key, {fallback});
    if (size.count < least || size.count > kMostPart) {
        packet.at(key).fail(fmt::format("expected {} to {} bytes", least, kMostPart));
    }
    return static_cast<std::uint32_t>(size.count);
}

}  // namespace

Settings read_settings(const ConfigView& packet) {
    Settings settings;
    settings.mtu_bytes = small_size(packet, "mtu", settings.mtu_bytes, 1);
    settings.header_bytes = small_size(packet, "header", settings.header_bytes, 0);
    settings.control_bytes = small_size(packet, "control", settings.control_bytes, 0);
    const std::array<std::string, 2> modes = {"store_and_forward", "cut_through"};
    settings.cut_through = packet.choice_or("switching", modes[0], modes) == modes[1];
    if (packet.has("buffer")) {
        const Bytes buffer = packet.at("buffer").as_bytes();
        if (buffer.count < settings.full_bytes()) {
            packet.at("buffer").fail(fmt::format(
                "a buffer holds at least one packet, which is {} bytes (mtu and header)",
                settings.full_bytes()));
        }
        settings.buffer_bytes = buffer.count;
    }
    const double rate = packet.number_or("error_rate", 0);
    if (rate < 0 || rate > kMostErrorRate) {
        packet.at("error_rate").fail("expected a probability from 0 to 0.5");
    }
    settings.loss = static_cast<std::uint64_t>(rate * 18446744073709551616.0);
    settings.timeout = packet.duration_or("timeout", {100'000'000});
    if (settings.timeout.ps == 0) {
        packet.at("timeout").fail("expected more than 0");
    }
    return settings;
}

}  // namespace astra::packet
