// The flow backend: messages as flows that share links at max-min fair rates.
#pragma once

#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

#include "network/backend/backend.h"
#include "network/backend/flow/carried_bytes.h"
#include "network/backend/flow/flow_route.h"
#include "network/backend/flow/link_blocks.h"
#include "network/backend/flow/max_min.h"

namespace astra {

// A message is served at its max-min fair rate until its last byte has left, and has arrived when
// the latency of its path is over. A connection has one message served at a time.
//
// Messages of equal route are one class, one flow of the solver: with n members it weighs n times
// as much, and what it is served is what each member is served. All changes of an instant are
// solved once, behind everything that was scheduled for that instant before.
class FlowBackend final : public NetworkBackend {
  public:
    // Reads network.flow. Throws ConfigError.
    FlowBackend(EventQueue& queue, Routing& routing, const ConfigView& network);

    SimTime send(const Message& message,
                 SimTime at,
                 Callback delivered,
                 Callback sent = {}) override;

    void set_link(LinkId link, bool up) override;

    void sample(std::vector<LinkSample>& samples) override;
    std::vector<LinkRecord> link_records() const override;

  private:
    using Work = MaxMin::Work;
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    struct Flow {
        Callback delivered;
        Callback sent;
        Bytes size;
        std::uint32_t source = 0;
        std::uint32_t destination = 0;
        ChannelKey channel{};
        std::uint32_t route_class = kNone;
        std::uint32_t next = kNone;  // that waits for a connection of the class, or is free
    };
    // Of a pair of ranks; under Adaptive of one of its connections.
    struct ClassKey {
        std::uint64_t pair = 0;
        ChannelKey channel{};
        bool operator==(const ClassKey&) const = default;
    };
    struct ClassKeyHash {
        std::size_t operator()(const ClassKey& key) const {
            return static_cast<std::size_t>(
                (key.pair ^ (static_cast<std::uint64_t>(key.channel) << 20U)) *
                0x9e3779b97f4a7c15ULL);
        }
    };
    struct Member {
        Work target = 0;  // the class's `served` at which it is done
        std::uint64_t sequence = 0;
        std::uint32_t flow = 0;
        bool operator>(const Member& other) const {
            return target != other.target ? target > other.target : sequence > other.sequence;
        }
    };
    struct RouteClass {
        std::uint32_t source = 0;
        std::uint32_t destination = 0;
        ChannelKey channel{};     // under Adaptive
        std::uint32_t users = 0;  // under Adaptive: flows that have not been delivered
        Duration latency;
        std::uint64_t fabric = ~std::uint64_t{0};      // of which `latency` is
        std::uint64_t generation = ~std::uint64_t{0};  // of the blocks, of which `uses` are
        std::vector<LinkBlocks::Use> uses;
        std::vector<LinkShare> shares;        // kept under Adaptive only
        std::vector<Member> members;          // a heap, the first to be done in front
        std::uint32_t first_waiting = kNone;  // flows whose connections are busy, as they came
        std::uint32_t last_waiting = kNone;
        std::uint64_t arrival_ps = 0;  // the last that is under way
        Work served = 0;               // to each member, up to when it last entered the solver
        Work asked = 0;                // of the solver then
        Work carried = 0;              // to all members, as of `served`
        MaxMin::FlowId in_solver{};
        bool is_in_solver = false;
        MaxMin::ConstraintId cap{};
        bool has_cap = false;
    };

    std::uint32_t new_flow();
    std::uint32_t class_of(const Flow& flow);
    std::uint32_t new_class(std::uint32_t source, std::uint32_t destination);
    void find_route(RouteClass& route_class);
    void enter_route(std::uint32_t id);
    void rebuild();
    void inject(std::uint64_t id);
    bool is_busy(const RouteClass& route_class, ChannelKey channel) const;
    void wait(std::uint32_t id);
    void start(std::uint32_t id);
    void start_next(std::uint32_t done);
    void leave_empty(std::uint64_t id);
    void leave(std::uint32_t id);
    void deliver(std::uint64_t id);
    void release_class(std::uint32_t id);
    void enter_solver(std::uint32_t id);
    void leave_solver(std::uint32_t id);
    void complete(std::uint32_t id);
    void ask_to_solve();
    void solve(std::uint64_t);
    void wake(std::uint64_t);
    void arm();
    void carry(RouteClass& route_class);
    CarriedBytes bytes_so_far() const;
    void count_load(const RouteClass& route_class, bool more);

    EventQueue& queue_;
    Routing& routing_;
    const Topology& topology_;
    RouteFinder finder_;
    LinkBlocks blocks_;
    MaxMin solver_;
    Bandwidth cap_;  // of one flow; zero: none
    bool adaptive_;
    FlowRoute route_;                                  // the last one found
    std::vector<MaxMin::ConstraintId> constraint_of_;  // a block
    std::vector<MaxMin::Use> solver_uses_;
    std::vector<RouteClass> classes_;
    std::vector<std::uint32_t> free_classes_;  // under Adaptive
    std::unordered_map<ClassKey, std::uint32_t, ClassKeyHash> class_of_;
    std::vector<Flow> flows_;
    std::uint32_t free_flow_ = kNone;
    std::vector<std::uint32_t> load_;  // under Adaptive: flows on a link
    CarriedBytes carried_;             // only of routes that have changed
    std::vector<MaxMin::Completion> completed_;
    std::vector<std::uint32_t> done_;  // flows
    std::uint64_t fabric_ = 0;         // grows when a link fails or comes back
    std::uint64_t sequence_ = 0;
    std::uint64_t wake_ps_ = kMaxPs;  // the earliest wake that is scheduled
    bool will_solve_ = false;
};

}  // namespace astra
