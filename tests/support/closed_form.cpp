#include "tests/support/closed_form.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

namespace astra::test {

namespace {

constexpr std::uint64_t kBitsPerGiga = 8'000'000'000ULL;
constexpr std::uint64_t kBitsPerGibi = 8ULL << 30U;

}  // namespace

std::uint64_t transfer_ps(std::uint64_t bytes, std::uint64_t bits_per_s) {
    const unsigned __int128 bits = static_cast<unsigned __int128>(bytes) * 8'000'000'000'000ULL;
    return static_cast<std::uint64_t>((bits + bits_per_s - 1) / bits_per_s);
}

ClosedForm::ClosedForm(const Experiment& experiment) : experiment_(experiment) {
    const double scaled = static_cast<double>(experiment.endpoint_delay_ns * 1000) *
                          experiment.injection_scale.value_or(1.0);
    delay_ps_ = static_cast<std::uint64_t>(std::llround(scaled));
}

std::uint64_t ClosedForm::wire(std::uint64_t bytes, std::size_t dimension) const {
    const std::uint64_t unit = experiment_.network_unit == "GB" ? kBitsPerGiga : kBitsPerGibi;
    return transfer_ps(bytes, experiment_.dimensions[dimension].bandwidth * unit);
}

std::uint64_t ClosedForm::travel(std::uint64_t bytes,
                                 std::uint64_t hops,
                                 std::size_t dimension) const {
    const std::uint64_t latency = experiment_.dimensions[dimension].latency_ps;
    return hops * latency + (aware() ? hops : 1) * wire(bytes, dimension);
}

std::uint64_t ClosedForm::reduction(std::uint64_t bytes) const {
    return experiment_.memory_bandwidth == 0
               ? 0
               : 3 * transfer_ps(bytes, experiment_.memory_bandwidth * kBitsPerGiga);
}

const std::string& ClosedForm::algorithm(std::size_t dimension) const {
    return experiment_.algorithms[std::min(dimension, experiment_.algorithms.size() - 1)];
}

// Links between two ranks of a row.
std::uint64_t ClosedForm::hops(std::uint64_t distance, std::size_t dimension) const {
    const NetworkDimension& network = experiment_.dimensions[dimension];
    if (network.topology == "Switch") {
        return 2;
    }
    return network.topology == "Ring" ? std::min<std::uint64_t>(distance, network.ranks - distance)
                                      : 1;
}

std::uint64_t ClosedForm::phase(CollectiveKind kind,
                                std::uint64_t bytes,
                                std::size_t dimension) const {
    const std::string& name = algorithm(dimension);
    if (name == "ring") {
        return ring(kind, bytes, dimension);
    }
    if (name.starts_with("direct")) {
        return direct(kind, bytes, dimension);
    }
    if (name == "halvingDoubling") {
        return halving_doubling(kind, bytes, dimension);
    }
    throw std::logic_error("no closed form of " + name);
}

// m = S/n to the next rank in each step; every message received costs d, a reduced one R(m) as
// well.
//   all_reduce      d + 2(n-1)(C(m) + d) + (n-1) R(m)
//   reduce_scatter  d + (n-1)(C(m) + d + R(m))          all_gather  d + (n-1)(C(m) + d)
//   all_to_all      d + k (C(m) + d), k = n(n-1)/2: the block for the rank j ahead moves j times
std::uint64_t ClosedForm::ring(CollectiveKind kind,
                               std::uint64_t bytes,
                               std::size_t dimension) const {
    const std::uint64_t n = experiment_.dimensions[dimension].ranks;
    const std::uint64_t m = bytes / n;
    const std::uint64_t step = travel(m, hops(1, dimension), dimension) + delay_ps_;
    switch (kind) {
        case CollectiveKind::AllReduce:
            return delay_ps_ + 2 * (n - 1) * step + (n - 1) * reduction(m);
        case CollectiveKind::ReduceScatter:
            return delay_ps_ + (n - 1) * (step + reduction(m));
        case CollectiveKind::AllGather:
            return delay_ps_ + (n - 1) * step;
        default:
            return delay_ps_ + n * (n - 1) / 2 * step;
    }
}

// One round of n-1 messages of m = S/n, the farthest one h links away: X = C(m, h). On a switch of
// congestion_aware they leave one after the other and meet nowhere: X = 2 latency + (n-1 + 1)
// wire(m). With a window of 1 a message leaves when the one before has been dealt with: n-1 steps.
//   reduce_scatter  2d + X + R(m)    all_gather, all_to_all  2d + X    all_reduce  3d + 2X + R(m)
std::uint64_t ClosedForm::direct(CollectiveKind kind,
                                 std::uint64_t bytes,
                                 std::size_t dimension) const {
    const NetworkDimension& network = experiment_.dimensions[dimension];
    const std::uint64_t n = network.ranks;
    const std::uint64_t m = bytes / n;
    const std::uint64_t far = hops(n / 2, dimension);
    if (algorithm(dimension) == "direct1" && network.topology != "Ring") {
        return delay_ps_ + (n - 1) * (travel(m, far, dimension) + delay_ps_);
    }
    std::uint64_t round = travel(m, far, dimension);
    if (aware() && network.topology == "Switch") {
        round = 2 * network.latency_ps + n * wire(m, dimension);
    } else if (aware() && network.topology == "Ring") {
        throw std::logic_error("no closed form of direct on a shared ring");
    }
    const std::uint64_t reduced =
        kind == CollectiveKind::AllReduce || kind == CollectiveKind::ReduceScatter ? reduction(m)
                                                                                   : 0;
    const std::uint64_t rounds = kind == CollectiveKind::AllReduce ? 2 : 1;
    return delay_ps_ + rounds * (round + delay_ps_) + reduced;
}

// n = 2^L. Step i of halving exchanges S/2^i with the rank 2^(i-1) away. Of what arrives the half
// that the next step sends is reduced at once, R(S/2^(i+1)), the other half while the next message
// is on the way; the last message is reduced whole:
//   reduce_scatter  d + Σ_{i=1..L} (C(S/2^i, h_i) + d) + Σ_{i=2..L} R(S/2^i) + R(S/2^L)
//   all_gather      d + Σ_{i=1..L} (C(S/2^i, h_i) + d)      all_reduce  both, with the first d once
std::uint64_t ClosedForm::halving_doubling(CollectiveKind kind,
                                           std::uint64_t bytes,
                                           std::size_t dimension) const {
    const NetworkDimension& network = experiment_.dimensions[dimension];
    if (aware() && network.topology == "Ring") {
        throw std::logic_error("no closed form of halvingDoubling on a shared ring");
    }
    std::uint64_t exchanges = 0;
    std::uint64_t reductions = 0;
    for (std::uint64_t distance = 1; distance < network.ranks; distance *= 2) {
        const std::uint64_t part = bytes / (2 * distance);
        const bool last = 2 * distance == network.ranks;
        exchanges += travel(part, hops(distance, dimension), dimension) + delay_ps_;
        reductions += last ? reduction(part) : reduction(part / 2);
    }
    switch (kind) {
        case CollectiveKind::AllReduce:
            return delay_ps_ + 2 * exchanges + reductions;
        case CollectiveKind::ReduceScatter:
            return delay_ps_ + exchanges + reductions;
        default:
            return delay_ps_ + exchanges;
    }
}

// n = 2^L ranks: the root above a complete tree of depth L-1. A leaf sends at d; each of the L
// levels up costs C(S, h) + d + R(S), each level down C(S, h) + d.
FinishRange ClosedForm::double_binary_tree(std::uint64_t bytes) const {
    std::uint64_t up = delay_ps_;
    std::uint64_t down = 0;
    for (std::uint64_t distance = 1; distance < experiment_.dimensions[0].ranks; distance *= 2) {
        const std::uint64_t level = travel(bytes, hops(distance, 0)) + delay_ps_;
        up += level + reduction(bytes);
        down += level;
    }
    return {up + wire(bytes), up + down};
}

std::vector<ClosedForm::Phase> ClosedForm::phases(CollectiveKind kind,
                                                  std::uint64_t bytes,
                                                  std::uint32_t dimensions) const {
    std::vector<std::size_t> used;
    for (std::size_t k = 0; k < experiment_.dimensions.size(); ++k) {
        if ((dimensions >> k & 1U) != 0) {
            used.push_back(k);
        }
    }
    // below[i]: the product of the sizes of the used dimensions before the i-th.
    std::vector<std::uint64_t> below{1};
    for (const std::size_t k : used) {
        below.push_back(below.back() * experiment_.dimensions[k].ranks);
    }
    const std::uint64_t whole = kind == CollectiveKind::AllGather ? bytes * below.back() : bytes;
    std::vector<Phase> result;
    const auto add = [&](std::size_t i, CollectiveKind what, std::uint64_t size, bool returning) {
        result.push_back({used[i], returning, phase(what, size, used[i])});
    };
    const bool folds = kind == CollectiveKind::AllReduce && !experiment_.baseline;
    for (std::size_t i = 0; i < used.size(); ++i) {
        const bool turns = i + 1 == used.size();
        if (folds) {
            add(i, turns ? kind : CollectiveKind::ReduceScatter, whole / below[i], false);
        } else if (kind == CollectiveKind::AllGather) {
            const std::size_t down = used.size() - 1 - i;
            add(down, kind, whole / below[down], false);
        } else {
            add(i, kind, kind == CollectiveKind::ReduceScatter ? whole / below[i] : whole, false);
        }
    }
    for (std::size_t i = used.size(); folds && i-- > 1;) {
        add(i - 1, CollectiveKind::AllGather, whole / below[i - 1], true);
    }
    return result;
}

std::uint64_t ClosedForm::collective(CollectiveKind kind,
                                     std::uint64_t bytes,
                                     std::uint32_t dimensions) const {
    return pipeline(phases(kind, bytes / experiment_.chunks, dimensions));
}

// All ranks are in step, so one stands for all: a queue serves at most ceil(active / queues) chunks
// at a time, first come first served. A chunk that ends a phase joins its next queue before its old
// place is given away. With two queues the way back of an all_reduce has one of its own, and no
// other phase uses it.
std::uint64_t ClosedForm::pipeline(const std::vector<Phase>& phases) const {
    const std::uint32_t queues = experiment_.queues.value_or(1);
    const std::uint32_t places = (experiment_.active_chunks + queues - 1) / queues;
    struct Server {
        std::deque<std::uint32_t> waiting;
        std::uint32_t running = 0;
    };
    std::map<std::size_t, Server> servers;
    const auto server_of = [&](std::size_t phase) -> Server& {
        const bool second = queues > 1 && phases[phase].returning;
        return servers[2 * phases[phase].dimension + (second ? 1 : 0)];
    };
    std::vector<std::size_t> phase_of(experiment_.chunks, 0);
    std::multimap<std::uint64_t, std::uint32_t> ends;
    std::uint64_t now = 0;
    const auto top_up = [&](Server& server) {
        for (; server.running < places && !server.waiting.empty(); ++server.running) {
            const std::uint32_t chunk = server.waiting.front();
            server.waiting.pop_front();
            ends.emplace(now + phases[phase_of[chunk]].time_ps, chunk);
        }
    };
    for (std::uint32_t chunk = 0; chunk < experiment_.chunks; ++chunk) {
        server_of(0).waiting.push_back(chunk);
    }
    top_up(server_of(0));
    while (!ends.empty()) {
        const auto [end, chunk] = *ends.begin();
        ends.erase(ends.begin());
        now = end;
        Server& old_server = server_of(phase_of[chunk]);
        --old_server.running;
        if (++phase_of[chunk] < phases.size()) {
            server_of(phase_of[chunk]).waiting.push_back(chunk);
        }
        top_up(old_server);
        if (phase_of[chunk] < phases.size()) {
            top_up(server_of(phase_of[chunk]));
        }
    }
    return now;
}

}  // namespace astra::test
