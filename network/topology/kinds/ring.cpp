// A ring: a link to either neighbour, in the shorter direction, clockwise (upwards) on a tie; or
// one direction only.
#include <array>

#include "network/topology/dimension.h"

namespace astra {

namespace {

// Chain 0 runs clockwise, link i from port i to i + 1. Chain 1, if there is one, runs the other
// way, link n + i from port -i to -i - 1 (mod n). A ring of two has one link in each direction:
// both are clockwise.
class Ring final : public PlainDimension {
  public:
    Ring(std::uint32_t ports, LinkProperties link, bool both_directions)
        : PlainDimension(ports, link),
          ports_(ports),
          chains_(both_directions && ports > 2 ? 2 : 1) {}

    std::uint64_t links() const override {
        return ports_ == 1 ? 0 : std::uint64_t{chains_} * ports_;
    }
    std::uint32_t chain_size() const override { return ports_; }

    LinkEnds ends(std::uint32_t link) const override {
        if (link < ports_) {
            return {link, link + 1 == ports_ ? 0 : link + 1};
        }
        const std::uint32_t from = mirrored(link - ports_);
        return {from, from == 0 ? ports_ - 1 : from - 1};
    }

    LinkRun next_run(std::uint32_t node, std::uint32_t port) const override {
        const std::uint32_t up = port >= node ? port - node : port + ports_ - node;
        const std::uint32_t down = ports_ - up;
        if (up <= down || chains_ == 1) {
            return {node, up};
        }
        return {ports_ + mirrored(node), down};
    }

  private:
    std::uint32_t mirrored(std::uint32_t i) const { return i == 0 ? 0 : ports_ - i; }

    std::uint32_t ports_;
    std::uint32_t chains_;
};

}  // namespace

extern const DimensionInfo kRingDimension;
const DimensionInfo kRingDimension = {
    .name = "ring",
    .summary = "a link to either neighbour; messages go the shorter way round",
    .build = [](const DimensionKeys& keys) -> std::unique_ptr<const Dimension> {
        const std::array<std::string, 2> directions = {"both", "clockwise"};
        const bool both = keys.view.choice_or("direction", "both", directions) == "both";
        return std::make_unique<Ring>(keys.ports, keys.link, both);
    }};

}  // namespace astra
