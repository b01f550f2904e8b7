// Keys that have no effect with the chosen backend or transport are said, whichever it is.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> idle(std::string_view backend,
                              std::string_view transport,
                              const std::string& setting) {
    ConfigTree tree = ConfigTree::parse_text("network: {}", "study.yml");
    tree.set("network.backend=" + std::string(backend));
    if (!transport.empty()) {
        tree.set("network.packet.transport=" + std::string(transport));
    }
    tree.set(setting);
    Warnings warnings;
    const ConfigView network = tree.root().at("network");
    warn_of_idle_keys(read_backend(network), network, warnings);
    return warnings.texts();
}

// A key of every section that there is.
TEST(IdleKeys, OfEveryOtherBackend) {
    const std::map<std::string_view, std::string> keys = {{"flow", "network.flow.rate_cap"},
                                                          {"packet", "network.packet.error_rate"}};
    for (const BackendInfo* owner : backends()) {
        ASSERT_EQ(keys.count(owner->name), owner->check != nullptr ? 1U : 0U) << owner->name;
        if (owner->check == nullptr) {
            continue;
        }
        const std::string& key = keys.at(owner->name);
        for (const BackendInfo* chosen : backends()) {
            const auto warnings = idle(chosen->name, "", key + "=0");
            if (chosen == owner) {
                EXPECT_THAT(warnings, IsEmpty());
            } else {
                EXPECT_THAT(
                    warnings,
                    ElementsAre(key + ": no effect: the backend is " + std::string(chosen->name)));
            }
        }
    }
}

TEST(IdleKeys, OfEveryOtherTransport) {
    const std::map<std::string_view, std::string> keys = {
        {"dcqcn", "ack_every"}, {"ndp", "control_weight"}, {"none", "-"}, {"swift", "reset_after"}};
    for (const packet::TransportInfo* owner : packet::transports()) {
        ASSERT_EQ(keys.count(owner->name), 1U) << owner->name;
        const std::string& key = keys.at(owner->name);
        if (key == "-") {
            continue;
        }
        const std::string path = "network.packet." + std::string(owner->name) + "." + key;
        for (const packet::TransportInfo* chosen : packet::transports()) {
            const auto warnings = idle("packet", chosen->name, path + "=5");
            if (chosen == owner) {
                EXPECT_THAT(warnings, IsEmpty());
            } else {
                EXPECT_THAT(warnings,
                            ElementsAre(path + ": no effect: the transport is " +
                                        std::string(chosen->name)));
            }
        }
    }
}

TEST(IdleKeys, ABufferThatLosesNothing) {
    const std::string buffer = "network.packet.buffer=1MiB";
    EXPECT_THAT(idle("packet", "none", buffer),
                ElementsAre(HasSubstr("network.packet.buffer: no effect: the transport is none")));
    EXPECT_THAT(idle("packet", "dcqcn", buffer), ElementsAre(HasSubstr("no effect")));
    EXPECT_THAT(idle("packet", "swift", buffer), IsEmpty());
    EXPECT_THAT(idle("packet", "ndp", buffer), IsEmpty());
}

TEST(IdleKeys, OfPausesThatAreOff) {
    const std::string path = "network.packet.dcqcn";
    for (const std::string key : {"pfc_share: 2", "headroom: 1MB"}) {
        EXPECT_THAT(idle("packet", "dcqcn", path + "={pfc: true, " + key + "}"), IsEmpty());
        EXPECT_THAT(idle("packet", "dcqcn", path + "={pfc: false, " + key + "}"),
                    ElementsAre(HasSubstr(": no effect: pfc is off")));
    }
    EXPECT_THAT(idle("packet", "dcqcn", path + "={pfc: false, shared_buffer: 1MB}"), IsEmpty());
    EXPECT_THAT(
        idle("packet",
             "",
             "network.packet={transport: dcqcn, buffer: 1MB, dcqcn: {pfc: false, shared_buffer: "
             "2MB}}"),
        ElementsAre(HasSubstr("shared_buffer: no effect: pfc is off, and network.packet.buffer")));
}

// Whoever goes back to a packet that was overtaken is not to be sprayed without a word.
TEST(IdleKeys, SprayingUnderATransportThatGoesBackIsSaid) {
    for (const packet::TransportInfo* transport : packet::transports()) {
        for (const std::string routing : {"auto", "ecmp", "dimension_order", "spray", "adaptive"}) {
            const auto warnings = idle("packet", transport->name, "network.routing=" + routing);
            if (transport->goes_back && (routing == "spray" || routing == "adaptive")) {
                EXPECT_THAT(warnings,
                            ElementsAre(HasSubstr("network.routing: " + routing +
                                                  " lets packets overtake each other")));
            } else {
                EXPECT_THAT(warnings, IsEmpty()) << transport->name << " " << routing;
            }
        }
    }
}

}  // namespace
}  // namespace astra::test
