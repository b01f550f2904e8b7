#include "system/model/memory/access_time.h"
#include "system/model/memory_model.h"

namespace astra {

namespace {

class MemoryPerRank final : public MemoryModel {
  public:
    explicit MemoryPerRank(const AccessTime& time) : time_(time) {}
    SimTime access(const MemoryAccess& access, SimTime now) override {
        return now + time_.of(access.bytes);
    }

  private:
    AccessTime time_;
};

}  // namespace

extern const MemoryModelInfo kPerRankMemoryModel;
const MemoryModelInfo kPerRankMemoryModel = {
    .name = "per_rank",
    .summary = "a memory for every rank, without contention",
    .read = [](const ConfigView& memory, std::uint32_t) -> std::unique_ptr<MemoryModel> {
        return std::make_unique<MemoryPerRank>(AccessTime::from_config(memory));
    }};

}  // namespace astra
