#include "network/backend/link_loads.h"

namespace astra {

LinkLoads::LinkLoads(const Topology& topology) : topology_(topology), loads_(topology.links()) {
    for (std::uint32_t k = 0; k < topology.physical_dimensions(); ++k) {
        chain_size_.push_back(topology.chain_size(k));
        first_link_.push_back(topology.first_link(k));
    }
}

void LinkLoads::subtract_after(const Hop& hop, Bytes size, Duration busy, std::uint32_t chain) {
    const std::uint32_t begin = hop.chain;
    const std::uint32_t end = hop.first - begin + hop.count;
    if (end == chain) {
        return;
    }
    if (end > chain) {  // the rest of the run starts again at the beginning of the chain
        loads_[begin].bytes += size.count;
        loads_[begin].busy_ps += busy.ps;
    }
    Load& after = loads_[begin + (end > chain ? end - chain : end)];
    after.bytes -= size.count;
    after.busy_ps -= busy.ps;
}

template <class Each>
void LinkLoads::each_load(Each each) const {
    Load sum;
    for (std::uint32_t link = 0; link < loads_.size(); ++link) {
        const std::uint32_t k = topology_.dimension_of_link(link);
        if ((link - first_link_[k]) % chain_size_[k] == 0) {
            sum = {};
        }
        sum.bytes += loads_[link].bytes;
        sum.busy_ps += loads_[link].busy_ps;
        if (sum.bytes != 0 || sum.busy_ps != 0) {
            each(link, sum);
        }
    }
}

std::vector<LinkRecord> LinkLoads::records() const {
    std::vector<LinkRecord> records;
    each_load([&](std::uint32_t link, const Load& load) {
        const LinkEnds ends = topology_.link_ends(link);
        records.push_back({topology_.node_name(ends.from),
                           topology_.node_name(ends.to),
                           {load.bytes},
                           {load.busy_ps},
                           topology_.dimension_of_link(link)});
    });
    return records;
}

LinkLoads::Busiest LinkLoads::busiest() const {
    Busiest most;
    each_load([&](std::uint32_t link, const Load& load) {
        if (load.busy_ps > most.busy.ps) {
            most = {link, {load.busy_ps}, {load.bytes}};
        }
    });
    return most;
}

}  // namespace astra
