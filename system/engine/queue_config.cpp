#include "system/engine/queue_config.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "astra/config/registry_choice.h"
#include "system/engine/chunk_order.h"

namespace astra {

namespace {

constexpr std::uint64_t kMostActive = 1U << 16;
constexpr std::uint64_t kMostQueues = 1U << 10;

ChunkOrders read_chunk_order(const ConfigView& system) {
    const auto value = system.find("chunk_order");
    if (!value) {
        return {&choose(system, "chunk_order", kPriorityChunkOrder.name, chunk_orders())};
    }
    ChunkOrders orders;
    for (const ConfigView& item : value->items()) {
        const ChunkOrder* order = chunk_orders().find(item.as_choice(chunk_orders().names()));
        if (std::find(orders.begin(), orders.end(), order) != orders.end()) {
            item.fail(fmt::format("'{}' is in the list already", order->name));
        }
        orders.push_back(order);
    }
    if (orders.empty()) {
        value->fail("names no order");
    }
    return orders;
}

QueueConfig::Scheduling read_scheduling(const ConfigView& system) {
    const std::array<std::string, 3> schedulings = {"lifo", "fifo", "priority"};
    const std::string scheduling = system.choice_or("scheduling", "fifo", schedulings);
    return scheduling == "lifo"   ? QueueConfig::Scheduling::Lifo
           : scheduling == "fifo" ? QueueConfig::Scheduling::Fifo
                                  : QueueConfig::Scheduling::Priority;
}

}  // namespace

QueueConfig QueueConfig::from_config(const ConfigView& system) {
    QueueConfig config;
    config.active_chunks =
        static_cast<std::uint32_t>(system.integer_or("active_chunks", 1, 1, kMostActive));
    config.queues = static_cast<std::uint32_t>(system.integer_or("queues", 1, 1, kMostQueues));
    config.patience = system.duration_or("patience", {1'000'000});
    config.scheduling = read_scheduling(system);
    config.chunk_order = read_chunk_order(system);
    return config;
}

}  // namespace astra
