// One switch: a link up and a link down for each port.
#include "network/topology/dimension.h"

namespace astra {

namespace {

// Link i goes from port i up to the switch (node n), link n + i down to port i.
class Switch final : public PlainDimension {
  public:
    Switch(std::uint32_t ports, LinkProperties link, Duration delay)
        : PlainDimension(ports, link), ports_(ports), delay_(delay) {}

    std::uint32_t switches() const override { return ports_ == 1 ? 0 : 1; }
    std::uint64_t links() const override { return ports_ == 1 ? 0 : std::uint64_t{2} * ports_; }
    std::uint32_t chain_size() const override { return 1; }
    bool uniform() const override { return delay_.ps == 0; }
    LinkProperties properties(std::uint32_t link) const override {
        LinkProperties all = PlainDimension::properties(link);
        if (link >= ports_) {
            all.latency = all.latency + delay_;
        }
        return all;
    }

    LinkEnds ends(std::uint32_t link) const override {
        return link < ports_ ? LinkEnds{link, ports_} : LinkEnds{ports_, link - ports_};
    }
    LinkRun next_run(std::uint32_t node, std::uint32_t port) const override {
        return {node < ports_ ? node : ports_ + port, 1};
    }

  private:
    std::uint32_t ports_;
    Duration delay_;  // of the switch
};

}  // namespace

extern const DimensionInfo kSwitchDimension;
const DimensionInfo kSwitchDimension = {
    .name = "switch",
    .summary = "one switch between all; two links a message, up and down",
    .build = [](const DimensionKeys& keys) -> std::unique_ptr<const Dimension> {
        return std::make_unique<Switch>(
            keys.ports, keys.link, keys.view.duration_or("switch_latency", {}));
    }};

}  // namespace astra
