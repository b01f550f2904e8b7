// A fabric from a file that lists hosts, switches and links.
#include <array>
#include <unordered_map>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/core/text/nearest.h"
#include "network/topology/fabric.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostParallel = 1024;
constexpr std::array<std::string_view, 7> kKeys = {
    "hosts", "switches", "bandwidth", "latency", "switch_latency", "hosts_forward", "links"};
constexpr std::array<std::string_view, 7> kLinkKeys = {
    "from", "to", "bandwidth", "latency", "direction", "count", "weight"};

class GraphFile {
  public:
    GraphFile(const ConfigView& root, LinkProperties fallback) : root_(root), usual_(fallback) {
        root_.require_only(kKeys);
        read_names("hosts", "host");
        ports_ = static_cast<std::uint32_t>(names_.size());
        if (ports_ == 0) {
            root_.at("hosts").fail("a fabric needs at least one host");
        }
        read_names("switches", "switch");
        if (const auto bandwidth = root_.find("bandwidth")) {
            usual_.bandwidth = bandwidth->as_bandwidth();
            if (usual_.bandwidth.bits_per_s == 0) {
                bandwidth->fail("a link needs a bandwidth above 0");
            }
        }
        usual_.latency = root_.duration_or("latency", usual_.latency);
    }

    std::uint32_t ports() const { return ports_; }

    void add_to(FabricBuilder& fabric) const {
        fabric.set_switch_delay(root_.duration_or("switch_latency", {}));
        fabric.set_ports_forward(root_.bool_or("hosts_forward", false));
        for (std::size_t i = ports_; i < names_.size(); ++i) {
            fabric.add_switch(names_[i]);
        }
        for (const ConfigView& link : root_.at("links").items()) {
            add_link(fabric, link);
        }
    }

  private:
    // A list of names, or a number: <prefix>0, <prefix>1, …
    void read_names(const std::string& key, const std::string& prefix) {
        const auto found = root_.find(key);
        if (!found) {
            return;
        }
        if (found->is_scalar()) {
            const std::uint64_t count = found->as_integer(0, kMostRanks);
            for (std::uint64_t i = 0; i < count; ++i) {
                add_name(prefix + std::to_string(i), *found);
            }
            return;
        }
        for (const ConfigView& item : found->items()) {
            add_name(item.as_string(), item);
        }
    }
    void add_name(const std::string& name, const ConfigView& where) {
        if (!nodes_.emplace(name, static_cast<std::uint32_t>(names_.size())).second) {
            where.fail(fmt::format("'{}' is there twice", name));
        }
        names_.push_back(name);
    }
    std::uint32_t node(const ConfigView& name) const {
        const auto found = nodes_.find(name.as_string());
        if (found == nodes_.end()) {
            name.fail(fmt::format("no host or switch '{}'{}",
                                  name.as_string(),
                                  suggestion(name.as_string(), names_)));
        }
        return found->second;
    }
    void add_link(FabricBuilder& fabric, const ConfigView& link) const {
        link.require_only(kLinkKeys);
        const std::uint32_t from = node(link.at("from"));
        const std::uint32_t to = node(link.at("to"));
        if (from == to) {
            link.at("to").fail("a link from a node to itself");
        }
        LinkProperties properties;
        properties.bandwidth = usual_.bandwidth.bits_per_s == 0
                                   ? link.at("bandwidth").as_bandwidth()
                                   : link.bandwidth_or("bandwidth", usual_.bandwidth);
        if (properties.bandwidth.bits_per_s == 0) {
            link.at("bandwidth").fail("a link needs a bandwidth above 0");
        }
        properties.latency = link.duration_or("latency", usual_.latency);
        const std::array<std::string, 2> directions = {"both", "one"};
        const bool both = link.choice_or("direction", "both", directions) == "both";
        const std::uint64_t count = link.integer_or("count", 1, 1, kMostParallel);
        const auto weight =
            static_cast<std::uint32_t>(link.integer_or("weight", 1, 1, kMostWeight));
        for (std::uint64_t i = 0; i < count; ++i) {
            if (both) {
                fabric.connect(from, to, properties, weight);
            } else {
                fabric.link(from, to, properties, weight);
            }
        }
    }

    ConfigView root_;
    LinkProperties usual_;
    std::uint32_t ports_ = 0;
    std::vector<std::string> names_;
    std::unordered_map<std::string, std::uint32_t> nodes_;
};

std::unique_ptr<const Dimension> build(const DimensionKeys& keys) {
    const ConfigTree tree = ConfigTree::parse_file(keys.view.at("file").as_file_name());
    const GraphFile file(tree.root(), keys.link);
    if (keys.ports != 0 && keys.ports != file.ports()) {
        keys.view.at("ranks").fail(
            fmt::format("{} has {} hosts", keys.view.at("file").as_string(), file.ports()));
    }
    FabricBuilder fabric(file.ports(), keys.view);
    file.add_to(fabric);
    return fabric.build();
}

}  // namespace

extern const DimensionInfo kCustomDimension;
const DimensionInfo kCustomDimension = {.name = "custom",
                                        .summary = "hosts, switches and links as a file lists them",
                                        .build = build,
                                        .from_file = true};

}  // namespace astra
