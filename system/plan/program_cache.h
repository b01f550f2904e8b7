// The programs of phases, each made when it is first asked for, and what they load links with.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "system/plan/collective_plan.h"
#include "system/plan/dimension_order.h"
#include "system/run/message_costs.h"

namespace astra {

class ProgramCache final : public PhaseLoads {
  public:
    // Both outlive the cache.
    ProgramCache(Routing& routing, const EndpointCosts& endpoint)
        : routing_(routing), endpoint_(endpoint) {}

    // The program of a phase over `ranks` of the fabric, on a buffer of `size`; lives as long as
    // the cache. `chunk` chooses among the variants of an algorithm.
    const Program& program(const CollectivePlan& plan,
                           const PhasePlan& phase,
                           std::uint32_t chunk,
                           bool reversed,
                           const std::vector<std::uint32_t>& ranks,
                           Bytes size);

    // As over the first subgroup of the dimension.
    const PhaseLoad& of(CollectivePlan& plan, const PhasePlan& phase, Bytes size) override;

  private:
    struct Key {
        const void* origin = nullptr;  // the algorithm or the source
        ProgramShape shape;
        Bytes size;                        // its class, if the program is for it alone
        std::vector<std::uint32_t> ranks;  // if the program is for them alone
        bool operator<(const Key& other) const {
            return std::tie(origin, shape, size, ranks) <
                   std::tie(other.origin, other.shape, other.size, other.ranks);
        }
    };

    Routing& routing_;
    const EndpointCosts& endpoint_;
    std::map<Key, std::unique_ptr<const Program>> programs_;  // looked up, never walked
};

}  // namespace astra
