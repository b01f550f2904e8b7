// Level by level: groups of consecutive members inside, then across them the members with the same
// index in their groups ("rails"), and so on; any algorithm at each level. With levels of m1, m2 …
// members and S bytes in the whole buffer:
//   reduce_scatter  level after level from the inside: of S, of S/m1, of S/(m1·m2) …
//   all_gather      the reverse
//   all_reduce      reduce_scatters, an all_reduce at the last level, all_gathers back
//   all_to_all      level after level from the inside, each an all_to_all of S: a member hands on
//                   all that is for members of an index, whoever it came from
// In all_reduce, reduce_scatter and all_gather no more is sent in all than without levels, less of
// it over the outer ones. Stored once for all members unless the algorithm of a level is not.
#include <numeric>

#include <fmt/format.h>

#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

struct Level {
    std::uint32_t members;
    std::uint32_t stride;
    const CollectiveAlgorithm* algorithm;
    ProgramShape shape;  // of its program, or its first of two
};

const CollectiveAlgorithm* usual(CollectiveKind kind) {
    return collective_algorithms().find(kind == CollectiveKind::AllToAll ? "pairwise" : "ring");
}

// Those of more than one member. Requires sizes that divide the members.
std::vector<Level> levels_of(const ProgramShape& shape) {
    std::vector<Level> levels;
    std::uint32_t stride = 1;
    for (const LevelShape& given : shape.levels) {
        const std::uint32_t left = shape.members / stride;
        const std::uint32_t members = given.members == 0 ? left : given.members;
        if (members == 1) {
            continue;
        }
        const CollectiveAlgorithm* algorithm = given.algorithm == LevelShape::kUsual
                                                   ? usual(shape.kind)
                                                   : &collective_algorithms()[given.algorithm];
        ProgramShape inner;
        inner.kind = shape.kind;
        inner.members = members;
        inner.parameter = given.parameter;
        inner.variant = shape.variant % algorithm->variants;
        inner.reversed = shape.reversed;
        const bool last = members == left;
        if (shape.kind == CollectiveKind::AllReduce && !last) {
            inner.kind = CollectiveKind::ReduceScatter;
        }
        levels.push_back({members, stride, algorithm, inner});
        stride *= members;
    }
    return levels;
}

// Blocks of a level that are not as many for each of its members call for more of the whole's.
std::uint64_t blocks_a_member(const std::vector<Level>& levels) {
    std::uint64_t blocks = 1;
    for (const Level& level : levels) {
        const std::uint32_t of_level = level.algorithm->blocks(level.shape);
        blocks = std::lcm(blocks, std::uint64_t{of_level / std::gcd(of_level, level.members)});
    }
    return blocks;
}

std::string refusal_of_sizes(const ProgramShape& shape) {
    if (shape.levels.empty()) {
        return "it needs the size of a group behind its name, as in hierarchical8";
    }
    std::uint64_t groups = 1;
    for (const LevelShape& level : shape.levels) {
        groups *= level.members == 0 ? 1 : level.members;
        if (groups > shape.members || shape.members % groups != 0) {
            return fmt::format("groups of {} do not divide them", groups);
        }
    }
    return "";
}

Relation relation(const std::vector<Level>& levels) {
    for (const Level& level : levels) {
        if (level.algorithm->relation(level.shape) == Relation::Absolute) {
            return Relation::Absolute;
        }
    }
    return Relation::Grid;
}

// The sends of a program that is not stored once, as every group of every level runs its program.
std::uint64_t stored_sends(const ProgramShape& shape, const std::vector<Level>& levels) {
    std::uint64_t sends = 0;
    for (const Level& level : levels) {
        const bool twice = level.shape.kind != shape.kind;
        const Program program = make_program(*level.algorithm, level.shape);
        const bool once = program.relation() != Relation::Absolute;
        sends +=
            program.stored_sends() * (twice ? 2 : 1) * shape.members / (once ? 1 : level.members);
    }
    return sends;
}

// What refuses the program of a level, or their sum.
std::string refusal_of_levels(const ProgramShape& shape) {
    const std::vector<Level> levels = levels_of(shape);
    for (std::size_t i = 0; i < levels.size(); ++i) {
        ProgramShape inner = levels[i].shape;
        std::string text = levels[i].algorithm->refusal(inner);
        if (text.empty() && inner.kind != shape.kind) {
            inner.kind = CollectiveKind::AllGather;
            text = levels[i].algorithm->refusal(inner);
        }
        if (!text.empty()) {
            return fmt::format("at level {}, {} of {} members by '{}': {}",
                               i + 1,
                               name_of(inner.kind),
                               inner.members,
                               levels[i].algorithm->name,
                               text);
        }
    }
    const std::string too_many_blocks = refuse_too_long(shape.members * blocks_a_member(levels));
    return too_many_blocks.empty() && relation(levels) == Relation::Absolute
               ? refuse_too_long(stored_sends(shape, levels))
               : too_many_blocks;
}

std::string limit(const ProgramShape& shape) {
    std::string text = refusal_of_sizes(shape);
    return text.empty() ? refusal_of_levels(shape) : text;
}

std::vector<ProgramLevel> program_levels(const ProgramShape& shape) {
    std::vector<ProgramLevel> levels;
    for (const Level& level : levels_of(shape)) {
        levels.push_back({level.members,
                          level.stride,
                          level.algorithm->blocks(level.shape),
                          level.algorithm->relation(level.shape)});
    }
    return levels;
}

class Emitter {
  public:
    Emitter(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder)
        : levels_(levels_of(shape)), member_(member), builder_(builder) {}

    void inwards(CollectiveKind kind, std::size_t from) {
        for (std::size_t i = from; i-- > 0;) {
            emit(i, kind);
        }
    }
    void outwards() {
        for (std::size_t i = 0; i < levels_.size(); ++i) {
            emit(i, levels_[i].shape.kind);
        }
    }
    std::size_t size() const { return levels_.size(); }

  private:
    void emit(std::size_t number, CollectiveKind kind) {
        const Level& level = levels_[number];
        ProgramShape shape = level.shape;
        shape.kind = kind;
        builder_.enter_level(static_cast<std::uint32_t>(number + 1));
        builder_.take_no_turns();
        const bool absolute = level.algorithm->relation(shape) == Relation::Absolute;
        level.algorithm->emit(
            shape, absolute ? member_ / level.stride % level.members : 0, builder_);
    }

    std::vector<Level> levels_;
    std::uint32_t member_;
    ProgramBuilder& builder_;
};

constexpr std::uint32_t kLargestNode = 64;

// Two levels, with every group that divides the members, up to a node's usual number of ranks.
std::vector<std::string> usual_groups(const ProgramShape& shape) {
    std::vector<std::string> names;
    for (std::uint32_t size = 2; size <= kLargestNode && 2 * size <= shape.members; ++size) {
        if (shape.members % size == 0) {
            names.push_back(fmt::format("hierarchical{}", size));
        }
    }
    return names;
}

void emit(const ProgramShape& shape, std::uint32_t member, ProgramBuilder& builder) {
    Emitter emitter(shape, member, builder);
    if (shape.kind == CollectiveKind::AllGather) {
        emitter.inwards(CollectiveKind::AllGather, emitter.size());
        return;
    }
    emitter.outwards();
    if (shape.kind == CollectiveKind::AllReduce) {
        emitter.inwards(CollectiveKind::AllGather, emitter.size() - 1);
    }
}

}  // namespace

extern const CollectiveAlgorithm kHierarchicalAlgorithm;
const CollectiveAlgorithm kHierarchicalAlgorithm = {
    .name = "hierarchical",
    .summary =
        "inside groups of as many as the number behind the name says, then across them; "
        "hierarchical8x4:ring-direct-bruck has three levels and an algorithm for each",
    .kinds = {CollectiveKind::AllReduce,
              CollectiveKind::ReduceScatter,
              CollectiveKind::AllGather,
              CollectiveKind::AllToAll},
    .takes_parameter = true,
    .variants = 2,
    .limit = limit,
    .relation = [](const ProgramShape& shape) { return relation(levels_of(shape)); },
    .blocks =
        [](const ProgramShape& shape) {
            return shape.members * static_cast<std::uint32_t>(blocks_a_member(levels_of(shape)));
        },
    .emit = emit,
    .levels = program_levels,
    .trials = usual_groups,
};

}  // namespace astra
