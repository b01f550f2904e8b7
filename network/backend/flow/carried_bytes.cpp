#include "network/backend/flow/carried_bytes.h"

#include <cmath>

namespace astra {

namespace {

// Parts of bytes count as whole ones, but for what a sum of thirds is off.
constexpr double kRounding = 1e-6;

// Work that has been done is whole bits; messages are whole bytes, so only a part of one is cut
// off.
double bytes_of(MaxMin::Work work) {
    const MaxMin::Work bits = work / MaxMin::kWorkABit;
    return static_cast<double>(bits) / 8;
}

}  // namespace

void CarriedBytes::add(std::span<const LinkShare> shares, MaxMin::Work work) {
    bytes_.resize(topology_->links());
    const double bytes = bytes_of(work);
    for (const LinkShare& share : shares) {
        bytes_[share.link] += bytes * share.part;
    }
}

void CarriedBytes::sample(std::vector<LinkSample>& samples) const {
    samples.assign(topology_->links(), {});
    for (std::uint32_t link = 0; link < bytes_.size(); ++link) {
        samples[link].carried_bytes = static_cast<std::uint64_t>(bytes_[link]);
    }
}

std::vector<LinkRecord> CarriedBytes::records() const {
    std::vector<LinkRecord> records;
    for (std::uint32_t link = 0; link < bytes_.size(); ++link) {
        const Bytes size{static_cast<std::uint64_t>(std::ceil(bytes_[link] - kRounding))};
        if (size.count > 0) {
            const LinkEnds ends = topology_->link_ends(link);
            records.push_back({topology_->node_name(ends.from),
                               topology_->node_name(ends.to),
                               size,
                               transfer_time(size, topology_->link(link).bandwidth),
                               topology_->dimension_of_link(link)});
        }
    }
    return records;
}

}  // namespace astra
