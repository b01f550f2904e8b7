// Two levels: groups of G consecutive members, as many as the number behind the name says, and
// across them the members with the same place in their groups ("rails"). O = n/G groups.
//   all_reduce      reduce_scatter inside: G-1 steps of S/G; all_reduce across: 2(O-1) steps of
//   S/n;
//                   all_gather inside: G-1 steps of S/G. Rings at both levels.
//   reduce_scatter  the first half of it      all_gather  the second half
//   all_to_all      inside, every member hands each other one all that is for members of its place:
//                   G-1 exchanges of S/G; then across, O-1 exchanges of S/O
// Stored once for all members: a group and a place are the coordinates of a grid.
#include <array>

#include <fmt/format.h>

#include "system/collective/algorithm.h"
#include "system/collective/ring_lanes.h"

namespace astra {

namespace {

class Levels {
  public:
    Levels(const ProgramShape& shape, ProgramBuilder& builder)
        : inner_(shape.parameter), outer_(shape.members / shape.parameter), builder_(builder) {}

    void reduce_scatter() {
        emit_ring_reduce_scatter(inside(), builder_);
        emit_ring_reduce_scatter(across(), builder_);
    }
    void all_gather() {
        emit_ring_all_gather(across(), builder_);
        emit_ring_all_gather(inside(), builder_);
    }
    void all_to_all() {
        for (std::uint32_t k = 1; k < inner_; ++k) {
            const std::uint32_t from = inner_ - k;
            builder_.send(k, {k, inner_, outer_, 0});
            builder_.receive(from, {0, inner_, outer_, from}, false);
        }
        for (std::uint32_t k = 1; k < outer_; ++k) {
            const std::uint32_t to = k * inner_;
            const std::uint32_t from = (outer_ - k) * inner_;
            builder_.send(to, {to, 1, inner_, 0, inner_, 1});
            builder_.receive(from, {0, 1, inner_, from, inner_, 1}, false);
        }
    }

  private:
    // Place x of a group owns the blocks of all members with that place.
    std::array<RingLane, 1> inside() const {
        return {RingLane{inner_, 1, inner_, 1, 0, inner_, outer_}};
    }
    std::array<RingLane, 1> across() const {
        return {RingLane{outer_, inner_, inner_ * outer_, 1, 0, 1, 1}};
    }

    std::uint32_t inner_;
    std::uint32_t outer_;
    ProgramBuilder& builder_;
};

std::string refusal(const ProgramShape& shape) {
    std::string other_kind = refuse_unless(shape,
                                           {CollectiveKind::AllReduce,
                                            CollectiveKind::ReduceScatter,
                                            CollectiveKind::AllGather,
                                            CollectiveKind::AllToAll});
    if (!other_kind.empty()) {
        return other_kind;
    }
    if (shape.parameter == 0) {
        return "it needs the size of a group behind its name, as in hierarchical8";
    }
    if (shape.members % shape.parameter != 0) {
        return fmt::format("groups of {} do not divide them", shape.parameter);
    }
    return "";
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    Levels levels(shape, builder);
    if (shape.kind == CollectiveKind::AllToAll) {
        levels.all_to_all();
        return;
    }
    if (shape.kind != CollectiveKind::AllGather) {
        levels.reduce_scatter();
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        levels.all_gather();
    }
}

}  // namespace

extern const CollectiveAlgorithm kHierarchicalAlgorithm;
const CollectiveAlgorithm kHierarchicalAlgorithm = {
    "hierarchical",
    "inside groups of as many as the number behind the name says, then across them",
    true,
    1,
    refusal,
    [](const ProgramShape&) { return Relation::Grid; },
    [](const ProgramShape& shape) { return shape.members; },
    emit};

}  // namespace astra
