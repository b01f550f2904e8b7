#include "system/synthesis/spread.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <tuple>

#include "astra/core/check.h"
#include "astra/core/mix.h"
#include "system/synthesis/reach.h"

namespace astra {

namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t kAny = kNone - 1;
constexpr std::uint32_t kSample = 64;
// No time of the plan passes what 64 bits hold: a block is planned no larger than the slowest link
// moves in this time, beside which latencies are nothing, and these are planned no longer.
constexpr std::uint64_t kLongest_ps = std::uint64_t{1} << 36U;

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
          blocks_(graph.members() * settings.blocks_a_member),
          words_((blocks_ + 63) / 64),
          random_(mix(settings.seed)),
          wire_ps_(wires()),
          edge_ps_(passages()),
          reach_(graph, edge_ps_, blocks_) {
        const std::size_t words = std::size_t{graph.members()} * words_;
        held_.assign(words, 0);
        claimed_.assign(words, 0);
        holders_.assign(blocks_, 1);
        wanted_.assign(graph.members(), blocks_ - settings.blocks_a_member);
        free_ps_.assign(graph.links(), 0);
        first_hand_.assign(graph.edges().size(), 0);
        find_ports();
        for (std::uint32_t member = 0; member < graph.members(); ++member) {
            for (std::uint32_t k = 0; k < settings.blocks_a_member; ++k) {
                const std::uint32_t block = member * settings.blocks_a_member + k;
                set(held_, member, block);
                claim(member, block);
            }
        }
    }

    std::vector<Transfer> run() {
        transfers_.reserve(std::size_t{graph_.members()} * wanted_[0]);
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
        ASTRA_CHECK(transfers_.size() ==
                        std::size_t{graph_.members()} * (blocks_ - settings_.blocks_a_member),
                    "every member gets every block");
        return std::move(transfers_);
    }

  private:
    static SpreadSettings within_limits(const GroupGraph& graph, SpreadSettings settings) {
        for (std::uint32_t link = 0; link < graph.links(); ++link) {
            const Bandwidth rate = graph.properties(link).bandwidth;
            if (transfer_time(settings.block, rate).ps > kLongest_ps) {
                settings.block = {std::max<std::uint64_t>(bytes_in({kLongest_ps}, rate), 1)};
            }
        }
        settings.handling.ps = std::min(settings.handling.ps, kLongest_ps);
        return settings;
    }

    std::vector<std::uint64_t> wires() const {
        std::vector<std::uint64_t> wires;
        for (std::uint32_t link = 0; link < graph_.links(); ++link) {
            const auto wire = transfer_time(settings_.block, graph_.properties(link).bandwidth);
            wires.push_back(std::clamp<std::uint64_t>(wire.ps, 1, 16 * kLongest_ps));
        }
        return wires;
    }

    std::vector<std::uint64_t> passages() const {
        std::vector<std::uint64_t> passages;
        for (const GroupGraph::Edge& edge : graph_.edges()) {
            std::uint64_t passage_ps = 0;
            for (const std::uint32_t link : graph_.path(edge)) {
                passage_ps = passage_ps + passing_ps(link);
            }
            passages.push_back(passage_ps);
        }
        return passages;
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
            return wire_ps_[graph_.path(edges[port.first_edge])[0]];
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
        set(held_, event.where, event.block);
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
        const std::uint64_t free_ps = free_ps_[graph_.path(edges[port.first_edge])[0]];
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
            if (wanted_[edge.to] == 0) {
                continue;
            }
            const std::uint64_t start_ps = earliest(edge, now_ps);
            if (start_ps >= possible_ps) {
                continue;
            }
            const std::uint32_t block = fresh == kAny ? choose(e) : wants(e, fresh) ? fresh : kNone;
            if (block == kNone) {
                continue;
            }
            if (start_ps > now_ps) {
                possible_ps = start_ps;
                continue;
            }
            port.cursor = e - port.first_edge + 1 == port.edges ? 0 : e - port.first_edge + 1;
            commit(e, block, now_ps);
            wake(number, free_ps_[graph_.path(edge)[0]]);
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

    // When a block can start so that it finds every link of the path free.
    std::uint64_t earliest(const GroupGraph::Edge& edge, std::uint64_t now_ps) const {
        std::uint64_t start_ps = now_ps;
        std::uint64_t passage_ps = 0;
        for (const std::uint32_t link : graph_.path(edge)) {
            if (free_ps_[link] > start_ps + passage_ps) {
                start_ps = free_ps_[link] - passage_ps;
            }
            passage_ps = passage_ps + passing_ps(link);
        }
        return start_ps;
    }

    std::uint64_t passing_ps(std::uint32_t link) const {
        return wire_ps_[link] + std::min(graph_.properties(link).latency.ps, kLongest_ps);
    }

    void commit(std::uint32_t e, std::uint32_t block, std::uint64_t now_ps) {
        const GroupGraph::Edge& edge = graph_.edges()[e];
        std::uint64_t at_ps = now_ps;
        for (const std::uint32_t link : graph_.path(edge)) {
            free_ps_[link] = at_ps + wire_ps_[link];
            at_ps = at_ps + passing_ps(link);
        }
        claim(edge.to, block);
        ++holders_[block];
        --wanted_[edge.to];
        const std::uint64_t ready_ps = at_ps + settings_.handling.ps;
        transfers_.push_back({now_ps, at_ps, ready_ps, edge.from, edge.to, block, false});
        events_.push({ready_ps, numbered_++, edge.to, block});
    }

    // One of the blocks that one end has and the other lacks; kNone if there is none. The best one
    // began at the sender, as all copies come from it; then one that faster links will not bring.
    // Where those will have brought all others sooner than this edge could, it takes none of them.
    std::uint32_t choose(std::uint32_t e) {
        const GroupGraph::Edge& edge = graph_.edges()[e];
        const std::uint64_t* has = held_.data() + std::size_t{edge.from} * words_;
        const std::uint64_t* got = claimed_.data() + std::size_t{edge.to} * words_;
        const std::uint32_t level = reach_.level(e);
        const std::uint64_t* near = level == 0 ? got : reach_.claimed(edge.to, level);
        // What the other end has, or need not get, it will never want again.
        for (std::uint32_t& k = first_hand_[e]; k < settings_.blocks_a_member; ++k) {
            const std::uint32_t block = edge.from * settings_.blocks_a_member + k;
            if (!is_set(near, block)) {
                return block;
            }
        }
        const std::uint32_t far = rarest([&](std::uint32_t w) { return has[w] & ~near[w]; });
        if (far != kNone || level == 0 || !worth(e)) {
            return far;
        }
        return rarest([&](std::uint32_t w) { return has[w] & ~got[w]; });
    }

    // The same for a single block that the member at the start has.
    bool wants(std::uint32_t e, std::uint32_t block) const {
        const GroupGraph::Edge& edge = graph_.edges()[e];
        if (is_set(claimed_, edge.to, block)) {
            return false;
        }
        const std::uint32_t level = reach_.level(e);
        return level == 0 || !is_set(reach_.claimed(edge.to, level), block) || worth(e);
    }

    bool worth(std::uint32_t e) const {
        const std::uint32_t to = graph_.edges()[e].to;
        const Bytes left{saturating_multiply(wanted_[to], settings_.block.count)};
        return edge_ps_[e] <= transfer_time(left, reach_.faster(to, reach_.level(e))).ps;
    }

    // The rarest of the blocks whose bits the words are, out of a sample: the words are walked from
    // a random one on, each from a random bit.
    template <typename Words>
    std::uint32_t rarest(const Words& words) {
        const std::uint64_t random = next_random();
        const auto turn = static_cast<std::uint32_t>(random & 63U);
        const auto start = static_cast<std::uint32_t>((random >> 32) * std::uint64_t{words_} >> 32);
        std::uint32_t best = kNone;
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < words_ && seen < kSample; ++i) {
            const std::uint32_t w = start + i >= words_ ? start + i - words_ : start + i;
            std::uint64_t word = std::rotr(words(w), static_cast<int>(turn));
            for (; word != 0 && seen < kSample; word &= word - 1, ++seen) {
                const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
                const std::uint32_t block = w * 64 + (bit + turn) % 64;
                if (best == kNone || holders_[block] < holders_[best]) {
                    best = block;
                }
            }
        }
        return best;
    }

    std::uint64_t next_random() {
        random_ += kMixStep;
        return mix(random_);
    }

    void claim(std::uint32_t member, std::uint32_t block) {
        set(claimed_, member, block);
        reach_.claim(member, block);
    }
    bool is_set(const std::vector<std::uint64_t>& sets,
                std::uint32_t member,
                std::uint32_t block) const {
        return is_set(sets.data() + std::size_t{member} * words_, block);
    }
    static bool is_set(const std::uint64_t* words, std::uint32_t block) {
        return (words[block / 64] >> (block % 64) & 1U) != 0;
    }
    void set(std::vector<std::uint64_t>& sets, std::uint32_t member, std::uint32_t block) const {
        sets[std::size_t{member} * words_ + block / 64] |= std::uint64_t{1} << (block % 64);
    }

    const GroupGraph& graph_;
    const SpreadSettings settings_;
    std::uint32_t blocks_;
    std::uint32_t words_;
    std::uint64_t random_;
    std::vector<std::uint64_t> wire_ps_;  // a block on a link
    std::vector<std::uint64_t> edge_ps_;  // and over an edge
    Reach reach_;
    std::vector<std::uint64_t> held_;     // a member: the blocks that it can send
    std::vector<std::uint64_t> claimed_;  // and those that it has or is getting
    std::vector<std::uint32_t> holders_;  // of a block, those included that are getting it
    std::vector<std::uint32_t> wanted_;   // blocks that a member neither has nor is getting
    std::vector<std::uint64_t> free_ps_;  // a link
    std::vector<std::uint32_t>
        first_hand_;           // an edge: how many blocks of its start's are done with
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
