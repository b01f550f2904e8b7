// What accesses to remote memory take. At 1 GB/s a byte takes 1 ns; with 5 ns of latency an access
// to 10 B takes 15 ns.
#include "system/model/memory_model.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "astra/core/error.h"

namespace astra {
namespace {

using testing::ElementsAre;

constexpr std::uint64_t kNsPs = 1000;

// Ranks 0, 1 and 2 access 10 B at once, rank 0 again 100 ns later: when each access ends, in ns.
std::vector<std::uint64_t> ends_ns(const std::string& memory, bool is_store = false) {
    const ConfigTree tree =
        ConfigTree::parse_text("latency: 5ns\nbandwidth: 1GB/s\n" + memory, "memory.yml");
    const auto model = read_memory_model(tree.root(), 4);
    tree.reject_unread();
    EXPECT_TRUE(model->exists());
    std::vector<std::uint64_t> ends;
    for (const std::uint32_t rank : {0U, 1U, 2U}) {
        ends.push_back(model->access({rank, {10}, is_store}, {}).ps / kNsPs);
    }
    ends.push_back(model->access({0, {10}, is_store}, {100 * kNsPs}).ps / kNsPs);
    return ends;
}

TEST(MemoryModelTest, PerRankNobodyWaits) {
    EXPECT_THAT(ends_ns("kind: per_rank"), ElementsAre(15, 15, 15, 115));
    EXPECT_THAT(ends_ns("kind: per_rank", true), ElementsAre(15, 15, 15, 115));
}

TEST(MemoryModelTest, PerNodeTheRanksOfANodeQueue) {
    EXPECT_THAT(ends_ns("kind: per_node\nranks_per_node: 2"), ElementsAre(15, 30, 15, 115));
    EXPECT_THAT(ends_ns("kind: per_node\nranks_per_node: 4"), ElementsAre(15, 30, 45, 115));
}

TEST(MemoryModelTest, PoolAllQueue) {
    EXPECT_THAT(ends_ns("kind: pool"), ElementsAre(15, 30, 45, 115));
}

TEST(MemoryModelTest, NoneHasNoMemoryAndReadsNothing) {
    const ConfigTree tree = ConfigTree::parse_text("{}", "memory.yml");
    EXPECT_FALSE(read_memory_model(tree.root(), 4)->exists());
}

TEST(MemoryModelTest, RefusesWhatCannotBe) {
    const auto error = [](const std::string& memory) -> std::string {
        try {
            const ConfigTree tree = ConfigTree::parse_text(memory, "memory.yml");
            read_memory_model(tree.root(), 5);
        } catch (const ConfigError& refused) {
            return refused.what();
        }
        return "no error";
    };
    EXPECT_THAT(error("kind: pol"), testing::HasSubstr("did you mean 'pool'?"));
    EXPECT_THAT(error("{kind: pool, bandwidth: 0GB/s}"), testing::HasSubstr("bandwidth above 0"));
    EXPECT_THAT(
        error("{kind: per_node, bandwidth: 1GB/s, ranks_per_node: 2, nodes: 2}"),
        testing::HasSubstr("memory.yml:1:62: nodes: 2 nodes of 2 ranks are too few for 5 ranks"));
}

}  // namespace
}  // namespace astra
