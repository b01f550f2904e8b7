// Remote memory: latency + bytes / bandwidth an access, loads and stores alike.
//   none       no access is allowed
//   per_rank   every rank has its own, without contention
//   per_node   the ranks of a node share one server, first come first served
//   pool       all ranks share one server, first come first served
#pragma once

#include <cstdint>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/types.h"

namespace astra {

class MemoryModel {
  public:
    enum class Kind : std::uint8_t { None, PerRank, PerNode, Pool };

    // Reads the study's section `memory`. Throws ConfigError.
    MemoryModel(const ConfigView& memory, std::uint32_t ranks);

    Kind kind() const { return kind_; }
    // When an access that is asked for at `now` has finished. Requires that kind() is not None.
    SimTime access(std::uint32_t rank, Bytes bytes, SimTime now);

  private:
    Kind kind_ = Kind::None;
    Duration latency_;
    Bandwidth bandwidth_;
    std::uint32_t ranks_a_node_ = 1;
    std::vector<SimTime> free_;  // a server
};

}  // namespace astra
