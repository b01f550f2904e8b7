// What flows leave on links, and links that fail under them.
#include <cmath>

#include "network/backend/flow/flow_backend.h"

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

void FlowBackend::set_link(std::uint32_t link, bool up) {
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        leave_solver(id);
        carry(classes_[id]);
    }
    routing_.set_up(link, up);
    ++fabric_;
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        if (!classes_[id].members.empty()) {
            enter_solver(id);
        }
    }
}

void FlowBackend::sample(std::vector<LinkSample>& samples) {
    samples.clear();
    for (const double bytes : bytes_so_far()) {
        samples.push_back({static_cast<std::uint64_t>(bytes), 0});
    }
}

void FlowBackend::count_load(const RouteClass& route_class, bool more) {
    for (const LinkShare& share : route_class.shares) {
        load_[share.link] += more ? 1U : ~std::uint32_t{0};
    }
}

// Books what the class has carried on the links of its present route.
void FlowBackend::carry(RouteClass& route_class) {
    if (route_class.carried == 0) {
        return;
    }
    carried_bytes_.resize(topology_.links());
    const double bytes = bytes_of(route_class.carried);
    if (!adaptive_) {
        finder_.find(route_class.source, route_class.destination, load_, route_);
    }
    for (const LinkShare& share : adaptive_ ? route_class.shares : route_.shares) {
        carried_bytes_[share.link] += bytes * share.part;
    }
    route_class.carried = 0;
}

std::vector<double> FlowBackend::bytes_so_far() const {
    std::vector<double> bytes = carried_bytes_;
    bytes.resize(topology_.links());
    RouteFinder finder(routing_);
    FlowRoute route;
    for (const RouteClass& route_class : classes_) {
        const Work open =
            route_class.is_in_solver
                ? route_class.asked - solver_.remaining(route_class.in_solver, queue_.now())
                : 0;
        const Work carried = route_class.carried + open * route_class.members.size();
        if (carried == 0) {
            continue;
        }
        if (!adaptive_) {
            finder.find(route_class.source, route_class.destination, load_, route);
        }
        for (const LinkShare& share : adaptive_ ? route_class.shares : route.shares) {
            bytes[share.link] += bytes_of(carried) * share.part;
        }
    }
    return bytes;
}

std::vector<LinkRecord> FlowBackend::link_records() const {
    const std::vector<double> bytes = bytes_so_far();
    std::vector<LinkRecord> records;
    for (std::uint32_t link = 0; link < bytes.size(); ++link) {
        const Bytes size{static_cast<std::uint64_t>(std::ceil(bytes[link] - kRounding))};
        if (size.count > 0) {
            const LinkEnds ends = topology_.link_ends(link);
            records.push_back({topology_.node_name(ends.from),
                               topology_.node_name(ends.to),
                               size,
                               transfer_time(size, topology_.link(link).bandwidth),
                               topology_.wiring_of_link(link)});
        }
    }
    return records;
}

}  // namespace astra
