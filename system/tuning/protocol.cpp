#include "system/tuning/protocol.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "astra/core/text/nearest.h"

namespace astra {

namespace {

constexpr std::size_t kMostProtocols = 32;
constexpr std::uint64_t kMostChannels = 1024;
// Efficiencies are whole millionths.
constexpr std::uint64_t kMillion = 1'000'000;

const CollectiveAlgorithm* registered(const ConfigView& item) {
    const std::string name = item.as_string();
    std::vector<std::string> names;
    for (const CollectiveAlgorithm* algorithm : collective_algorithms()) {
        if (algorithm->name == name) {
            return algorithm;
        }
        names.emplace_back(algorithm->name);
    }
    item.fail(fmt::format("unknown algorithm '{}'{}", name, suggestion(name, names)));
}

void check_name(const std::string& name, const ConfigView& view) {
    const bool plain = !name.empty() && name.size() <= 32 &&
                       name.find_first_not_of(
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                           "0123456789_") == std::string::npos;
    if (!plain) {
        view.fail("the name of a protocol has 1 to 32 letters, digits and '_'");
    }
}

Protocol read_protocol(const std::string& name, const ConfigView& view) {
    check_name(name, view);
    Protocol protocol;
    protocol.name = name;
    protocol.costs.startup = view.duration_or("startup", {});
    protocol.costs.latency = view.duration_or("latency", {});
    const double efficiency = view.number_or("efficiency", 1.0);
    const auto millionths = static_cast<std::uint64_t>(
        std::llround(std::clamp(efficiency, 0.0, 1.0) * static_cast<double>(kMillion)));
    if (!(efficiency <= 1.0) || millionths == 0) {
        view.at("efficiency")
            .fail(
                "expected the share of the bytes on the links that is data: at most 1, at least "
                "0.000001");
    }
    protocol.costs.wire_bytes = kMillion;
    protocol.costs.data_bytes = millionths;
    if (const auto rate = view.find("channel_bandwidth")) {
        const std::uint64_t channels = view.integer_or("channels", 1, 1, kMostChannels);
        const Bandwidth one = rate->as_bandwidth();
        if (one.bits_per_s == 0) {
            rate->fail("expected a bandwidth above 0");
        }
        protocol.costs.copying = {saturating_multiply(channels, one.bits_per_s)};
    } else if (const auto channels = view.find("channels")) {
        channels->fail("channels need channel_bandwidth, what each of them copies");
    }
    if (const auto list = view.find("algorithms")) {
        for (const ConfigView& item : list->items()) {
            protocol.algorithms.push_back(registered(item));
        }
        if (protocol.algorithms.empty()) {
            list->fail("names no algorithm; leave it out for all");
        }
    }
    return protocol;
}

bool names(const Protocol& protocol, const CollectiveAlgorithm& algorithm) {
    return std::find(protocol.algorithms.begin(), protocol.algorithms.end(), &algorithm) !=
           protocol.algorithms.end();
}

}  // namespace

std::vector<Protocol> read_protocols(const ConfigView& system) {
    std::vector<Protocol> protocols;
    const auto section = system.find("protocols");
    if (!section) {
        return protocols;
    }
    for (const auto& [name, view] : section->entries()) {
        protocols.push_back(read_protocol(name, view));
    }
    if (protocols.empty() || protocols.size() > kMostProtocols) {
        section->fail(fmt::format("expected 1 to {} protocols", kMostProtocols));
    }
    const bool all_taken =
        std::none_of(protocols.begin(), protocols.end(), [](const Protocol& protocol) {
            return protocol.algorithms.empty();
        });
    if (all_taken) {
        section->fail("every protocol names its algorithms: one has to serve all others");
    }
    return protocols;
}

std::vector<const Protocol*> protocols_of(const CollectiveAlgorithm& algorithm,
                                          const std::vector<Protocol>& protocols) {
    std::vector<const Protocol*> special;
    std::vector<const Protocol*> common;
    for (const Protocol& protocol : protocols) {
        if (names(protocol, algorithm)) {
            special.push_back(&protocol);
        } else if (protocol.algorithms.empty()) {
            common.push_back(&protocol);
        }
    }
    return special.empty() ? common : special;
}

MessageCosts message_costs(const CollectiveAlgorithm& algorithm,
                           const ProgramShape& shape,
                           const Protocol* protocol) {
    MessageCosts costs = protocol == nullptr ? MessageCosts{} : protocol->costs;
    if (algorithm.in_switch != nullptr) {
        const WireShare share = algorithm.in_switch(shape);
        costs.wire_bytes *= share.wire_bytes;
        costs.data_bytes *= share.data_bytes;
        costs.reduces = false;
    }
    return costs;
}

}  // namespace astra
