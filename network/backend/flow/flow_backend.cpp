#include "network/backend/flow/flow_backend.h"

#include <algorithm>
#include <functional>

namespace astra {

namespace {

// network.flow.rate_cap, the most of one message; zero: none.
Bandwidth read_rate_cap(const ConfigView& network) {
    const Bandwidth cap = network.section("flow").bandwidth_or("rate_cap", {});
    return {std::min(cap.bits_per_s, MaxMin::kMaxRate)};
}

}  // namespace

FlowBackend::FlowBackend(EventQueue& queue, Routing& routing, const ConfigView& network)
    : queue_(queue),
      routing_(routing),
      topology_(routing.topology()),
      finder_(routing),
      blocks_(topology_),
      cap_(read_rate_cap(network)),
      adaptive_(routing.policy() == RoutePolicy::Adaptive),
      carried_(topology_) {
    if (adaptive_) {
        load_.resize(topology_.links());
    }
}

SimTime FlowBackend::send(const Message& message, SimTime at, Callback delivered, Callback sent) {
    const std::uint32_t id = new_flow();
    Flow& flow = flows_[id];
    flow.delivered = delivered;
    flow.sent = sent;
    flow.size = message.size;
    flow.source = index(message.source);
    flow.destination = index(message.destination);
    flow.channel = message.channel;
    flow.next = kNone;
    if (at == queue_.now()) {
        inject(id);
    } else {
        queue_.schedule_at(at, Callback::to<&FlowBackend::inject>(*this, id));
    }
    return {kMaxPs};
}

std::uint32_t FlowBackend::new_flow() {
    if (free_flow_ == kNone) {
        flows_.emplace_back();
        return static_cast<std::uint32_t>(flows_.size() - 1);
    }
    const std::uint32_t id = free_flow_;
    free_flow_ = flows_[id].next;
    return id;
}

std::uint32_t FlowBackend::new_class(std::uint32_t source, std::uint32_t destination) {
    std::uint32_t id = static_cast<std::uint32_t>(classes_.size());
    if (free_classes_.empty()) {
        classes_.emplace_back();
    } else {
        id = free_classes_.back();
        free_classes_.pop_back();
    }
    classes_[id].source = source;
    classes_[id].destination = destination;
    return id;
}

std::uint32_t FlowBackend::class_of(const Flow& flow) {
    const std::uint64_t pair = (std::uint64_t{flow.source} << 32) | flow.destination;
    if (!adaptive_) {
        const auto [entry, is_new] = class_of_.try_emplace({pair, {}}, 0U);
        if (is_new) {
            entry->second = new_class(flow.source, flow.destination);
        }
        return entry->second;
    }
    std::uint32_t id = kNone;
    if (flow.channel == kOneMessage) {
        id = new_class(flow.source, flow.destination);
    } else {
        const auto [entry, is_new] = class_of_.try_emplace({pair, flow.channel}, 0U);
        if (is_new) {
            entry->second = new_class(flow.source, flow.destination);
        }
        id = entry->second;
    }
    classes_[id].channel = flow.channel;
    ++classes_[id].users;
    return id;
}

// Under Adaptive: nobody needs the class any more if that was the last of its flows.
void FlowBackend::release_class(std::uint32_t id) {
    RouteClass& route_class = classes_[id];
    if (--route_class.users > 0) {
        return;
    }
    if (route_class.channel != kOneMessage) {
        class_of_.erase({(std::uint64_t{route_class.source} << 32) | route_class.destination,
                         route_class.channel});
    }
    route_class = {};
    free_classes_.push_back(id);
}

void FlowBackend::find_route(RouteClass& route_class) {
    finder_.find(route_class.source, route_class.destination, load_, route_);
    route_class.latency = route_.latency;
    route_class.fabric = fabric_;
    if (adaptive_) {
        route_class.shares = route_.shares;
    }
}

void FlowBackend::inject(std::uint64_t flow_id) {
    const auto id = static_cast<std::uint32_t>(flow_id);
    Flow& flow = flows_[id];
    flow.route_class = class_of(flow);
    if (is_busy(classes_[flow.route_class], flow.channel)) {
        wait(id);
    } else {
        start(id);
    }
}

// A pair of ranks has few connections at work at a time, so that looking at each is cheap.
bool FlowBackend::is_busy(const RouteClass& route_class, ChannelKey channel) const {
    return channel != kOneMessage &&
           std::any_of(
               route_class.members.begin(), route_class.members.end(), [&](const Member& member) {
                   return flows_[member.flow].channel == channel;
               });
}

void FlowBackend::wait(std::uint32_t id) {
    RouteClass& route_class = classes_[flows_[id].route_class];
    (route_class.first_waiting == kNone ? route_class.first_waiting
                                        : flows_[route_class.last_waiting].next) = id;
    route_class.last_waiting = id;
}

// The connection of the flow has nothing else to do.
void FlowBackend::start(std::uint32_t id) {
    const std::uint32_t class_id = flows_[id].route_class;
    if (classes_[class_id].fabric != fabric_ || adaptive_) {
        find_route(classes_[class_id]);
        enter_route(class_id);
        if (adaptive_) {
            count_load(classes_[class_id], true);
        }
    }
    if (flows_[id].size.count == 0) {
        // An event, not a call: whoever sends does not expect to be called back already.
        queue_.schedule_at(queue_.now(), Callback::to<&FlowBackend::leave_empty>(*this, id));
        return;
    }
    leave_solver(class_id);
    RouteClass& route_class = classes_[class_id];
    route_class.members.push_back(
        {route_class.served + MaxMin::work_of(flows_[id].size), sequence_++, id});
    std::push_heap(route_class.members.begin(), route_class.members.end(), std::greater<>());
    enter_solver(class_id);
}

// The connection of a flow that is done goes on with the next.
void FlowBackend::start_next(std::uint32_t done) {
    RouteClass& route_class = classes_[flows_[done].route_class];
    const ChannelKey channel = flows_[done].channel;
    if (channel == kOneMessage) {
        return;
    }
    std::uint32_t before = kNone;
    std::uint32_t id = route_class.first_waiting;
    while (id != kNone && flows_[id].channel != channel) {
        before = id;
        id = flows_[id].next;
    }
    if (id == kNone) {
        return;
    }
    (before == kNone ? route_class.first_waiting : flows_[before].next) = flows_[id].next;
    if (route_class.last_waiting == id) {
        route_class.last_waiting = before;
    }
    flows_[id].next = kNone;
    start(id);
    if (flows_[id].size.count == 0) {
        start_next(id);
    }
}

void FlowBackend::leave_empty(std::uint64_t id) {
    if (adaptive_) {
        count_load(classes_[flows_[id].route_class], false);
    }
    leave(static_cast<std::uint32_t>(id));
}

// The last byte has left; it arrives when the latency is over, but not before what left earlier.
void FlowBackend::leave(std::uint32_t id) {
    const Flow& flow = flows_[id];
    RouteClass& route_class = classes_[flow.route_class];
    route_class.arrival_ps =
        std::max(route_class.arrival_ps, (queue_.now() + route_class.latency).ps);
    const bool is_there = route_class.arrival_ps == queue_.now().ps;
    if (!is_there) {
        queue_.schedule_at({route_class.arrival_ps},
                           Callback::to<&FlowBackend::deliver>(*this, id));
    }
    if (flow.sent) {
        const Callback sent = flow.sent;
        sent();
    }
    if (is_there) {
        deliver(id);
    }
}

// The uses of a route; if they make older ones void, all classes in the solver change to new ones.
void FlowBackend::enter_route(std::uint32_t id) {
    const std::uint64_t generation = blocks_.generation();
    const auto uses = blocks_.enter(route_);
    classes_[id].uses.assign(uses.begin(), uses.end());
    classes_[id].generation = blocks_.generation();
    while (constraint_of_.size() < blocks_.blocks()) {
        const double capacity =
            std::min(blocks_.capacity(static_cast<std::uint32_t>(constraint_of_.size())),
                     static_cast<double>(MaxMin::kMaxRate));
        constraint_of_.push_back(solver_.add_constraint({static_cast<std::uint64_t>(capacity)}));
    }
    if (blocks_.generation() != generation) {
        rebuild();
    }
}

void FlowBackend::rebuild() {
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        if (classes_[id].is_in_solver && classes_[id].generation != blocks_.generation()) {
            leave_solver(id);
            enter_solver(id);
        }
    }
}

// Requires members. The solver is to see the class with all of them, until the first is done.
void FlowBackend::enter_solver(std::uint32_t id) {
    if (classes_[id].fabric != fabric_) {
        find_route(classes_[id]);
        enter_route(id);
    } else if (classes_[id].generation != blocks_.generation()) {
        const RouteClass& known = classes_[id];
        if (adaptive_) {
            route_.clear();
            route_.shares = known.shares;
            for (std::uint32_t i = 0; i < known.shares.size(); ++i) {
                route_.end_of_layer.push_back(i + 1);
            }
        } else {
            finder_.find(known.source, known.destination, load_, route_);
        }
        enter_route(id);
    }
    RouteClass& route_class = classes_[id];
    const auto members = static_cast<double>(route_class.members.size());
    solver_uses_.clear();
    for (const LinkBlocks::Use& use : route_class.uses) {
        solver_uses_.push_back({constraint_of_[use.block], use.part * members});
    }
    if (cap_.bits_per_s > 0) {
        if (!route_class.has_cap) {
            route_class.cap = solver_.add_cap(cap_);
            route_class.has_cap = true;
        }
        solver_uses_.push_back({route_class.cap, 1.0});
    }
    route_class.asked = route_class.members.front().target - route_class.served;
    route_class.in_solver = solver_.add_flow(solver_uses_, route_class.asked, id);
    route_class.is_in_solver = true;
    ask_to_solve();
}

void FlowBackend::leave_solver(std::uint32_t id) {
    RouteClass& route_class = classes_[id];
    if (!route_class.is_in_solver) {
        return;
    }
    const Work done = route_class.asked - solver_.remaining(route_class.in_solver, queue_.now());
    route_class.served += done;
    route_class.carried += done * route_class.members.size();
    solver_.remove_flow(route_class.in_solver);
    route_class.is_in_solver = false;
    ask_to_solve();
}

// The solver is through with the class: its first members are done.
void FlowBackend::complete(std::uint32_t id) {
    RouteClass& route_class = classes_[id];
    route_class.is_in_solver = false;
    route_class.served += route_class.asked;
    route_class.carried += route_class.asked * route_class.members.size();
    while (!route_class.members.empty() &&
           route_class.members.front().target == route_class.served) {
        done_.push_back(route_class.members.front().flow);
        std::pop_heap(route_class.members.begin(), route_class.members.end(), std::greater<>());
        route_class.members.pop_back();
    }
    if (!route_class.members.empty()) {
        enter_solver(id);
    }
    ask_to_solve();
}

void FlowBackend::deliver(std::uint64_t id) {
    Flow& flow = flows_[id];
    if (adaptive_) {
        release_class(flow.route_class);
    }
    const Callback delivered = flow.delivered;
    flow.next = free_flow_;
    free_flow_ = static_cast<std::uint32_t>(id);
    delivered();
}

void FlowBackend::ask_to_solve() {
    if (!will_solve_) {
        will_solve_ = true;
        queue_.schedule_at(queue_.now(), Callback::to<&FlowBackend::solve>(*this, 0));
    }
}

void FlowBackend::solve(std::uint64_t) {
    will_solve_ = false;
    solver_.solve(queue_.now());
    arm();
}

void FlowBackend::arm() {
    const std::uint64_t next_ps = solver_.next_completion().ps;
    if (next_ps == kMaxPs && solver_.flows() > 0) {
        queue_.schedule_at({kMaxPs}, {});  // says that time is over
    }
    if (next_ps < wake_ps_) {
        wake_ps_ = next_ps;
        queue_.schedule_at({next_ps}, Callback::to<&FlowBackend::wake>(*this, next_ps));
    }
}

// A wake for a completion that has moved away finds nothing to do and arms the next.
void FlowBackend::wake(std::uint64_t at_ps) {
    if (at_ps != wake_ps_) {
        return;
    }
    wake_ps_ = kMaxPs;
    const auto popped = solver_.pop_completed(queue_.now());
    completed_.assign(popped.begin(), popped.end());
    done_.clear();
    for (const MaxMin::Completion& completion : completed_) {
        complete(static_cast<std::uint32_t>(completion.tag));
    }
    // Who is told may send: first all connections go on, then each flow's end is told.
    std::vector<std::uint32_t> done;
    done.swap(done_);
    for (const std::uint32_t flow : done) {
        if (adaptive_) {
            RouteClass& route_class = classes_[flows_[flow].route_class];
            count_load(route_class, false);
            carry(route_class);
        }
        start_next(flow);
    }
    for (const std::uint32_t flow : done) {
        leave(flow);
    }
    done.swap(done_);
    if (!will_solve_) {
        arm();
    }
}

void FlowBackend::set_link(LinkId link, bool up) {
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        leave_solver(id);
        carry(classes_[id]);
        if (adaptive_ && !classes_[id].members.empty()) {
            count_load(classes_[id], false);
        }
    }
    routing_.set_up(link, up);
    ++fabric_;
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        if (!classes_[id].members.empty()) {
            enter_solver(id);
            if (adaptive_) {
                count_load(classes_[id], true);
            }
        }
    }
}

void FlowBackend::sample(std::vector<LinkSample>& samples) {
    bytes_so_far().sample(samples);
}

void FlowBackend::count_load(const RouteClass& route_class, bool more) {
    for (const LinkShare& share : route_class.shares) {
        load_[share.link] += more ? 1U : ~std::uint32_t{0};
    }
}

// Books what the class has carried on the links of its present route.
void FlowBackend::carry(RouteClass& route_class) {
    if (route_class.carried == 0) {
        return;
    }
    if (!adaptive_) {
        finder_.find(route_class.source, route_class.destination, load_, route_);
    }
    carried_.add(adaptive_ ? route_class.shares : route_.shares, route_class.carried);
    route_class.carried = 0;
}

CarriedBytes FlowBackend::bytes_so_far() const {
    CarriedBytes bytes = carried_;
    RouteFinder finder(routing_);
    FlowRoute route;
    for (const RouteClass& route_class : classes_) {
        const Work open =
            route_class.is_in_solver
                ? route_class.asked - solver_.remaining(route_class.in_solver, queue_.now())
                : 0;
        const Work carried = route_class.carried + open * route_class.members.size();
        if (carried == 0) {
            continue;
        }
        if (!adaptive_) {
            finder.find(route_class.source, route_class.destination, load_, route);
        }
        bytes.add(adaptive_ ? route_class.shares : route.shares, carried);
    }
    return bytes;
}

std::vector<LinkRecord> FlowBackend::link_records() const {
    return bytes_so_far().records();
}

extern const BackendInfo kFlowBackend;
const BackendInfo kFlowBackend = {
    .name = "flow",
    .summary = "messages that share links at max-min fair rates",
    .alone = [](const Path& path, Bytes size) { return slowest_wire(path, size) + path.latency; },
    .contention = Contention::Fair,
    .can_split = true,
    .links_may_fail = true,
    .usual_routing = [](const ConfigView&) { return RoutePolicy::Spray; },
    .build = [](EventQueue& queue,
                Routing& routing,
                const ConfigView& network) -> std::unique_ptr<NetworkBackend> {
        return std::make_unique<FlowBackend>(queue, routing, network);
    },
    .check = [](const ConfigView& network) { read_rate_cap(network); }};

}  // namespace astra
