#include "workload/graph/stream_order.h"

#include <algorithm>
#include <functional>
#include <map>
#include <queue>
#include <set>
#include <unordered_map>
#include <utility>

#include "workload/graph/graph_edges.h"

namespace astra {
namespace {

constexpr std::uint32_t kNoOp = 0xffffffffU;
constexpr std::uint64_t kNone = StreamNote::kNone;
constexpr std::uint64_t kPsPerNs = 1000;

bool communicates(OpKind kind) {
    return kind == OpKind::Collective || kind == OpKind::Send || kind == OpKind::Recv;
}

class StreamOrder {
  public:
    StreamOrder(ExecutionGraph& graph, const std::vector<StreamNote>& notes, const StreamUse& use)
        : graph_(graph), notes_(notes), use_(use) {}

    StreamReport run() {
        assign_streams();
        if (report_.gpu_ops == 0) {
            return {};
        }
        report_.ranks = 1;
        find_launchers();
        sort_streams();
        follow_launches();
        take_all();
        add_edges();
        return report_;
    }

  private:
    enum class Cause : std::uint8_t { Synchronisation, Communication };
    // An edge that is wanted; dependencies come first.
    struct Wish {
        Edge edge;
        Cause cause;
    };
    struct Event {
        std::uint32_t captured = kNoOp;
        std::size_t turn = 0;  // of the call that recorded it, in launches_
    };

    bool runs(std::uint32_t op) const {
        return graph_.kind[op] != OpKind::Metadata && graph_.kind[op] != OpKind::Invalid;
    }
    bool on_host(std::uint32_t op) const { return graph_.on_cpu[op] != 0; }
    bool synchronises(std::uint32_t op) const {
        return notes_[op].synchronisation != Synchronisation::None;
    }
    bool is_chained(std::uint32_t op) const {
        return stream_[op] != kNoStream &&
               (use_.collectives || graph_.kind[op] != OpKind::Collective);
    }

    void assign_streams();
    void find_launchers();
    void sort_streams();
    void follow_launches();
    void take_all();
    void add_edges();

    std::uint64_t launch_of(std::uint32_t op) const;
    std::uint64_t host_turn(std::uint32_t op) const;
    void put_in_order(std::vector<std::uint32_t>& ops);
    std::uint64_t thread_of(std::uint32_t op) const;

    // --- follow_launches ---
    void pass(std::uint32_t op, std::size_t turn);
    void pass_call(std::uint32_t op, std::size_t turn);
    void pass_communication(std::uint32_t op);
    std::uint32_t last_on(std::uint64_t number, std::size_t turn) const;
    std::uint32_t waited_for(const StreamNote& note, std::size_t turn) const;
    void wish(std::uint32_t from, std::uint32_t to, Cause cause) {
        if (from != kNoOp && from != to) {
            wishes_.push_back({{from, to}, cause});
        }
    }

    // --- take_all ---
    void arrive(std::uint32_t op);
    void take(std::uint32_t op);
    bool may_go(std::uint32_t op) const {
        return hard_[op] == 0 && soft_[op] == 0 &&
               (!is_chained(op) || streams_[stream_[op]][heads_[stream_[op]]] == op);
    }

    ExecutionGraph& graph_;
    const std::vector<StreamNote>& notes_;
    StreamUse use_;
    StreamReport report_;
    std::vector<std::uint32_t> stream_;                // of the op
    std::vector<NamedStream> names_;                   // of streams
    std::vector<std::vector<std::uint32_t>> streams_;  // their ops in order
    std::vector<std::uint32_t> launcher_;              // of an op of the GPU
    std::vector<std::uint8_t> waits_for_gpu_;
    bool correlated_ = true;     // everything launched has a correlation
    bool host_timed_ = true;     // everything on the host has a recorded start
    bool synchronises_ = false;  // streams, that is: calls tell what they wait for

    std::vector<std::uint32_t> launches_;  // ops of the GPU and calls that synchronise
    std::vector<std::size_t> turn_of_;     // in launches_, of ops in it
    std::map<std::uint64_t, std::uint32_t> gpu_stream_;  // number -> stream
    std::unordered_map<std::uint64_t, Event> by_event_;
    std::unordered_map<std::uint64_t, Event> by_record_;
    std::map<std::uint64_t, std::vector<std::uint32_t>> pending_;  // stream number -> waited for
    std::map<std::uint64_t, std::uint32_t> last_of_thread_;
    std::map<std::uint64_t, std::uint32_t> last_computation_;  // of the thread
    std::vector<Wish> wishes_;

    std::vector<std::uint32_t> hard_;  // parents left
    std::vector<std::uint32_t> soft_;  // wishes left
    std::vector<std::uint32_t> wish_begin_;
    std::vector<std::uint32_t> wish_child_;
    std::vector<std::size_t> heads_;
    std::vector<std::uint8_t> taken_;
    std::vector<std::uint32_t> turn_;  // in which ops were taken
    std::vector<std::uint32_t> ready_;
    std::vector<std::vector<std::uint32_t>> chains_;  // streams as they were taken
    // Ops whose parents are done but not what comes before them by streams or wishes.
    std::priority_queue<std::pair<std::uint64_t, std::uint32_t>,
                        std::vector<std::pair<std::uint64_t, std::uint32_t>>,
                        std::greater<>>
        held_;
    std::uint32_t done_ = 0;
};

void StreamOrder::assign_streams() {
    const std::uint32_t size = graph_.size();
    std::set<std::uint64_t> host_threads;
    std::set<std::uint64_t> gpu_threads;
    for (std::uint32_t op = 0; op < size; ++op) {
        if (runs(op) && notes_[op].thread != kNone) {
            (on_host(op) ? host_threads : gpu_threads).insert(notes_[op].thread);
        }
    }
    // The tid of an op of the GPU is its stream in Kineto, its launcher's thread in Chakra.
    const bool tids_are_streams =
        (!host_threads.empty() || gpu_threads.size() > 1) &&
        std::none_of(gpu_threads.begin(), gpu_threads.end(), [&](std::uint64_t thread) {
            return host_threads.contains(thread);
        });
    stream_.assign(size, kNoStream);
    std::map<std::pair<bool, std::uint64_t>, std::uint32_t> numbers;
    for (std::uint32_t op = 0; op < size; ++op) {
        if (!runs(op)) {
            continue;
        }
        const StreamNote& note = notes_[op];
        std::uint64_t number = use_.threads ? note.thread : kNone;
        if (!on_host(op)) {
            number = note.stream != kNone ? note.stream : tids_are_streams ? note.thread : kNone;
            report_.gpu_ops += number != kNone ? 1 : 0;
        }
        if (number == kNone) {
            continue;
        }
        const auto [entry, added] =
            numbers.try_emplace({on_host(op), number}, static_cast<std::uint32_t>(names_.size()));
        if (added) {
            names_.push_back({on_host(op), number});
            streams_.emplace_back();
            if (!on_host(op)) {
                gpu_stream_[number] = entry->second;
            }
        }
        stream_[op] = entry->second;
    }
}

std::uint64_t StreamOrder::thread_of(std::uint32_t op) const {
    if (on_host(op)) {
        return notes_[op].thread;
    }
    return launcher_[op] != kNoOp ? notes_[launcher_[op]].thread : kNone;
}

void StreamOrder::find_launchers() {
    const std::uint32_t size = graph_.size();
    for (std::uint32_t op = 0; op < size; ++op) {
        if (on_host(op)) {
            host_timed_ = host_timed_ && notes_[op].start != kNone;
        }
        const bool launched = !on_host(op) && stream_[op] != kNoStream;
        if (launched || synchronises(op)) {
            correlated_ = correlated_ && notes_[op].correlation != kNone;
            launches_.push_back(op);
        }
        synchronises_ = synchronises_ || notes_[op].synchronisation == Synchronisation::StreamWaits;
    }
    launcher_.assign(size, kNoOp);
    waits_for_gpu_.assign(size, 0);
    for (const Edge& edge : edges_of(graph_)) {
        if (on_host(edge.child)) {
            continue;
        }
        std::uint32_t& launcher = launcher_[edge.child];
        if (!on_host(edge.parent)) {
            waits_for_gpu_[edge.child] = waits_for_gpu_[edge.child] != 0 || runs(edge.parent);
        } else if (launcher == kNoOp || host_turn(edge.parent) > host_turn(launcher)) {
            launcher = edge.parent;
        }
    }
    for (const std::uint32_t op : launches_) {
        const bool alone = !on_host(op) && launcher_[op] != kNoOp && waits_for_gpu_[op] == 0;
        report_.launched_only += alone ? 1 : 0;
    }
}

// When the host came to an op of its own.
std::uint64_t StreamOrder::host_turn(std::uint32_t op) const {
    return host_timed_ ? notes_[op].start : op;
}

std::uint64_t StreamOrder::launch_of(std::uint32_t op) const {
    if (correlated_) {
        return notes_[op].correlation;
    }
    if (!on_host(op) && launcher_[op] != kNoOp) {
        return host_turn(launcher_[op]);
    }
    const bool timed = host_timed_ && notes_[op].start != kNone;
    return on_host(op) || timed ? host_turn(op) : op;
}

// By correlation, else by start, where all of them have it; else as they are. A graph of kernels is
// launched by one call, with one correlation for all.
void StreamOrder::put_in_order(std::vector<std::uint32_t>& ops) {
    const auto all_have = [&](std::uint64_t StreamNote::*member) {
        return std::all_of(
            ops.begin(), ops.end(), [&](std::uint32_t op) { return notes_[op].*member != kNone; });
    };
    const auto sort_by = [&](std::uint64_t StreamNote::*member) {
        std::stable_sort(ops.begin(), ops.end(), [&](std::uint32_t a, std::uint32_t b) {
            return notes_[a].*member < notes_[b].*member;
        });
    };
    if (all_have(&StreamNote::start)) {
        sort_by(&StreamNote::start);
    }
    if (all_have(&StreamNote::correlation)) {
        sort_by(&StreamNote::correlation);
    }
}

void StreamOrder::sort_streams() {
    std::stable_sort(launches_.begin(), launches_.end(), [&](std::uint32_t a, std::uint32_t b) {
        return launch_of(a) < launch_of(b);
    });
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        if (stream_[op] != kNoStream && on_host(op)) {
            streams_[stream_[op]].push_back(op);
        }
    }
    for (const std::uint32_t op : launches_) {
        if (stream_[op] != kNoStream && !on_host(op)) {
            streams_[stream_[op]].push_back(op);
        }
    }
    for (auto& ops : streams_) {
        put_in_order(ops);
    }
    // A stream's ops take the turns of the stream in its own order.
    std::vector<std::size_t> next(streams_.size(), 0);
    turn_of_.assign(graph_.size(), 0);
    for (std::size_t turn = 0; turn < launches_.size(); ++turn) {
        std::uint32_t& op = launches_[turn];
        if (!on_host(op) && stream_[op] != kNoStream) {
            op = streams_[stream_[op]][next[stream_[op]]++];
        }
        turn_of_[op] = turn;
    }
}

// The last op on the stream of that number that was launched before `turn`.
std::uint32_t StreamOrder::last_on(std::uint64_t number, std::size_t turn) const {
    const auto found = gpu_stream_.find(number);
    if (found == gpu_stream_.end()) {
        return kNoOp;
    }
    const auto& ops = streams_[found->second];
    const auto after = std::partition_point(
        ops.begin(), ops.end(), [&](std::uint32_t op) { return turn_of_[op] < turn; });
    return after == ops.begin() ? kNoOp : *std::prev(after);
}

// What the event of a call stands for.
std::uint32_t StreamOrder::waited_for(const StreamNote& note, std::size_t turn) const {
    const auto find = [](const auto& events, std::uint64_t key) {
        const auto found = key == kNone ? events.end() : events.find(key);
        return found == events.end() ? nullptr : &found->second;
    };
    const Event* event = find(by_record_, note.record);
    event = event == nullptr ? find(by_event_, note.event) : event;
    if (note.waits_on != kNone) {
        return last_on(note.waits_on, event == nullptr ? turn : event->turn);
    }
    return event == nullptr ? kNoOp : event->captured;
}

void StreamOrder::pass_call(std::uint32_t op, std::size_t turn) {
    const StreamNote& note = notes_[op];
    const std::size_t wishes = wishes_.size();
    switch (note.synchronisation) {
        case Synchronisation::RecordEvent: {
            const auto last = last_of_thread_.find(thread_of(op));
            const Event event{note.stream != kNone            ? last_on(note.stream, turn)
                              : last != last_of_thread_.end() ? last->second
                                                              : kNoOp,
                              turn};
            by_event_[note.event] = event;
            by_record_[note.correlation] = event;
            return;
        }
        case Synchronisation::StreamWaits: {
            const std::uint32_t before = waited_for(note, turn);
            if (!on_host(op)) {
                wish(before, op, Cause::Synchronisation);
            } else if (before != kNoOp && note.stream != kNone) {
                pending_[note.stream].push_back(before);
                return;  // the call itself does not wait
            }
            break;
        }
        case Synchronisation::HostWaitsForEvent:
            wish(waited_for(note, turn), op, Cause::Synchronisation);
            break;
        case Synchronisation::HostWaitsForStream:
        case Synchronisation::HostWaitsForDevice:
            for (const auto& [number, stream] : gpu_stream_) {
                if (note.synchronisation == Synchronisation::HostWaitsForDevice ||
                    note.stream == kNone || note.stream == number) {
                    wish(last_on(number, turn), op, Cause::Synchronisation);
                }
            }
            break;
        case Synchronisation::None:
            return;
    }
    if (wishes_.size() > wishes && graph_.kind[op] == OpKind::Compute) {
        // What was recorded is the wait.
        graph_.duration_ps[op] = 0;
        ComputeDetail& detail = graph_.computes[graph_.detail[op]];
        detail.has_operations = true;
        detail.operations = 0;
    }
}

void StreamOrder::pass_communication(std::uint32_t op) {
    const auto before = last_computation_.find(thread_of(op));
    if (synchronises_ || launcher_[op] == kNoOp || waits_for_gpu_[op] != 0 ||
        before == last_computation_.end() || stream_[before->second] == stream_[op]) {
        return;
    }
    const StreamNote& from = notes_[before->second];
    const bool recorded_beside =
        from.start != kNone && notes_[op].start != kNone &&
        from.start + graph_.duration_ps[before->second] / kPsPerNs > notes_[op].start;
    if (!recorded_beside) {
        wish(before->second, op, Cause::Communication);
    }
}

void StreamOrder::pass(std::uint32_t op, std::size_t turn) {
    if (synchronises(op)) {
        pass_call(op, turn);
    }
    if (on_host(op) || stream_[op] == kNoStream) {
        return;
    }
    const auto waiting = pending_.find(names_[stream_[op]].number);
    if (waiting != pending_.end()) {
        for (const std::uint32_t before : waiting->second) {
            wish(before, op, Cause::Synchronisation);
        }
        pending_.erase(waiting);
    }
    if (communicates(graph_.kind[op])) {
        pass_communication(op);
    } else if (graph_.kind[op] == OpKind::Compute && !synchronises(op)) {
        last_computation_[thread_of(op)] = op;
    }
    last_of_thread_[thread_of(op)] = op;
}

void StreamOrder::follow_launches() {
    by_event_.clear();
    for (std::size_t turn = 0; turn < launches_.size(); ++turn) {
        pass(launches_[turn], turn);
    }
    by_event_.clear();
    by_record_.clear();
}

void StreamOrder::arrive(std::uint32_t op) {
    if (may_go(op)) {
        ready_.push_back(op);
    } else if (hard_[op] == 0) {
        held_.emplace(launch_of(op), op);
    }
}

void StreamOrder::take(std::uint32_t op) {
    taken_[op] = 1;
    turn_[op] = done_++;
    for (std::uint32_t i = graph_.child_begin[op]; i < graph_.child_begin[op + 1]; ++i) {
        if (--hard_[graph_.child[i]] == 0) {
            arrive(graph_.child[i]);
        }
    }
    for (std::uint32_t i = wish_begin_[op]; i < wish_begin_[op + 1]; ++i) {
        if (--soft_[wish_child_[i]] == 0 && taken_[wish_child_[i]] == 0) {
            arrive(wish_child_[i]);
        }
    }
    if (!is_chained(op)) {
        return;
    }
    const std::uint32_t stream = stream_[op];
    chains_[stream].push_back(op);
    const auto& ops = streams_[stream];
    std::size_t& head = heads_[stream];
    while (head < ops.size() && (taken_[ops[head]] != 0 || !is_chained(ops[head]))) {
        ++head;
    }
    if (head < ops.size() && may_go(ops[head])) {
        ready_.push_back(ops[head]);
    }
}

// Takes every op once, after its parents, and after what its stream and the wishes put before it,
// as far as that is possible.
void StreamOrder::take_all() {
    const std::uint32_t size = graph_.size();
    hard_ = graph_.parent_count;
    soft_.assign(size, 0);
    wish_begin_.assign(size + std::size_t{1}, 0);
    for (const Wish& wish : wishes_) {
        ++soft_[wish.edge.child];
        ++wish_begin_[wish.edge.parent + std::size_t{1}];
    }
    for (std::uint32_t op = 0; op < size; ++op) {
        wish_begin_[op + std::size_t{1}] += wish_begin_[op];
    }
    wish_child_.resize(wishes_.size());
    std::vector<std::uint32_t> next(wish_begin_.begin(), wish_begin_.end() - 1);
    for (const Wish& wish : wishes_) {
        wish_child_[next[wish.edge.parent]++] = wish.edge.child;
    }
    heads_.assign(streams_.size(), 0);
    for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
        std::erase_if(streams_[stream], [&](std::uint32_t op) { return !is_chained(op); });
    }
    chains_.resize(streams_.size());
    taken_.assign(size, 0);
    turn_.assign(size, 0);
    for (std::uint32_t op = 0; op < size; ++op) {
        if (hard_[op] == 0) {
            arrive(op);
        }
    }
    while (done_ < size) {
        std::uint32_t op = kNoOp;
        if (!ready_.empty()) {
            op = ready_.back();
            ready_.pop_back();
        } else {
            op = held_.top().second;
            held_.pop();
            report_.contradictions += taken_[op] == 0 ? 1 : 0;
        }
        if (taken_[op] == 0) {
            take(op);
        }
    }
}

void StreamOrder::add_edges() {
    std::vector<Edge> edges = edges_of(graph_);
    std::set<Edge> added;
    const auto add = [&](Edge edge, std::uint64_t& count) {
        if (!has_edge(graph_, edge) && added.insert(edge).second) {
            edges.push_back(edge);
            ++count;
        }
    };
    for (const auto& chain : chains_) {
        for (std::size_t i = 1; i < chain.size(); ++i) {
            add({chain[i - 1], chain[i]}, report_.in_stream);
        }
    }
    for (const Wish& wish : wishes_) {
        if (turn_[wish.edge.parent] < turn_[wish.edge.child]) {
            add(wish.edge,
                wish.cause == Cause::Synchronisation ? report_.synchronised : report_.before_comm);
        }
    }
    if (!added.empty()) {
        set_edges(graph_, std::move(edges));
    }
    graph_.stream.assign(graph_.size(), kNoStream);
    for (std::uint32_t op = 0; op < graph_.size(); ++op) {
        graph_.stream[op] = is_chained(op) ? stream_[op] : kNoStream;
    }
    graph_.streams = std::move(names_);
}

}  // namespace

void StreamReport::add(const StreamReport& other) {
    ranks += other.ranks;
    gpu_ops += other.gpu_ops;
    launched_only += other.launched_only;
    in_stream += other.in_stream;
    synchronised += other.synchronised;
    before_comm += other.before_comm;
    contradictions += other.contradictions;
}

StreamReport order_streams(ExecutionGraph& graph,
                           const std::vector<StreamNote>& notes,
                           const StreamUse& use) {
    return StreamOrder(graph, notes, use).run();
}

}  // namespace astra
