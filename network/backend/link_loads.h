// Bytes and busy time of every link, kept as differences along chains, so that a message costs the
// same whether its run of links is short or long. 16 bytes a link.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/records.h"
#include "astra/core/types.h"
#include "network/routing/routing.h"

namespace astra {

class LinkLoads {
  public:
    explicit LinkLoads(const Topology& topology);

    // Every link of the hop carries `size` and is busy for `busy`.
    void add(const Hop& hop, Bytes size, Duration busy) {
        const std::uint32_t chain = chain_size_[hop.dimension];
        Load& first = loads_[hop.first];
        first.bytes += size.count;
        first.busy_ps += busy.ps;
        if (chain > 1) {
            subtract_after(hop, size, busy, chain);
        }
    }
    std::vector<LinkRecord> records() const;

    struct Busiest {
        std::uint32_t link = 0;
        Duration busy;
        Bytes bytes;
    };
    Busiest busiest() const;

  private:
    struct Load {
        std::uint64_t bytes = 0;  // differences wrap round; their sums do not
        std::uint64_t busy_ps = 0;
    };
    // Calls `each` with the number and the load of every link that has one.
    template <class Each>
    void each_load(Each each) const;
    void subtract_after(const Hop& hop, Bytes size, Duration busy, std::uint32_t chain);

    const Topology& topology_;
    std::vector<Load> loads_;
    std::vector<std::uint32_t> chain_size_;
    std::vector<std::uint32_t> first_link_;
};

}  // namespace astra
