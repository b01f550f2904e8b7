#include <algorithm>

#include "system/model/memory/access_time.h"
#include "system/model/memory_model.h"

namespace astra {

namespace {

class MemoryPool final : public MemoryModel {
  public:
    explicit MemoryPool(const AccessTime& time) : time_(time) {}
    SimTime access(const MemoryAccess& access, SimTime now) override {
        free_ = std::max(free_, now) + time_.of(access.bytes);
        return free_;
    }

  private:
    AccessTime time_;
    SimTime free_;
};

}  // namespace

extern const MemoryModelInfo kPoolMemoryModel;
const MemoryModelInfo kPoolMemoryModel = {
    .name = "pool",
    .summary = "one memory for all ranks, first come, first served",
    .read = [](const ConfigView& memory, std::uint32_t) -> std::unique_ptr<MemoryModel> {
        return std::make_unique<MemoryPool>(AccessTime::from_config(memory));
    }};

}  // namespace astra
