// Every registered algorithm with one message broken, one after the other: nothing passes, and the
// fault says where.
#include <cstdint>
#include <regex>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "system/algorithms/algorithm.h"
#include "tests/system/program/hand_written.h"

namespace astra {
namespace {

constexpr std::uint32_t kMembers = 8;

// Where a message of one block is sent and received, as indices of members and of their ops.
struct Message {
    std::uint32_t sender = 0;
    std::size_t send = 0;
    std::uint32_t receiver = 0;
    std::size_t receive = 0;
};

// A program written out: absolute, one block a message.
struct Written {
    std::uint32_t blocks = 1;
    std::vector<Role> roles;
    std::vector<Message> messages;
};

Payload block_of(const Program& program,
                 std::uint32_t member,
                 const Payload& payload,
                 std::uint32_t i) {
    return {program.block_of(member, payload, i), 1, 1, {program.origin_of(member, payload, i)}};
}

// The blocks of a payload; a message without any has one all the same.
std::vector<Payload> blocks_of(const Program& program,
                               std::uint32_t member,
                               const Payload& payload) {
    if (payload.count == 0) {
        return {payload};
    }
    std::vector<Payload> blocks;
    for (std::uint32_t i = 0; i < program.elements(payload); ++i) {
        blocks.push_back(block_of(program, member, payload, i));
    }
    return blocks;
}

Written write_out(const Program& program) {
    Written written;
    written.blocks = program.blocks();
    written.roles.resize(program.members());
    // Where the first block of a send is: by member and op of the program.
    std::vector<std::vector<std::size_t>> sent(program.members());
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        Role& role = written.roles[member];
        sent[member].resize(program.stored_sends());
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                const Program::Receive& op = program.receive(step.first_receive + i);
                for (const Payload& block : blocks_of(program, member, op.payload)) {
                    const std::uint32_t peer = program.peer_of(member, op.peer);
                    role.push_back(op.reduce ? reduce(peer, block) : receive(peer, block));
                }
            }
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& op = program.send(step.first_send + i);
                sent[member][step.first_send + i] = role.size();
                for (const Payload& block : blocks_of(program, member, op.payload)) {
                    role.push_back(send(program.peer_of(member, op.peer), block));
                }
            }
        }
    }
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        std::size_t at = 0;
        for (const Program::Step& step : program.steps(member)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                const Program::Receive& op = program.receive(step.first_receive + i);
                const std::uint32_t sender = program.peer_of(member, op.peer);
                const std::size_t blocks = blocks_of(program, member, op.payload).size();
                for (std::size_t block = 0; block < blocks; ++block) {
                    written.messages.push_back(
                        {sender, sent[sender][op.send] + block, member, at++});
                }
            }
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& op = program.send(step.first_send + i);
                at += blocks_of(program, member, op.payload).size();
            }
        }
    }
    return written;
}

void erase(Role& role, std::size_t op) {
    role.erase(role.begin() + static_cast<std::ptrdiff_t>(op));
}

// What is said of a program, "" if it is right.
std::string fault_of(const Written& written, CollectiveKind kind, std::uint32_t root) {
    try {
        return verify(absolute(written.blocks, written.roles), kind, root).fault;
    } catch (const InputError& error) {
        return error.what();
    }
}

bool reduces(CollectiveKind kind) {
    return kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter ||
           kind == CollectiveKind::Reduce;
}

class BrokenProgramsTest : public testing::TestWithParam<const CollectiveAlgorithm*> {
  protected:
    // What `check` does with every kind that the algorithm does.
    template <class Check>
    void for_each_kind(Check check) {
        for (std::uint32_t k = 0; k < kCollectiveKinds; ++k) {
            const auto kind = static_cast<CollectiveKind>(k);
            const std::uint32_t root = has_root(kind) ? 3 : 0;
            ProgramShape shape{kind, kMembers, 0, 0, root};
            shape.parameter = GetParam()->takes_parameter ? 2 : 0;
            shape.levels = {LevelShape{2}, LevelShape{}};
            if (!GetParam()->refusal(shape).empty()) {
                continue;
            }
            const Written written = write_out(make_program(*GetParam(), shape));
            ASSERT_EQ(fault_of(written, kind, root), "") << name_of(kind);
            ASSERT_FALSE(written.messages.empty());
            check(written, kind, root);
        }
    }
};

TEST_P(BrokenProgramsTest, ASendWithoutReceiveIsNamed) {
    for_each_kind([](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            Written broken = written;
            erase(broken.roles[message.receiver], message.receive);
            const std::string fault = fault_of(broken, kind, root);
            const std::string wanted = fmt::format(
                "program: member {}, step [0-9]+: a send without its receive at member {}",
                message.sender,
                message.receiver);
            ASSERT_TRUE(std::regex_match(fault, std::regex(wanted)))
                << name_of(kind) << ": " << fault;
        }
    });
}

TEST_P(BrokenProgramsTest, AReceiveWithoutSendIsNamed) {
    for_each_kind([](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            Written broken = written;
            erase(broken.roles[message.sender], message.send);
            const std::string fault = fault_of(broken, kind, root);
            const std::string wanted = fmt::format(
                "program: member {}, step [0-9]+: a receive without its send at member {}",
                message.receiver,
                message.sender);
            ASSERT_TRUE(std::regex_match(fault, std::regex(wanted)))
                << name_of(kind) << ": " << fault;
        }
    });
}

// A message that is gone at both ends: somebody lacks something, or sends what it has not.
TEST_P(BrokenProgramsTest, ADroppedMessageIsMissedByMemberAndBlock) {
    const std::regex wanted(
        "member [0-9]+, step [0-9]+: sends block [0-9]+( of member [0-9]+)?, which it does not "
        "hold|"
        "at the end: member [0-9]+, block [0-9]+: lacks the contribution of member [0-9]+|"
        "at the end: member [0-9]+ lacks block [0-9]+( of member [0-9]+)?|"
        "at the end: member [0-9]+ does not know that member [0-9]+ entered");
    for_each_kind([&](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            Written broken = written;
            erase(broken.roles[message.receiver], message.receive);
            erase(broken.roles[message.sender], message.send);
            const std::string fault = fault_of(broken, kind, root);
            ASSERT_TRUE(std::regex_match(fault, wanted)) << name_of(kind) << ": " << fault;
        }
    });
}

TEST_P(BrokenProgramsTest, ASwappedBlockIsNamedWhereItIsReceived) {
    for_each_kind([](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            Written broken = written;
            Payload& payload = broken.roles[message.receiver][message.receive].payload;
            const std::uint32_t sent = payload.first;
            payload.first = (sent + 1) % written.blocks;
            if (payload.first == sent) {
                continue;
            }
            const std::string fault = fault_of(broken, kind, root);
            const std::string wanted = fmt::format(
                "member {}, step [0-9]+: receives block {}( of member [0-9]+)?, but member {} "
                "sends "
                "block {}( of member [0-9]+)?",
                message.receiver,
                payload.first,
                message.sender,
                sent);
            ASSERT_TRUE(std::regex_match(fault, std::regex(wanted)))
                << name_of(kind) << ": " << fault;
        }
    });
}

// The receiver keeps what comes instead of the sum: its contribution is lost.
TEST_P(BrokenProgramsTest, AForgottenReductionIsMissed) {
    const std::regex wanted(
        "at the end: member [0-9]+, block [0-9]+: lacks the contribution of member [0-9]+");
    for_each_kind([&](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            const Op& op = written.roles[message.receiver][message.receive];
            if (op.what != Op::What::Reduce) {
                continue;
            }
            Written broken = written;
            broken.roles[message.receiver][message.receive].what = Op::What::Receive;
            const std::string fault = fault_of(broken, kind, root);
            ASSERT_TRUE(std::regex_match(fault, wanted)) << name_of(kind) << ": " << fault;
        }
    });
}

// A message that is sent and reduced once more, right after the first time.
TEST_P(BrokenProgramsTest, ADoubleReductionIsNamedByMemberStepAndBlock) {
    for_each_kind([](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (const Message& message : written.messages) {
            const Op op = written.roles[message.receiver][message.receive];
            if (!reduces(kind) || op.what != Op::What::Reduce) {
                continue;
            }
            Written broken = written;
            Role& sender = broken.roles[message.sender];
            Role& receiver = broken.roles[message.receiver];
            const Op sent = sender[message.send];
            sender.insert(sender.begin() + static_cast<std::ptrdiff_t>(message.send), sent);
            receiver.insert(receiver.begin() + static_cast<std::ptrdiff_t>(message.receive), op);
            const std::string fault = fault_of(broken, kind, root);
            const std::string wanted = fmt::format(
                "member {}, step [0-9]+: the contribution of member [0-9]+ to block {} is reduced "
                "twice",
                message.receiver,
                op.payload.first);
            ASSERT_TRUE(std::regex_match(fault, std::regex(wanted)))
                << name_of(kind) << ": " << fault;
        }
    });
}

// Root 3 was meant.
TEST_P(BrokenProgramsTest, AnotherRootIsRefused) {
    for_each_kind([](const Written& written, CollectiveKind kind, std::uint32_t root) {
        for (std::uint32_t other = 0; has_root(kind) && other < kMembers; ++other) {
            const std::string fault = fault_of(written, kind, other);
            EXPECT_EQ(fault.empty(), other == root) << name_of(kind) << ": " << fault;
            if (other != root) {
                EXPECT_TRUE(std::regex_search(fault, std::regex("member [0-9]+.* block [0-9]+")))
                    << name_of(kind) << ": " << fault;
            }
        }
    });
}

INSTANTIATE_TEST_SUITE_P(All,
                         BrokenProgramsTest,
                         testing::ValuesIn(collective_algorithms().begin(),
                                           collective_algorithms().end()),
                         [](const auto& test) { return std::string(test.param->name); });

}  // namespace
}  // namespace astra
