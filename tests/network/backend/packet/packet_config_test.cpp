// The keys of network.packet: what is refused, and how.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/network/backend/packet/packet_network.h"

namespace astra {
namespace {

std::string refusal(const std::string& packet) {
    try {
        const PacketNetwork network(one_dimension("ring", 4), packet);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "accepted";
}

TEST(PacketConfigTest, SaysWhereAndWhat) {
    const std::vector<std::pair<std::string, std::string>> refused = {
        {"transport: dcqn", "did you mean 'dcqcn'?"},
        {"buffer: 4095B", "a buffer holds at least one packet, which is 4096 bytes"},
        {"mtu: 0B", "expected 1 to"},
        {"mtu: 1GiB", "expected 1 to"},
        {"error_rate: 0.6", "expected a probability from 0 to 0.5"},
        {"error_rate: -1", "expected a probability from 0 to 0.5"},
        {"timeout: 0s", "expected more than 0"},
        {"switching: cut_trough", "did you mean 'cut_through'?"},
        {"bufer: 1MiB", "did you mean 'buffer'?"},
        {"transport: ndp, ndp: {initial_window: 0}", "initial_window"},
        {"transport: ndp, ndp: {header_queue: 1B}", "at least one control packet"},
        {"transport: dcqcn, dcqcn: {kmin: 5KB}", "expected kmin and kmax, or none"},
        {"transport: dcqcn, dcqcn: {kmin: 5KB, kmax: 4KB}", "expected at least kmin"},
        {"transport: dcqcn, dcqcn: {g: 2}", "expected a number from 0 to 1"},
        {"transport: dcqcn, dcqcn: {rate_timer: 0us}", "expected more than 0"},
        {"transport: dcqcn, dcqcn: {rate_ai: 0Gbps}", "expected more than 0"},
        {"transport: swift, swift: {fs_min_window: 200}",
         "expected fs_max_window above fs_min_window"},
        {"transport: swift, swift: {base_target: 2s}", "expected at most 1 s"},
        {"transport: swift, swift: {max_window: 0}", "expected a number"},
        {"transport: swift, swift: {min_window: 2, max_window: 1}", "at least min_window"},
        // Those that are not chosen are checked all the same.
        {"transport: ndp, swift: {betta: 1}", "did you mean 'beta'?"},
        {"swift: {beta: 2}", "expected a number from 0"},
    };
    for (const auto& [packet, expected] : refused) {
        const std::string message = refusal(packet);
        EXPECT_NE(message.find(expected), std::string::npos) << packet << ": " << message;
        EXPECT_EQ(message.rfind("network.yml:1:", 0), 0U) << packet << ": " << message;
    }
}

TEST(PacketConfigTest, AStudyMayCarryTheSettingsOfAllTransports) {
    const PacketNetwork network(
        one_dimension("ring", 4),
        "transport: swift, buffer: 1MiB, switching: cut_through, control: 32B, timeout: 1ms,"
        " dcqcn: {pfc: false, headroom: 10KiB, kmin: 5KB, kmax: 200KB, pmax: 0.01, min_rate: "
        "1Gbps},"
        " ndp: {initial_window: 30, header_queue: 32KiB, control_weight: 0}, swift: {ai: 2}");
}

// 2^32 packets of one byte.
TEST(PacketConfigTest, AMessageOfTooManyPacketsIsRefused) {
    PacketNetwork network(one_dimension("ring", 4), "mtu: 1B");
    EXPECT_THROW(network.send(0, 1, {std::uint64_t{1} << 32}), InputError);
}

// Hostile sizes neither fail nor hang: a message of 2^40 bytes makes its packets one by one.
TEST(PacketConfigTest, AHugeMessageCostsNoMemory) {
    for (const std::string& transport : packet::transports().names()) {
        PacketNetwork network(one_dimension("switch", 4), "transport: " + transport);
        network.send(0, 1, {std::uint64_t{1} << 43});
        network.queue().run_until({100'000'000});
        EXPECT_FALSE(network.queue().empty()) << transport;
        EXPECT_LT(network.queue().size(), 100U) << transport;
    }
}

}  // namespace
}  // namespace astra
