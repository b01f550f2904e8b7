#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "astra/config/config_view.h"
#include "system/model/memory/access_time.h"
#include "system/model/memory_model.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostNodes = 1U << 24;

class MemoryPerNode final : public MemoryModel {
  public:
    MemoryPerNode(const ConfigView& memory, std::uint32_t ranks)
        : time_(AccessTime::from_config(memory)),
          ranks_a_node_(
              static_cast<std::uint32_t>(memory.at("ranks_per_node").as_integer(1, kMostNodes))) {
        const std::uint64_t needed = (std::uint64_t{ranks} + ranks_a_node_ - 1) / ranks_a_node_;
        const std::uint64_t nodes = memory.integer_or("nodes", needed, 1, kMostNodes);
        if (nodes < needed) {
            memory.at("nodes").fail(fmt::format(
                "{} nodes of {} ranks are too few for {} ranks", nodes, ranks_a_node_, ranks));
        }
        free_.resize(nodes);
    }

    SimTime access(const MemoryAccess& access, SimTime now) override {
        SimTime& free = free_[access.rank / ranks_a_node_];
        free = std::max(free, now) + time_.of(access.bytes);
        return free;
    }

  private:
    AccessTime time_;
    std::uint32_t ranks_a_node_;
    std::vector<SimTime> free_;  // by node
};

}  // namespace

extern const MemoryModelInfo kPerNodeMemoryModel;
const MemoryModelInfo kPerNodeMemoryModel = {
    .name = "per_node",
    .summary = "a memory for the ranks of a node, first come, first served",
    .read = [](const ConfigView& memory, std::uint32_t ranks) -> std::unique_ptr<MemoryModel> {
        return std::make_unique<MemoryPerNode>(memory, ranks);
    }};

}  // namespace astra
