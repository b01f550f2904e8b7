// One dimension of a topology: how `ports` equals are wired among themselves, perhaps over
// switches. A topology is a product of dimensions (see topology.h). To add a kind: one .cpp in this
// folder that defines `const DimensionInfo k<Name>Dimension`, and one line in builtins.def.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "astra/config/config_view.h"

namespace astra {

// Consecutive links of one lane, taken one after the other: links first, first + 1, …, wrapping
// round within their lane (a lane is `lane_size()` links that begin at a multiple of it).
struct LinkRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

struct LinkEnds {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

// Immutable. Local nodes: ports 0 … ports-1, then the switches. Local links: 0 … links-1.
class Dimension {
  public:
    Dimension() = default;
    Dimension(const Dimension&) = delete;
    Dimension& operator=(const Dimension&) = delete;
    virtual ~Dimension() = default;

    virtual std::uint32_t switches() const = 0;
    virtual std::uint64_t links() const = 0;
    virtual std::uint32_t lane_size() const = 0;
    virtual LinkEnds ends(std::uint32_t link) const = 0;
    // The next run of links on the way from a local node to a port, which is not that node.
    // Repeated from the end of each run it reaches the port. O(1).
    virtual LinkRun next_run(std::uint32_t node, std::uint32_t port) const = 0;
};

struct DimensionInfo {
    std::string_view name;
    std::string_view doc;
    // `ports` >= 1; reads the keys of its own from the dimension's map.
    std::unique_ptr<const Dimension> (*build)(std::uint32_t ports, const ConfigView& view);
};

std::span<const DimensionInfo* const> dimension_kinds();

}  // namespace astra
