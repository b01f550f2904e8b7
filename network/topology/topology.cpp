#include "network/topology/topology.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/check.h"

namespace astra {

Topology::Topology(std::vector<PhysicalDimension> dimensions) {
    for (PhysicalDimension& physical : dimensions) {
        Part part;
        part.ports = physical.dimension->ports();
        part.stride = ranks_;
        std::uint32_t stride = ranks_;
        for (const std::uint32_t size : physical.dimension->shape()) {
            shape_.push_back({size, stride});
            stride *= size;
        }
        ranks_ *= part.ports;
        part.physical = std::move(physical);
        parts_.push_back(std::move(part));
    }
    number_parts();
    positions_.reserve(std::size_t{ranks_} * parts_.size());
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
        for (const Part& part : parts_) {
            positions_.push_back(rank / part.stride % part.ports);
        }
    }
}

void Topology::number_parts() {
    nodes_ = ranks_;
    for (Part& part : parts_) {
        const Dimension& dimension = *part.physical.dimension;
        part.rows = ranks_ / part.ports;
        part.row_links = static_cast<std::uint32_t>(dimension.links());
        part.row_switches = dimension.switches();
        part.chain_size = dimension.plain() == nullptr ? 1 : dimension.plain()->chain_size();
        part.first_link = links_;
        part.first_switch = nodes_;
        links_ += part.row_links * part.rows;
        nodes_ += part.row_switches * part.rows;
        find_classes(part);
    }
}

void Topology::find_classes(Part& part) {
    const Dimension& dimension = *part.physical.dimension;
    const std::uint32_t distinct = dimension.uniform() ? 1 : part.row_links;
    for (std::uint32_t link = 0; link < distinct; ++link) {
        part.classes.push_back(class_of(dimension.properties(link)));
    }
}

std::uint32_t Topology::class_of(const LinkProperties& properties) {
    const auto [known, is_new] =
        class_numbers_.try_emplace(properties, static_cast<std::uint32_t>(classes_.size()));
    if (is_new) {
        classes_.push_back(properties);
    }
    return known->second;
}

std::uint32_t Topology::dimension_of_link(std::uint32_t link) const {
    std::uint32_t k = physical_dimensions() - 1;
    while (k > 0 && parts_[k].first_link > link) {
        --k;
    }
    return k;
}

std::uint32_t Topology::link_class(std::uint32_t link) const {
    const Part& part = parts_[dimension_of_link(link)];
    const auto classes = static_cast<std::uint32_t>(part.classes.size());
    return part.classes[classes == 1 ? 0 : (link - part.first_link) % classes];
}

std::uint32_t Topology::link_weight(std::uint32_t link) const {
    const Part& part = parts_[dimension_of_link(link)];
    return part.physical.dimension->weight((link - part.first_link) % part.row_links);
}

Topology::LocalNode Topology::local_switch(std::uint32_t node) const {
    LocalNode found;
    found.dimension = physical_dimensions() - 1;
    while (found.dimension > 0 && parts_[found.dimension].first_switch > node) {
        --found.dimension;
    }
    const Part& part = parts_[found.dimension];
    ASTRA_CHECK(node >= part.first_switch && part.row_switches > 0, "the node is a switch");
    found.row = (node - part.first_switch) / part.row_switches;
    found.local = part.ports + (node - part.first_switch) % part.row_switches;
    return found;
}

std::uint32_t Topology::row_of(std::uint32_t rank, std::uint32_t k) const {
    const Part& part = parts_[k];
    return rank / (part.stride * part.ports) * part.stride + rank % part.stride;
}

std::uint32_t Topology::node_in_row(std::uint32_t k, std::uint32_t row, std::uint32_t local) const {
    const Part& part = parts_[k];
    if (local >= part.ports) {
        return part.first_switch + row * part.row_switches + (local - part.ports);
    }
    return row / part.stride * (part.stride * part.ports) + local * part.stride + row % part.stride;
}

bool Topology::forwards(std::uint32_t node) const {
    return node >= ranks_ || physical_dimensions() > 1 || physical_dimension(0).ports_forward();
}

LinkEnds Topology::link_ends(std::uint32_t link) const {
    const std::uint32_t k = dimension_of_link(link);
    const Part& part = parts_[k];
    const std::uint32_t row = (link - part.first_link) / part.row_links;
    const LinkEnds local = part.physical.dimension->ends((link - part.first_link) % part.row_links);
    return {node_in_row(k, row, local.from), node_in_row(k, row, local.to)};
}

std::string Topology::node_name(std::uint32_t node) const {
    if (node < ranks_) {
        return std::to_string(node);
    }
    const LocalNode found = local_switch(node);
    const Part& part = parts_[found.dimension];
    const std::string name = part.physical.dimension->switch_name(found.local - part.ports);
    if (part.physical.dimension->plain() != nullptr) {
        return fmt::format("{}{}.{}", name, found.dimension, found.row);
    }
    return physical_dimensions() == 1 ? name
                                      : fmt::format("{}.{}.{}", name, found.dimension, found.row);
}

bool Topology::is_from_file(std::uint32_t k) const {
    const DimensionInfo* kind = dimension_kinds().find(parts_[k].physical.kind);
    return kind != nullptr && kind->from_file;
}

std::string Topology::describe_dimension(std::uint32_t k) const {
    return fmt::format("{} of {}", parts_[k].physical.kind, parts_[k].ports);
}

std::string Topology::describe() const {
    std::string text;
    for (std::uint32_t k = 0; k < parts_.size(); ++k) {
        const Part& part = parts_[k];
        text += (text.empty() ? "" : " x ") + describe_dimension(k);
        if (part.row_links > 0 || uniform(k)) {
            const LinkProperties link = classes_[part.classes.front()];
            text += fmt::format(" ({}, {} a link)",
                                part.physical.bandwidth_text.empty() ? to_text(link.bandwidth)
                                                                     : part.physical.bandwidth_text,
                                to_text(link.latency));
        }
    }
    return text;
}

void Topology::change_link(LinkId id, const LinkOverride& change) {
    const std::uint32_t link = index(id);
    Part& part = parts_[dimension_of_link(link)];
    const std::size_t known = part.classes.size();
    for (std::size_t i = known; i < std::size_t{part.rows} * part.row_links; ++i) {
        part.classes.push_back(part.classes[i % known]);
    }
    LinkProperties properties = classes_[part.classes[link - part.first_link]];
    properties.bandwidth = change.bandwidth.value_or(properties.bandwidth);
    properties.latency = change.latency.value_or(properties.latency);
    part.classes[link - part.first_link] = class_of(properties);
    if (change.down) {
        const auto before = std::lower_bound(down_.begin(), down_.end(), id);
        if (before == down_.end() || *before != id) {
            down_.insert(before, id);
        }
    }
}

// The one row that holds both nodes; its `local` is that of `from`.
std::optional<Topology::LocalNode> Topology::row_with(std::uint32_t from, std::uint32_t to) const {
    if (from >= ranks_) {
        const LocalNode found = local_switch(from);
        const bool same = to >= ranks_ ? local_switch(to).dimension == found.dimension &&
                                             local_switch(to).row == found.row
                                       : row_of(to, found.dimension) == found.row;
        return same ? std::optional(found) : std::nullopt;
    }
    if (to >= ranks_) {
        const auto found = row_with(to, from);
        return found ? std::optional(LocalNode{
                           found->dimension, found->row, position(from, found->dimension)})
                     : std::nullopt;
    }
    for (std::uint32_t k = 0; k < physical_dimensions(); ++k) {
        if (position(from, k) != position(to, k) && row_of(from, k) == row_of(to, k)) {
            return LocalNode{k, row_of(from, k), position(from, k)};
        }
    }
    return std::nullopt;
}

std::vector<LinkId> Topology::links_between(std::uint32_t from, std::uint32_t to) const {
    std::vector<LinkId> found;
    const auto at = row_with(from, to);
    if (!at) {
        return found;
    }
    const Dimension& dimension = physical_dimension(at->dimension);
    const std::uint32_t first = first_link(at->dimension, at->row);
    for (std::uint32_t link = 0; link < dimension.links(); ++link) {
        const LinkEnds ends = link_ends(first + link);
        if (ends.from == from && ends.to == to) {
            found.push_back(LinkId{first + link});
        }
    }
    return found;
}

}  // namespace astra
