// Programs written by hand, and what the verifier should say of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "system/program/program_builder.h"
#include "system/program/verifier/verifier.h"

namespace astra {

struct Op {
    enum class What : std::uint8_t {
        Send,
        Receive,
        Reduce,
        ReducePartly,
        BeginAnyOrder,
        EndAnyOrder,
        TakeTurns
    };
    What what{};
    std::uint32_t peer = 0;
    Payload payload;
    std::uint32_t urgent = 0;
};
using Role = std::vector<Op>;

inline Op send(std::uint32_t peer, const Payload& payload = {}) {
    return {Op::What::Send, peer, payload, 0};
}
inline Op receive(std::uint32_t peer, const Payload& payload = {}) {
    return {Op::What::Receive, peer, payload, 0};
}
inline Op reduce(std::uint32_t peer, const Payload& payload = {}) {
    return {Op::What::Reduce, peer, payload, 0};
}

inline Op reduce_partly(std::uint32_t peer, const Payload& payload, std::uint32_t urgent) {
    return {Op::What::ReducePartly, peer, payload, urgent};
}
inline Op begin_any_order() {
    return {Op::What::BeginAnyOrder, 0, {}, 0};
}
inline Op end_any_order() {
    return {Op::What::EndAnyOrder, 0, {}, 0};
}
inline Op take_turns() {
    return {Op::What::TakeTurns, 0, {}, 0};
}

inline void put(const Op& op, ProgramBuilder& builder) {
    switch (op.what) {
        case Op::What::TakeTurns:
            builder.take_turns(0);
            break;
        case Op::What::Send:
            builder.send(op.peer, op.payload);
            break;
        case Op::What::Receive:
            builder.receive(op.peer, op.payload, false);
            break;
        case Op::What::Reduce:
            builder.receive(op.peer, op.payload, true);
            break;
        case Op::What::ReducePartly:
            builder.receive_partly(op.peer, op.payload, op.urgent);
            break;
        case Op::What::BeginAnyOrder:
            builder.begin_any_order();
            break;
        case Op::What::EndAnyOrder:
            builder.end_any_order();
            break;
    }
}

inline Program build(Relation relation,
                     std::uint32_t members,
                     std::uint32_t blocks,
                     const std::vector<Role>& roles) {
    ProgramBuilder builder(relation, members, blocks);
    for (const Role& role : roles) {
        builder.begin_role();
        for (const Op& op : role) {
            put(op, builder);
        }
    }
    return builder.finish();
}

inline Program absolute(std::uint32_t blocks, const std::vector<Role>& roles) {
    return build(Relation::Absolute, static_cast<std::uint32_t>(roles.size()), blocks, roles);
}

inline void expect_correct(const Program& program, CollectiveKind kind, std::uint32_t root = 0) {
    const Verdict verdict = verify(program, kind, root);
    EXPECT_TRUE(verdict.correct) << verdict.fault;
    EXPECT_EQ(verdict.fault, "");
}

inline void expect_fault(const Program& program,
                         CollectiveKind kind,
                         const std::string& fault,
                         std::uint32_t root = 0) {
    const Verdict verdict = verify(program, kind, root);
    EXPECT_FALSE(verdict.correct);
    EXPECT_EQ(verdict.fault, fault);
}

}  // namespace astra
