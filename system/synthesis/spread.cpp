#include "system/synthesis/spread.h"

#include <algorithm>
#include <queue>
#include <tuple>

#include "astra/core/check.h"
#include "system/synthesis/block_choice.h"
#include "system/synthesis/link_times.h"

namespace astra {

namespace {

constexpr std::uint32_t kNone = BlockChoice::kNone;
constexpr std::uint32_t kAny = kNone - 1;

// The edges of a member that begin with the same link: it carries one block at a time.
struct Port {
    std::uint32_t first_edge = 0;
    std::uint32_t edges = 0;
    std::uint32_t cursor = 0;        // the edge to be tried first, so that all get their turn
    std::uint32_t fresh = kNone;     // what has come since it last looked: a block, or kAny
    std::uint64_t wake_ps = kMaxPs;  // when it looks next for sure
    bool exhausted = false;          // it has seen all but what is fresh, and had nothing to send
};

struct Event {
    std::uint64_t at_ps = 0;
    std::uint64_t number = 0;
    std::uint32_t where = 0;      // a member, or a port
    std::uint32_t block = kNone;  // that arrives; none: the port is to look
    bool operator>(const Event& other) const {
        return std::tie(at_ps, number) > std::tie(other.at_ps, other.number);
    }
};

class Spread {
  public:
    Spread(const GroupGraph& graph, const SpreadSettings& settings)
        : graph_(graph),
          settings_(within_limits(graph, settings)),
          links_(graph, settings_.block),
          blocks_(graph, settings_, links_.edge_ps()) {
        find_ports();
    }

    std::vector<Transfer> run() {
        transfers_.reserve(std::size_t{graph_.members()} * blocks_.wanted(0));
        for (std::uint32_t port = 0; port < ports_.size(); ++port) {
            stir(port, kAny);
        }
        match(0);
        while (!events_.empty()) {
            const std::uint64_t now_ps = events_.top().at_ps;
            while (!events_.empty() && events_.top().at_ps == now_ps) {
                const Event event = events_.top();
                events_.pop();
                take(event);
            }
            match(now_ps);
        }
        ASTRA_CHECK(transfers_.size() == std::size_t{graph_.members()} *
                                             (blocks_.blocks() - settings_.blocks_a_member),
                    "every member gets every block");
        return std::move(transfers_);
    }

  private:
    static SpreadSettings within_limits(const GroupGraph& graph, SpreadSettings settings) {
        for (std::uint32_t link = 0; link < graph.links(); ++link) {
            const Bandwidth rate = graph.properties(link).bandwidth;
            if (transfer_time(settings.block, rate).ps > kLongestPs) {
                settings.block = {std::max<std::uint64_t>(bytes_in({kLongestPs}, rate), 1)};
            }
        }
        settings.handling.ps = std::min(settings.handling.ps, kLongestPs);
        return settings;
    }

    void find_ports() {
        const auto edges = graph_.edges();
        for (std::uint32_t i = 0; i < edges.size(); ++i) {
            const bool same = i > 0 && edges[i].from == edges[i - 1].from &&
                              graph_.path(edges[i])[0] == graph_.path(edges[i - 1])[0];
            if (!same) {
                ports_.push_back({i, 0});
            }
            ++ports_.back().edges;
        }
        const auto wire_of = [&](const Port& port) {
            return links_.wire_ps(graph_.path(edges[port.first_edge])[0]);
        };
        std::stable_sort(ports_.begin(), ports_.end(), [&](const Port& a, const Port& b) {
            return wire_of(a) < wire_of(b);
        });
        ports_of_.resize(graph_.members());
        for (std::uint32_t port = 0; port < ports_.size(); ++port) {
            ports_of_[edges[ports_[port].first_edge].from].push_back(port);
        }
    }

    void take(const Event& event) {
        if (event.block == kNone) {
            Port& port = ports_[event.where];
            if (port.wake_ps == event.at_ps) {
                port.wake_ps = kMaxPs;
                stir(event.where, port.exhausted ? kNone : kAny);
            }
            return;
        }
        blocks_.arrive(event.where, event.block);
        for (const std::uint32_t port : ports_of_[event.where]) {
            stir(port, event.block);
        }
    }

    // Lets a port look when all that happens at this time has happened.
    void stir(std::uint32_t number, std::uint32_t fresh) {
        Port& port = ports_[number];
        if (fresh == kNone) {
            return;
        }
        if (port.fresh == kNone) {
            stirred_.push_back(number);
        }
        port.fresh = port.fresh == kNone && port.exhausted ? fresh : kAny;
    }

    void match(std::uint64_t now_ps) {
        std::sort(stirred_.begin(), stirred_.end());
        for (const std::uint32_t number : stirred_) {
            look(number, now_ps);
        }
        stirred_.clear();
    }

    // Sends a block over an edge of the port if one can go now, and says when to look again.
    void look(std::uint32_t number, std::uint64_t now_ps) {
        Port& port = ports_[number];
        const std::uint32_t fresh = port.fresh;
        port.fresh = kNone;
        port.exhausted = false;
        const auto edges = graph_.edges();
        const std::uint64_t free_ps = links_.free_ps(edges[port.first_edge]);
        if (free_ps > now_ps) {
            wake(number, free_ps);
            return;
        }
        std::uint64_t possible_ps = kMaxPs;
        for (std::uint32_t i = 0; i < port.edges; ++i) {
            const std::uint32_t turn = port.cursor + i;
            const std::uint32_t e =
                port.first_edge + (turn >= port.edges ? turn - port.edges : turn);
            const GroupGraph::Edge& edge = edges[e];
            if (blocks_.wanted(edge.to) == 0) {
                continue;
            }
            const std::uint64_t start_ps = links_.earliest_ps(edge, now_ps);
            if (start_ps >= possible_ps) {
                continue;
            }
            const std::uint32_t block = fresh == kAny             ? blocks_.choose(e)
                                        : blocks_.wants(e, fresh) ? fresh
                                                                  : kNone;
            if (block == kNone) {
                continue;
            }
            if (start_ps > now_ps) {
                possible_ps = start_ps;
                continue;
            }
            port.cursor = e - port.first_edge + 1 == port.edges ? 0 : e - port.first_edge + 1;
            commit(e, block, now_ps);
            wake(number, links_.free_ps(edge));
            return;
        }
        port.exhausted = possible_ps == kMaxPs;
        if (!port.exhausted) {
            wake(number, possible_ps);
        }
    }

    void wake(std::uint32_t number, std::uint64_t at_ps) {
        if (at_ps < ports_[number].wake_ps) {
            ports_[number].wake_ps = at_ps;
            events_.push({at_ps, numbered_++, number, kNone});
        }
    }

    void commit(std::uint32_t e, std::uint32_t block, std::uint64_t now_ps) {
        const GroupGraph::Edge& edge = graph_.edges()[e];
        const std::uint64_t at_ps = links_.send_ps(edge, now_ps);
        blocks_.promise(e, block);
        const std::uint64_t ready_ps = at_ps + settings_.handling.ps;
        transfers_.push_back({now_ps, at_ps, ready_ps, edge.from, edge.to, block, false});
        events_.push({ready_ps, numbered_++, edge.to, block});
    }

    const GroupGraph& graph_;
    const SpreadSettings settings_;
    LinkTimes links_;
    BlockChoice blocks_;
    std::vector<Port> ports_;  // the fastest first
    std::vector<std::vector<std::uint32_t>> ports_of_;
    std::vector<std::uint32_t> stirred_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t numbered_ = 0;
    std::vector<Transfer> transfers_;
};

}  // namespace

std::vector<Transfer> spread(const GroupGraph& graph, const SpreadSettings& settings) {
    return Spread(graph, settings).run();
}

}  // namespace astra
