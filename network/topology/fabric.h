// A dimension that is a graph of switches: any links, each with a bandwidth and latency.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "network/topology/dimension.h"

namespace astra {

struct FabricLink {
    LinkEnds ends;
    LinkProperties properties;
};

class Fabric final : public Dimension {
  public:
    std::uint32_t ports() const override { return ports_; }
    std::uint32_t switches() const override {
        return static_cast<std::uint32_t>(switch_names_.size());
    }
    std::uint64_t links() const override { return links_.size(); }
    LinkEnds ends(std::uint32_t link) const override { return links_[link].ends; }
    LinkProperties properties(std::uint32_t link) const override { return links_[link].properties; }
    std::uint32_t weight(std::uint32_t link) const override {
        return weights_.empty() ? 1 : weights_[link];
    }
    bool uniform() const override { return false; }
    std::string switch_name(std::uint32_t number) const override { return switch_names_[number]; }
    bool ports_forward() const override { return ports_forward_; }
    std::vector<std::uint32_t> shape() const override { return shape_; }

  private:
    friend class FabricBuilder;
    Fabric() = default;

    std::uint32_t ports_ = 0;
    std::vector<std::string> switch_names_;
    std::vector<FabricLink> links_;
    std::vector<std::uint32_t> weights_;  // a link; empty: 1 each
    bool ports_forward_ = false;
    std::vector<std::uint32_t> shape_;
};

// Nodes are numbered as in Dimension: ports first, then switches in the order of adding.
class FabricBuilder {
  public:
    // Reads `shape`, the sizes that collectives see as dimensions. Throws ConfigError.
    FabricBuilder(std::uint32_t ports, const ConfigView& view);

    // Refuses too many links before they are made. Throws ConfigError.
    void expect_links(std::uint64_t cables);

    // The node of the new switch.
    std::uint32_t add_switch(std::string name);
    // The node of the first of `count` switches "name0", "name1", …
    std::uint32_t add_switches(const std::string& name, std::uint32_t count);
    // One direction. A switch adds its delay to what it sends.
    void link(std::uint32_t from,
              std::uint32_t to,
              LinkProperties properties,
              std::uint32_t weight = 1);
    // A link in each direction.
    void connect(std::uint32_t a,
                 std::uint32_t b,
                 LinkProperties properties,
                 std::uint32_t weight = 1);

    void set_switch_delay(Duration delay) { switch_delay_ = delay; }
    void set_ports_forward(bool forward) { fabric_->ports_forward_ = forward; }
    void set_shape(std::vector<std::uint32_t> shape);  // unless the study gives one

    // Throws ConfigError at `view` when the fabric passes the limits. Leaves the builder empty.
    std::unique_ptr<const Dimension> build();

  private:
    ConfigView view_;
    std::unique_ptr<Fabric> fabric_;
    Duration switch_delay_;
};

// Bandwidth and latency of the links of one tier: the keys `<tier>_bandwidth` and `<tier>_latency`,
// each with `fallback` as its default.
LinkProperties read_tier(const ConfigView& view, const std::string& tier, LinkProperties fallback);

// How many links of `up` a switch needs so that its `ports` links of `down` get
// 1 / `oversubscription` of their bandwidth, rounded up; the key `key` overrides it.
std::uint32_t read_uplinks(const ConfigView& view,
                           const std::string& key,
                           std::uint32_t ports,
                           LinkProperties down,
                           LinkProperties up);

}  // namespace astra
