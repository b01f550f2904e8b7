#include "system/program/send_order.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "system/program/program_builder.h"

namespace astra {

namespace {

// What the messages of a queue have in common.
constexpr std::uint32_t kOfChannel = 0;
constexpr std::uint32_t kOfThreadBlock = 1;
constexpr std::uint32_t kOfConnection = 2;

}  // namespace

void SendOrder::number() {
    const std::uint32_t roles = program_.relation() == Relation::Absolute ? program_.members() : 1;
    for (std::uint32_t role = 0; role < roles; ++role) {
        number_role(role);
    }
}

void SendOrder::number_role(std::uint32_t role) {
    struct Connection {
        std::uint32_t number = 0;
        std::uint32_t messages = 0;
        std::uint32_t last = 0;  // send
    };
    std::map<std::pair<std::uint32_t, std::uint32_t>, Connection> connections;  // peer, channel
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> queues;
    std::vector<std::uint32_t> connection_of_queue;
    Program::Order& order = program_.order_;
    for (std::uint32_t sequence = 0; sequence < program_.sequences_of(role); ++sequence) {
        for (const Program::Step& step : program_.steps(role, sequence)) {
            for (std::uint32_t op = step.first_send; op < step.first_send + step.sends; ++op) {
                Program::Send& send = program_.sends_[op];
                send.sender = role;
                const auto next = static_cast<std::uint32_t>(connections.size());
                Connection& connection =
                    connections.try_emplace({send.peer, send.channel}, Connection{next})
                        .first->second;
                connection.last = op;
                order.most_messages = std::max(order.most_messages, ++connection.messages);
                send.connection = connection.number;
                std::pair<std::uint32_t, std::uint32_t> key{
                    kOfChannel, ProgramBuilder::without_level(send.channel)};
                if (program_.thread_blocks() != nullptr) {
                    key = {kOfThreadBlock, sequence};
                } else if (send.channel == Program::kConcurrent) {
                    key = {kOfConnection, connection.number};
                }
                send.queue = queues.try_emplace(key, static_cast<std::uint32_t>(queues.size()))
                                 .first->second;
                if (send.queue == connection_of_queue.size()) {
                    connection_of_queue.push_back(send.connection);
                }
                order.fans_out =
                    order.fans_out || connection_of_queue[send.queue] != send.connection;
            }
        }
    }
    for (const auto& [key, connection] : connections) {
        program_.sends_[connection.last].is_last = true;
    }
    order.queues = std::max(order.queues, static_cast<std::uint32_t>(queues.size()));
    order.connections = std::max(order.connections, static_cast<std::uint32_t>(connections.size()));
}

}  // namespace astra
