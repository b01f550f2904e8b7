// Direct exchange: every member sends to every other, nearest first, at most `parameter` ahead of
// what it has received, whoever that came from (all at once without a parameter).
//   all_reduce      reduce_scatter, then all_gather    reduce_scatter, all_to_all  n-1 messages of
//   S/n all_gather      n-1 messages of S/n (S the whole output)
#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

// What member 0 sends to, and receives from, the member `offset` ahead.
struct Exchange {
    Payload (*sent)(std::uint32_t offset);
    Payload (*received)(std::uint32_t offset);
    bool reduce;
};

constexpr Exchange kScatter = {[](std::uint32_t offset) { return Payload{offset}; },
                               [](std::uint32_t) { return Payload{0}; },
                               true};
constexpr Exchange kGather = {[](std::uint32_t) { return Payload{0}; },
                              [](std::uint32_t offset) { return Payload{offset}; },
                              false};
constexpr Exchange kTranspose = {[](std::uint32_t offset) { return Payload{offset}; },
                                 [](std::uint32_t offset) {
                                     return Payload{0, 1, 1, {offset}};
                                 },
                                 false};

void exchange(const ProgramShape& shape, const Exchange& what, ProgramBuilder& builder) {
    const std::uint32_t n = shape.members;
    const std::uint32_t window =
        shape.parameter == 0 || shape.parameter >= n ? n - 1 : shape.parameter;
    const auto ahead = [&](std::uint32_t k) { return shape.reversed ? n - k : k; };
    builder.send_concurrently();
    for (std::uint32_t k = 1; k <= window; ++k) {
        builder.send(ahead(k), what.sent(ahead(k)));
    }
    builder.begin_any_order();
    for (std::uint32_t k = 1; k < n; ++k) {
        const std::uint32_t from = n - ahead(k);
        builder.receive(from, what.received(from), what.reduce);
        if (window + k < n) {
            builder.send(ahead(window + k), what.sent(ahead(window + k)));
        }
    }
    builder.end_any_order();
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    switch (shape.kind) {
        case CollectiveKind::AllReduce:
            exchange(shape, kScatter, builder);
            exchange(shape, kGather, builder);
            break;
        case CollectiveKind::ReduceScatter:
            exchange(shape, kScatter, builder);
            break;
        case CollectiveKind::AllGather:
            exchange(shape, kGather, builder);
            break;
        default:
            exchange(shape, kTranspose, builder);
            break;
    }
}

}  // namespace

extern const CollectiveAlgorithm kDirectAlgorithm;
const CollectiveAlgorithm kDirectAlgorithm = {
    .name = "direct",
    .summary = "every member to every other; a number behind the name limits how many at once",
    .kinds = {CollectiveKind::AllReduce,
              CollectiveKind::ReduceScatter,
              CollectiveKind::AllGather,
              CollectiveKind::AllToAll},
    .takes_parameter = true,
    .emit = emit,
};

}  // namespace astra
