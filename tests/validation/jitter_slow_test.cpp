// What a collective costs when ranks are not in step: every algorithm, kind, backend and transport.
//
// A rank that comes d late is waited for, and no more: the others do their part meanwhile, or begin
// when it has come. What it holds up besides is at most the message that meets the next one on its
// link: T(d) <= T(0) + d + s, where s is the time alone of the collective's largest message, of
// which a ring sends one in each of its directions at once. A transport that asks for packets, or
// counts those on the way, has its turn once more, there and back.
//
// With compute times that vary, L layers of which each rank computes c[r][k] and then reduces over
// the network while it goes on: the critical path waits for the last rank of each,
//   end[k] = max(max over r of (c[r][1] + … + c[r][k]), end[k-1]) + T(0).
//
// Where a member's partners change from step to step, messages take turns at their receiver, so
// that those of different steps do not meet there when the ranks are out of step. Two models have
// queues in which they meet even so: links of a ring that pass whole messages on, first come first
// served (congestion_aware), and switches that trim what a sender begins with unasked (ndp). Behind
// the first of such a queue wait others whose receivers are free: an input-queued switch, which
// carries 2 - sqrt(2) = 58.6 % of its links (Karol, Hluchyj, Morgan, "Input versus output queueing
// on a space-division packet switch", 1987). There T(0) may become T(0) / (2 - sqrt(2)).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "astra/core/recorder/recorder.h"
#include "tests/support/collective_cases.h"
#include "tests/support/experiment.h"

namespace astra::test {
namespace {

constexpr std::uint64_t kBytes = 1U << 20U;

// Whether partners change from step to step, or rings of different strides cross on a link.
bool exchanges(const std::string& algorithm) {
    const std::array<const char*, 8> names = {"bruck",
                                              "halvingDoubling",
                                              "hierarchical",
                                              "multiRing",
                                              "pairwise",
                                              "pat",
                                              "recursiveDoubling",
                                              "tacos"};
    return std::any_of(names.begin(), names.end(), [&](const char* name) {
        return algorithm.rfind(name, 0) == 0;
    });
}

// The largest message of a run, times the messages with which a rank of rings begins at once.
class Step final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override {
        if (span.kind == SpanKind::Message) {
            largest_ = std::max(largest_, span.bytes.count);
            first_ += span.begin.ps == 0 && span.rank == RankId{1} ? 1 : 0;
        }
    }
    std::uint64_t bytes(const std::string& algorithm) const {
        const bool is_ring = algorithm.find("Ring") != std::string::npos;
        return std::max<std::uint64_t>(largest_ * (is_ring ? std::max(first_, 1U) : 1), 1);
    }

  private:
    std::uint64_t largest_ = 0;
    std::uint32_t first_ = 0;
};

class Bench {
  public:
    explicit Bench(const Case& at) : at_(at) {}

    // `waits`: how long each rank computes before its collective, in ps.
    std::uint64_t time(const std::vector<Trace>& traces,
                       const std::string& collectives,
                       std::uint64_t seed = 1) const {
        return run(traces, collectives, seed, nullptr);
    }
    void watch(const std::vector<Trace>& traces, const std::string& collectives, Step& step) const {
        run(traces, collectives, 1, &step);
    }
    // Of one message on an idle network, between the two ranks that are farthest from each other.
    std::uint64_t alone(std::uint64_t bytes) {
        const auto [known, is_new] = alone_.try_emplace(bytes, 0);
        for (std::uint32_t to = 1; is_new && to < at_.fabric.ranks; ++to) {
            std::vector<Trace> traces(at_.fabric.ranks);
            traces[0] = {send(1, 0, to, 0, bytes)};
            traces[to] = {receive(1, 0, to, 0, bytes)};
            known->second = std::max(known->second, time(traces, "{}"));
        }
        return known->second;
    }

  private:
    std::uint64_t run(const std::vector<Trace>& traces,
                      const std::string& collectives,
                      std::uint64_t seed,
                      Step* watch) const {
        Experiment experiment;
        experiment.traces = traces;
        const ScratchFolder folder;
        write_files(experiment, folder);
        const std::string study = fmt::format(
            "workload: {{trace: trace}}\nsystem: {{{}endpoint_delay: 0ns, collectives: {}}}\n"
            "network: {{{}, seed: {}, dimensions: [{}]}}\n",
            at_.fabric.system,
            collectives,
            at_.model.keys(),
            seed,
            at_.fabric.dimensions);
        Recording recording;
        recording.timeline = watch != nullptr;
        Simulation simulation(Study::from_file(folder.write("study.yml", study)), recording);
        if (watch != nullptr) {
            simulation.subscribe(*watch);
        }
        simulation.run({});
        return simulation.result().simulated.ps;
    }

    const Case& at_;
    std::map<std::uint64_t, std::uint64_t> alone_;
};

TraceNode busy(std::uint64_t id, std::uint64_t ps, std::vector<std::uint64_t> parents = {}) {
    TraceNode node = compute(id, 0, std::move(parents));
    node.duration_ps = ps;
    return node;
}

std::vector<Trace> one_late(std::uint32_t ranks,
                            CollectiveKind kind,
                            std::uint32_t late,
                            std::uint64_t by_ps) {
    std::vector<Trace> traces;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        TraceNode node = collective(2, kind, kBytes, {1});
        node.source = 0;
        traces.push_back({busy(1, rank == late ? by_ps : 0), node});
    }
    return traces;
}

constexpr std::size_t kLayers = 6;

// What a connection has found out of the network lives on to the next collective.
std::vector<Trace> back_to_back(std::uint32_t ranks, CollectiveKind kind) {
    Trace trace;
    for (std::uint64_t layer = 1; layer <= kLayers; ++layer) {
        TraceNode node = collective(layer, kind, kBytes);
        node.source = 0;
        trace.push_back(node);
    }
    return everywhere(ranks, trace);
}

class Jitter : public testing::TestWithParam<Case> {
  protected:
    // Of what takes `in_step` when all ranks are in step.
    double worst(const std::string& algorithm, std::uint64_t in_step, std::uint64_t step) const {
        const NetworkModel& model = GetParam().model;
        const bool passes_whole = model.backend->name == "congestion_aware" &&
                                  std::string(GetParam().fabric.name) == "ring";
        const bool is_queued = exchanges(algorithm) && (model.transport == "ndp" || passes_whole);
        return static_cast<double>(in_step) / (is_queued ? 2 - std::sqrt(2.0) : 1) +
               static_cast<double>(step);
    }
    bool has_rate_control() const {
        return GetParam().model.transport == "dcqcn" || GetParam().model.transport == "swift";
    }
    std::uint64_t median_time(const Bench& bench,
                              const std::vector<Trace>& traces,
                              const std::string& collectives) const {
        std::vector<std::uint64_t> times;
        const std::uint64_t seeds = has_rate_control() ? 10 : 1;
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            times.push_back(bench.time(traces, collectives, seed));
        }
        std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
        return times[times.size() / 2];
    }
};

TEST_P(Jitter, ALateRankCostsItsDelayAndAStep) {
    Bench bench(GetParam());
    const std::uint32_t ranks = GetParam().fabric.ranks;
    std::size_t done = 0;
    for (std::uint32_t number = 0; number < kCollectiveKinds; ++number) {
        const auto kind = static_cast<CollectiveKind>(number);
        for (const std::string& algorithm : algorithms(kind)) {
            const std::string collectives = fmt::format("{{{}: {}}}", name_of(kind), algorithm);
            std::uint64_t in_step = 0;
            std::uint64_t step = 0;
            try {
                const std::vector<Trace> together = one_late(ranks, kind, 0, 0);
                in_step = median_time(bench, together, collectives);
                Step watch;
                bench.watch(together, collectives, watch);
                step = bench.alone(watch.bytes(algorithm)) +
                       (GetParam().model.transport.empty() ? 0 : 2 * bench.alone(1));
            } catch (const InputError&) {
                continue;  // not on this network
            }
            ++done;
            for (const std::uint64_t tenths : {1U, 10U, 100U}) {
                for (const std::uint32_t late : {0U, ranks - 3}) {
                    const std::uint64_t by_ps = in_step * tenths / 10;
                    const std::uint64_t time =
                        median_time(bench, one_late(ranks, kind, late, by_ps), collectives);
                    const double most =
                        static_cast<double>(by_ps) + worst(algorithm, in_step, step);
                    EXPECT_LE(static_cast<double>(time), has_rate_control() ? 1.1 * most : most)
                        << name_of(kind) << " by " << algorithm << ", rank " << late << " late by "
                        << by_ps << " ps; in step " << in_step << ", step " << step << ", over by "
                        << static_cast<double>(time - by_ps - in_step) / static_cast<double>(step)
                        << " steps";
                }
            }
        }
    }
    EXPECT_GT(done, 20U);
}

TEST_P(Jitter, NoiseCostsWhatTheCriticalPathSays) {
    const Bench bench(GetParam());
    const std::uint32_t ranks = GetParam().fabric.ranks;
    for (std::uint32_t number = 0; number < kCollectiveKinds; ++number) {
        const auto kind = static_cast<CollectiveKind>(number);
        for (const std::string& algorithm : algorithms(kind)) {
            const std::string collectives = fmt::format("{{{}: {}}}", name_of(kind), algorithm);
            std::uint64_t alone = 0;
            try {
                alone = median_time(bench, one_late(ranks, kind, 0, 0), collectives);
            } catch (const InputError&) {
                continue;
            }
            if (has_rate_control()) {
                alone = std::max(
                    alone, median_time(bench, back_to_back(ranks, kind), collectives) / kLayers);
            }
            for (const double deviation : {0.01, 0.1}) {
                std::mt19937_64 random(number + ranks);
                std::normal_distribution<double> noise(1, deviation);
                std::vector<Trace> traces(ranks);
                std::vector<std::uint64_t> ready(ranks, 0);
                std::uint64_t end = 0;
                for (std::size_t layer = 0; layer < kLayers; ++layer) {
                    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                        const auto ps = static_cast<std::uint64_t>(
                            std::max(0.0, static_cast<double>(alone) * 1.2 * noise(random)));
                        ready[rank] += ps;
                        const std::uint64_t id = 2 * layer + 1;
                        traces[rank].push_back(layer == 0 ? busy(id, ps) : busy(id, ps, {id - 2}));
                        TraceNode node = collective(id + 1, kind, kBytes, {id});
                        node.source = 0;
                        traces[rank].push_back(node);
                    }
                    end = std::max(end, *std::max_element(ready.begin(), ready.end())) + alone;
                }
                const double share = has_rate_control() ? 0.1 : deviation > 0.05 ? 0.05 : 0.02;
                const std::uint64_t time = median_time(bench, traces, collectives);
                const double more =
                    kLayers * (worst(algorithm, alone, 0) - static_cast<double>(alone));
                EXPECT_LE(static_cast<double>(time),
                          (static_cast<double>(end) + more) * (1 + share))
                    << name_of(kind) << " by " << algorithm << ", deviation " << deviation << ": "
                    << static_cast<double>(time) / static_cast<double>(end);
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Jitter,
                         testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& test) {
                             return test.param.name();
                         });

}  // namespace
}  // namespace astra::test
