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

void FlowBackend::send(const Message& message, SimTime at, Callback delivered) {
    const std::uint32_t id = new_flow();
    Flow& flow = flows_[id];
    flow.delivered = delivered;
    flow.size = message.size;
    flow.source = index(message.source);
    flow.destination = index(message.destination);
    if (at == queue_.now()) {
        inject(id);
    } else {
        queue_.schedule_at(at, Callback::to<&FlowBackend::inject>(*this, id));
    }
}

std::uint32_t FlowBackend::new_flow() {
    if (free_flow_ == kNone) {
        flows_.emplace_back();
        return static_cast<std::uint32_t>(flows_.size() - 1);
    }
    const std::uint32_t id = free_flow_;
    free_flow_ = flows_[id].next_free;
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
    if (adaptive_) {
        return new_class(flow.source, flow.destination);
    }
    const std::uint64_t pair = (std::uint64_t{flow.source} << 32) | flow.destination;
    const auto [known, is_new] = class_of_pair_.try_emplace(pair, 0U);
    if (is_new) {
        known->second = new_class(flow.source, flow.destination);
    }
    return known->second;
}

void FlowBackend::find_route(RouteClass& route_class) {
    finder_.find(route_class.source, route_class.destination, load_, route_);
    route_class.latency = route_.latency;
    route_class.fabric = fabric_;
    if (adaptive_) {
        route_class.shares = route_.shares;
    }
}

void FlowBackend::inject(std::uint64_t id) {
    Flow& flow = flows_[id];
    flow.route_class = class_of(flow);
    RouteClass& route_class = classes_[flow.route_class];
    if (route_class.fabric != fabric_) {
        find_route(route_class);
        enter_route(flow.route_class);
        if (adaptive_) {
            count_load(route_class, true);
        }
    }
    queue_.schedule_at(queue_.now() + route_class.latency,
                       Callback::to<&FlowBackend::start>(*this, id));
}

void FlowBackend::start(std::uint64_t flow_id) {
    const auto id = static_cast<std::uint32_t>(flow_id);
    const Flow& flow = flows_[id];
    if (flow.size.count == 0) {
        deliver(id);
        return;
    }
    leave_solver(flow.route_class);
    RouteClass& route_class = classes_[flow.route_class];
    route_class.members.push_back(
        {route_class.served + MaxMin::work_of(flow.size), sequence_++, id});
    std::push_heap(route_class.members.begin(), route_class.members.end(), std::greater<>());
    enter_solver(flow.route_class);
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

void FlowBackend::deliver(std::uint32_t id) {
    Flow& flow = flows_[id];
    if (adaptive_) {
        RouteClass& route_class = classes_[flow.route_class];
        count_load(route_class, false);
        carry(route_class);
        route_class = {};
        free_classes_.push_back(flow.route_class);
    }
    const Callback delivered = flow.delivered;
    flow.next_free = free_flow_;
    free_flow_ = id;
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
    // Delivery may send, and so reuse the numbers of flows that are done: first all, then each.
    std::vector<std::uint32_t> done;
    done.swap(done_);
    for (const std::uint32_t flow : done) {
        deliver(flow);
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
    }
    routing_.set_up(link, up);
    ++fabric_;
    for (std::uint32_t id = 0; id < classes_.size(); ++id) {
        if (!classes_[id].members.empty()) {
            enter_solver(id);
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
