#include "astra/core/check.h"
#include "system/model/memory_model.h"

namespace astra {

namespace {

class NoMemory final : public MemoryModel {
  public:
    bool exists() const override { return false; }
    SimTime access(const MemoryAccess&, SimTime now) override {
        ASTRA_CHECK(false, "nobody accesses memory that is not there");
        return now;
    }
};

}  // namespace

extern const MemoryModelInfo kNoneMemoryModel;
const MemoryModelInfo kNoneMemoryModel = {
    .name = "none",
    .summary = "no remote memory: no access is allowed",
    .read = [](const ConfigView&, std::uint32_t) -> std::unique_ptr<MemoryModel> {
        return std::make_unique<NoMemory>();
    }};

}  // namespace astra
