// One dimension of a topology: the links between its `ports` equals, perhaps over
// switches. A topology is a product of dimensions (see topology.h). To add a kind: one .cpp in this
// folder that defines `const DimensionInfo k<Name>Dimension`, and one line in builtins.def.
//
// A plain dimension knows its paths by a formula (PlainDimension); a fabric is a graph of switches
// whose paths are found as shortest paths (Fabric, fabric.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/registry.h"
#include "astra/core/types.h"

namespace astra {

// Consecutive links of one chain, taken one after the other: links first, first + 1, …, wrapping
// round within their chain (a chain is `chain_size()` links that begin at a multiple of it).
struct LinkRun {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

struct LinkEnds {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
};

struct LinkProperties {
    Bandwidth bandwidth;
    Duration latency;  // of the wire, and of the switch that the link leaves
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const LinkProperties&) const = default;
};

class PlainDimension;

// Immutable. Local nodes: ports 0 … ports-1, then the switches. Local links: 0 … links-1.
class Dimension {
  public:
    Dimension() = default;
    Dimension(const Dimension&) = delete;
    Dimension& operator=(const Dimension&) = delete;
    virtual ~Dimension() = default;

    virtual std::uint32_t ports() const = 0;
    virtual std::uint32_t switches() const = 0;
    virtual std::uint64_t links() const = 0;
    virtual LinkEnds ends(std::uint32_t link) const = 0;
    virtual LinkProperties properties(std::uint32_t link) const = 0;
    // What the link counts for in the length of a path; 1 or more.
    virtual std::uint32_t weight(std::uint32_t) const { return 1; }
    virtual bool uniform() const = 0;  // every link has the properties of link 0
    virtual std::string switch_name(std::uint32_t number) const = 0;
    // Whether ports pass on what is for others.
    virtual bool ports_forward() const = 0;
    // The sizes that collectives see as dimensions; their product is ports().
    virtual std::vector<std::uint32_t> shape() const { return {ports()}; }
    // nullptr: routed by shortest paths.
    virtual const PlainDimension* plain() const { return nullptr; }
};

// Every link alike, and the next links by a formula.
class PlainDimension : public Dimension {
  public:
    PlainDimension(std::uint32_t ports, LinkProperties link) : ports_(ports), link_(link) {}

    virtual std::uint32_t chain_size() const = 0;
    // The next run of links on the path from a local node to a port, which is not that node.
    // Repeated from the end of each run it reaches the port. O(1).
    virtual LinkRun next_run(std::uint32_t node, std::uint32_t port) const = 0;

    std::uint32_t ports() const final { return ports_; }
    std::uint32_t switches() const override { return 0; }
    LinkProperties properties(std::uint32_t) const override { return link_; }
    bool uniform() const override { return true; }
    std::string switch_name(std::uint32_t) const override { return "switch"; }
    bool ports_forward() const override { return true; }
    const PlainDimension* plain() const final { return this; }

  private:
    std::uint32_t ports_;
    LinkProperties link_;
};

// What a study says of a dimension of any kind, and its map for the keys of the kind.
struct DimensionKeys {
    std::uint32_t ports = 0;  // >= 1; 0: the kind knows it from its file
    LinkProperties link;      // bandwidth above 0, unless a file gives the links
    const ConfigView& view;
};

struct DimensionInfo {
    std::string_view name;
    std::string_view summary;
    // Throws ConfigError.
    std::unique_ptr<const Dimension> (*build)(const DimensionKeys& keys);
    bool from_file = false;  // ranks and links are read from a file, not from the study
    // Why there is none of so many ports; "" if there is. nullptr: it takes any number.
    std::string (*refusal)(std::uint32_t ports) = nullptr;

    bool takes(std::uint32_t ports) const { return refusal == nullptr || refusal(ports).empty(); }
};

const Registry<DimensionInfo>& dimension_kinds();

inline constexpr std::uint32_t kMostWeight = 1000;  // no path's length passes 32 bits
// The most ranks and links that a topology may have.
inline constexpr std::uint64_t kMostRanks = std::uint64_t{1} << 20;
inline constexpr std::uint64_t kMostLinks = std::uint64_t{1} << 24;

}  // namespace astra
