#include "system/model/memory_model.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

namespace astra {

MemoryModel::MemoryModel(const ConfigView& memory, std::uint32_t ranks) {
    const std::array<std::string, 4> kinds = {"none", "per_rank", "per_node", "pool"};
    const std::string kind = memory.choice_or("kind", "none", kinds);
    kind_ = static_cast<Kind>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
    if (kind_ == Kind::None) {
        return;
    }
    latency_ = memory.duration_or("latency", {});
    bandwidth_ = memory.at("bandwidth").as_bandwidth();
    if (bandwidth_.bits_per_s == 0) {
        memory.at("bandwidth").fail("a memory needs a bandwidth above 0");
    }
    std::uint64_t servers = 1;
    if (kind_ == Kind::PerNode) {
        ranks_a_node_ =
            static_cast<std::uint32_t>(memory.at("ranks_per_node").as_integer(1, 1U << 24));
        const std::uint64_t needed = (std::uint64_t{ranks} + ranks_a_node_ - 1) / ranks_a_node_;
        servers = memory.integer_or("nodes", needed, 1, 1U << 24);
        if (servers < needed) {
            memory.at("nodes").fail(fmt::format(
                "{} nodes of {} ranks are too few for {} ranks", servers, ranks_a_node_, ranks));
        }
    }
    free_.resize(servers);
}

SimTime MemoryModel::access(std::uint32_t rank, Bytes bytes, SimTime now) {
    const Duration time = latency_ + transfer_time(bytes, bandwidth_);
    if (kind_ == Kind::PerRank) {
        return now + time;
    }
    SimTime& free = free_[kind_ == Kind::Pool ? 0 : rank / ranks_a_node_];
    free = std::max(free, now) + time;
    return free;
}

}  // namespace astra
