// A link of its own for every ordered pair of ports.
#include "network/topology/dimension.h"

namespace astra {

namespace {

// Link i·(n - 1) + k goes from port i to the k-th of the other ports.
class FullyConnected final : public PlainDimension {
  public:
    FullyConnected(std::uint32_t ports, LinkProperties link)
        : PlainDimension(ports, link), ports_(ports) {}

    std::uint64_t links() const override { return std::uint64_t{ports_} * (ports_ - 1); }
    std::uint32_t chain_size() const override { return 1; }

    LinkEnds ends(std::uint32_t link) const override {
        const std::uint32_t from = link / (ports_ - 1);
        const std::uint32_t other = link % (ports_ - 1);
        return {from, other < from ? other : other + 1};
    }
    LinkRun next_run(std::uint32_t node, std::uint32_t port) const override {
        return {node * (ports_ - 1) + (port < node ? port : port - 1), 1};
    }

  private:
    std::uint32_t ports_;
};

}  // namespace

extern const DimensionInfo kFullyConnectedDimension;
const DimensionInfo kFullyConnectedDimension = {
    .name = "fully_connected",
    .summary = "a link of its own between every two ports",
    .build = [](const DimensionKeys& keys) -> std::unique_ptr<const Dimension> {
        return std::make_unique<FullyConnected>(keys.ports, keys.link);
    }};

}  // namespace astra
