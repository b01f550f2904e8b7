#include "tests/system/algorithms/collective_times.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "tests/support/experiment.h"

namespace astra::times {

Time halving(const Costs& t, std::uint64_t members, bool reduces) {
    Time sum = 0;
    for (std::uint64_t parts = 2; parts <= members; parts *= 2) {
        sum += t.step(kSize / parts);
        // Half of it is reduced at once, the other while the next message is in flight.
        sum += reduces ? Costs::r(parts == members ? kSize / parts : kSize / parts / 2) : 0;
    }
    return sum;
}

Time bruck(const Costs& t, bool reduces) {
    Time sum = 0;
    for (std::uint64_t distance = 1; distance < t.n; distance *= 2) {
        const std::uint64_t count = std::min(distance, t.n - distance);
        const std::uint64_t later = std::min(count, distance / 2);
        sum += t.step(count * t.m()) + (reduces ? Costs::r((count - later) * t.m()) : 0);
    }
    return sum;
}

Time pat(const Costs& t, bool reduces) {
    Time sum = 0;
    for (std::uint64_t distance = 1; distance < t.n; distance *= 2) {
        std::uint64_t count = 0;
        for (std::uint64_t offset = 0; offset + distance < t.n; offset += 2 * distance) {
            ++count;
        }
        sum += t.step(count * t.m()) + (reduces ? Costs::r(count * t.m()) : 0);
    }
    return sum;
}

Time pat2(const Costs& t, bool reduces) {
    const std::uint64_t more = t.n / 2 - 1;
    return t.step(t.m()) + more * t.step(2 * t.m()) +
           (reduces ? Costs::r(t.m()) + more * Costs::r(2 * t.m()) : 0);
}

Time hierarchical2(const Costs& t, bool reduces) {
    const std::uint64_t across = t.n / 2 - 1;
    return t.step(kSize / 2) + across * t.step(t.m()) +
           (reduces ? Costs::r(kSize / 2) + across * Costs::r(t.m()) : 0);
}

Time behind(const Costs& t, std::uint64_t slices, std::uint64_t bytes) {
    return t.network.aware() ? (slices - 1) * Costs::wire(bytes) : 0;
}

std::uint64_t power_below(const Costs& t) {
    return std::bit_floor(t.n);
}

Time folding(const Costs& t) {
    return t.n == power_below(t) ? 0 : 2 * t.step(kSize) + Costs::r(kSize);
}

std::uint64_t rings(const Costs& t) {
    std::uint64_t count = 0;
    for (std::uint64_t s = 1; s < t.n; ++s) {
        std::uint64_t a = s;
        for (std::uint64_t b = t.n; b != 0;) {
            const std::uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        count += a == 1 ? 1 : 0;
    }
    return std::min<std::uint64_t>(count, 8);
}

Time rings_side_by_side(const Costs& t, std::uint64_t k) {
    return t.d + (t.n - 1) * (2 * t.step(t.m() / k, k) + Costs::r(t.m() / k));
}

Time reducing_rings(const Costs& t, std::uint64_t k) {
    return t.d + (t.n - 1) * (t.step(t.m() / k, k) + Costs::r(t.m() / k));
}

Time up_and_down(const Costs& t, std::uint64_t bytes) {
    return t.d + t.levels() * (2 * t.step(bytes) + Costs::r(bytes));
}

namespace {

std::string study(const Row& row, const Network& network, std::uint64_t ranks, std::uint64_t size) {
    return fmt::format(
        "workload: {{generate: {{kind: collective, collective: {0}, bytes: {1}B}}, "
        "all_gather_size: total}}\n"
        "system: {{endpoint_delay: 10ns, local_memory_bandwidth: 1000GB/s, "
        "collectives: {{{0}: {2}}}}}\n"
        "network: {{backend: {3}, dimensions: [{{topology: {4}, ranks: {5}, bandwidth: 100GB/s, "
        "latency: 500ns}}]}}\n",
        name_of(row.kind),
        size,
        row.algorithm,
        network.backend,
        network.topology,
        ranks);
}

std::vector<std::uint64_t> members_of(Sizes sizes) {
    switch (sizes) {
        case Sizes::PowersOfTwo:
            return {2, 4, 8, 16, 32};
        case Sizes::Any:
            return {2, 3, 4, 6, 8, 12, 16};
        case Sizes::ThreeHalves:
            return {3, 6, 12};
        case Sizes::FromEight:
            return {8, 16, 32};
        case Sizes::EvenFromFour:
            break;
    }
    return {4, 6, 8, 12, 16};
}

}  // namespace

void expect_closed_form(const Row& row) {
    for (const char* backend : {"congestion_unaware", "congestion_aware"}) {
        for (const char* topology : {"fully_connected", "switch"}) {
            const Network network{backend, topology};
            if (row.shares_a_switch && network.aware() && network.switched()) {
                continue;
            }
            for (const std::uint64_t n : members_of(row.sizes)) {
                const RunResult result = test::run_study(study(row, network, n, kSize));
                EXPECT_EQ(result.simulated.ps, row.expected({network, n}))
                    << row << " of " << n << ", " << backend << ", " << topology;
            }
        }
    }
}

}  // namespace astra::times
