// What programs are made of and asked for: how members and blocks are named, what a message
// carries, what a shape says.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/types.h"

namespace astra {

enum class Relation : std::uint8_t {
    Rotation,  // peer = (member + p) mod members, block = (k·member + b) mod blocks, with k blocks
               // a member, or 1 where the members do not divide the blocks
    Xor,       // peer = member ^ p, block = member ^ b, or b if there is only one block
    Grid,      // a coordinate a level, the first varies fastest; peers are such points too, and
               // each coordinate is added or XORed as its level says. All payloads have a level
    Absolute,  // peer = p, block = b mod blocks; each member's steps are stored
};

// Extension of an all_to_all's payload. A block is there what a member, its origin, has for the
// member of the block's number; origins are relative as peers are. With a `count` above 1 each
// block stands for what that many have: first, first + stride, … (modulo the members).
struct Origins {
    std::uint32_t first = 0;
    std::uint32_t count = 1;
    std::uint32_t stride = 1;
    bool operator==(const Origins&) const = default;
};

// The blocks first, first + stride, … (count of them), relative as the program says. Where a
// program counts modulo the blocks they go on from block 0 after the last. With several origins a
// block `count` counts pairs of block and origin, the origins of a block together; the last block
// need not have all of its origins.
struct Payload {
    std::uint32_t first = 0;
    std::uint32_t stride = 1;
    std::uint32_t count = 1;
    Origins origins = {};
    std::uint32_t level = 0;
    bool operator==(const Payload&) const = default;

    // The block of the i-th element.
    std::uint32_t block(std::uint32_t i) const {
        return first + (origins.count == 1 ? i : i / origins.count) * stride;
    }
    // The origin of the i-th element, before it is taken modulo the members.
    std::uint64_t origin_of(std::uint32_t i) const {
        return origins.count == 1
                   ? origins.first
                   : origins.first + std::uint64_t{i % origins.count} * origins.stride;
    }
};

// A program within a program: the members that differ in one coordinate alone are a group, and
// every group runs it. The whole has as many blocks for each member; block b of the group stands
// for those of a `members / blocks`-th of the group's members, in all groups that differ in the
// coordinates above; below, coordinates are those of the group. In an all_to_all a pair of origin
// and block stands for the pairs of all members that differ from the origin in the coordinates
// below.
struct ProgramLevel {
    std::uint32_t members = 1;  // of a group: the length of the coordinate
    std::uint32_t stride = 1;   // between two of them: the product of the lengths below
    std::uint32_t blocks = 1;   // of the group's program
    Relation relation = Relation::Absolute;
};

// Broadcast, reduce, gather and scatter.
bool has_root(CollectiveKind kind);

// A level of an algorithm that is made of others, as its name gives it.
struct LevelShape {
    static constexpr std::uint32_t kUsual = 0xffffffffU;
    std::uint32_t members = 0;         // of a group; 0 = all that is left
    std::uint32_t algorithm = kUsual;  // index into collective_algorithms(), or what suits the kind
    std::uint32_t parameter = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const LevelShape&) const = default;
};

// What a program is wanted for.
struct ProgramShape {
    CollectiveKind kind{};
    std::uint32_t members = 2;
    std::uint32_t parameter = 0;  // the number behind the name: direct4; 0 = none
    std::uint32_t variant = 0;    // chunks alternate between an algorithm's variants
    std::uint32_t root = 0;       // member
    bool reversed = false;        // in the other direction, where the algorithm has one
    std::vector<LevelShape> levels = {};
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    auto operator<=>(const ProgramShape&) const = default;
};

}  // namespace astra
