// A line: a ring without the links between the last and the first port. A mesh is a product of
// lines.
#include <algorithm>

#include "network/topology/dimension.h"

namespace astra {

namespace {

// Chain 0 runs upwards, link i from port i to i + 1. Chain 1 runs downwards, link n - 1 + i from
// port n - 1 - i to n - 2 - i.
class Line final : public PlainDimension {
  public:
    Line(std::uint32_t ports, LinkProperties link) : PlainDimension(ports, link), ports_(ports) {}

    std::uint64_t links() const override { return std::uint64_t{2} * (ports_ - 1); }
    std::uint32_t chain_size() const override { return std::max(ports_ - 1, 1U); }

    LinkEnds ends(std::uint32_t link) const override {
        if (link < ports_ - 1) {
            return {link, link + 1};
        }
        const std::uint32_t from = 2 * (ports_ - 1) - link;
        return {from, from - 1};
    }

    LinkRun next_run(std::uint32_t node, std::uint32_t port) const override {
        if (port > node) {
            return {node, port - node};
        }
        return {2 * (ports_ - 1) - node, node - port};
    }

  private:
    std::uint32_t ports_;
};

}  // namespace

extern const DimensionInfo kLineDimension;
const DimensionInfo kLineDimension = {
    .name = "line",
    .summary = "a link to either neighbour, none from the last port to the first",
    .build = [](const DimensionKeys& keys) -> std::unique_ptr<const Dimension> {
        return std::make_unique<Line>(keys.ports, keys.link);
    }};

}  // namespace astra
