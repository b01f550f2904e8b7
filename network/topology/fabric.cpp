#include "network/topology/fabric.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace astra {

namespace {

constexpr std::uint32_t kMostDimensions = 16;

}  // namespace

FabricBuilder::FabricBuilder(std::uint32_t ports, const ConfigView& view)
    : view_(view), fabric_(new Fabric()) {
    fabric_->ports_ = ports;
    if (const auto list = view.find("shape")) {
        std::uint64_t product = 1;
        for (const ConfigView& item : list->items()) {
            const std::uint64_t size = item.as_integer(1, kMostRanks);
            product = saturating_multiply(product, size);
            fabric_->shape_.push_back(static_cast<std::uint32_t>(size));
        }
        if (product != ports || fabric_->shape_.size() > kMostDimensions) {
            list->fail(
                fmt::format("at most {} sizes whose product is {}, the ranks of the dimension",
                            kMostDimensions,
                            ports));
        }
    }
}

void FabricBuilder::set_shape(std::vector<std::uint32_t> shape) {
    if (fabric_->shape_.empty()) {
        fabric_->shape_ = std::move(shape);
    }
}

std::uint32_t FabricBuilder::add_switch(std::string name) {
    if (fabric_->switch_names_.size() >= kMostRanks) {
        view_.fail(fmt::format("more than {} switches", kMostRanks));
    }
    fabric_->switch_names_.push_back(std::move(name));
    return fabric_->ports_ + fabric_->switches() - 1;
}

std::uint32_t FabricBuilder::add_switches(const std::string& name, std::uint32_t count) {
    const std::uint32_t first = fabric_->ports_ + fabric_->switches();
    for (std::uint32_t i = 0; i < count; ++i) {
        add_switch(name + std::to_string(i));
    }
    return first;
}

void FabricBuilder::expect_links(std::uint64_t cables) {
    if (cables > kMostLinks / 2) {
        view_.fail(fmt::format(
            "{} links; at most {} can be held", saturating_multiply(cables, 2), kMostLinks));
    }
}

void FabricBuilder::link(std::uint32_t from,
                         std::uint32_t to,
                         LinkProperties properties,
                         std::uint32_t weight) {
    if (fabric_->links_.size() >= kMostLinks) {
        view_.fail(fmt::format("more than {} links", kMostLinks));
    }
    if (from >= fabric_->ports_) {
        properties.latency = properties.latency + switch_delay_;
    }
    if (weight != 1 || !fabric_->weights_.empty()) {
        fabric_->weights_.resize(fabric_->links_.size(), 1);
        fabric_->weights_.push_back(weight);
    }
    fabric_->links_.push_back({{from, to}, properties});
}

void FabricBuilder::connect(std::uint32_t a,
                            std::uint32_t b,
                            LinkProperties properties,
                            std::uint32_t weight) {
    link(a, b, properties, weight);
    link(b, a, properties, weight);
}

std::unique_ptr<const Dimension> FabricBuilder::build() {
    set_shape({fabric_->ports_});
    return std::move(fabric_);
}

LinkProperties read_tier(const ConfigView& view, const std::string& tier, LinkProperties fallback) {
    LinkProperties link;
    link.bandwidth = view.bandwidth_or(tier + "_bandwidth", fallback.bandwidth);
    if (link.bandwidth.bits_per_s == 0) {
        view.at(tier + "_bandwidth").fail("a link needs a bandwidth above 0");
    }
    link.latency = view.duration_or(tier + "_latency", fallback.latency);
    return link;
}

std::uint32_t read_uplinks(const ConfigView& view,
                           const std::string& key,
                           std::uint32_t ports,
                           LinkProperties down,
                           LinkProperties up) {
    const double oversubscription = view.number_or("oversubscription", 1.0);
    if (!(oversubscription > 0) || oversubscription > 1e6) {
        view.at("oversubscription").fail("expected a number above 0, at most 1000000");
    }
    const double wanted = static_cast<double>(ports) *
                          static_cast<double>(down.bandwidth.bits_per_s) /
                          static_cast<double>(up.bandwidth.bits_per_s) / oversubscription;
    // A hair below a whole number is that number: 8 / 1.0000000001 links are 8.
    const double links = std::ceil(wanted * (1 - 1e-9));
    const double most = static_cast<double>(kMostRanks);
    return static_cast<std::uint32_t>(view.integer_or(
        key, static_cast<std::uint64_t>(std::clamp(links, 1.0, most)), 1, kMostRanks));
}

}  // namespace astra
