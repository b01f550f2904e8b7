// Random sets of traces in which ranks issue independent collectives and messages in random order,
// and what must hold when they run: all end, and what the traces name alike has run together.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "astra/results/result_files.h"
#include "tests/support/experiment.h"
#include "tests/support/network_models.h"

namespace astra::test {

class IndependentCollectives {
  public:
    explicit IndependentCollectives(std::uint64_t seed) : random_(seed) {
        choose_machine();
        choose_groups();
        experiment_.traces.resize(experiment_.ranks());
        const std::uint64_t events = pick(0, 9) == 0 ? pick(15, 50) : pick(3, 14);
        for (std::uint64_t event = 0; event < events; ++event) {
            if (pick(0, 3) == 0) {
                add_message(event);
            } else {
                add_collective(event);
            }
        }
        for (std::uint32_t rank = 0; rank < experiment_.ranks(); ++rank) {
            shuffle_ids(rank);
        }
    }

    const Experiment& experiment() const { return experiment_; }

    // The members of a collective have its result after the last of them has come to it; a receive
    // ends after its send has begun.
    void check(const RunResult& result) const {
        struct Span {
            SimTime last_start;
            SimTime first_end{kMaxPs};
        };
        std::map<std::string, Span> spans;
        for (const OpRecord& op : result.ops) {
            const std::string name(op.name);
            Span& span = spans[name];
            if (name.starts_with("message")) {
                (op.kind == "send" ? span.last_start : span.first_end) =
                    op.kind == "send" ? op.start : op.end;
            } else {
                span.last_start = std::max(span.last_start, op.start);
                span.first_end = std::min(span.first_end, op.end);
            }
        }
        for (const auto& [name, span] : spans) {
            if (!name.starts_with("compute")) {
                EXPECT_LE(span.last_start, span.first_end) << name;
            }
        }
    }

  private:
    std::uint64_t pick(std::uint64_t least, std::uint64_t most) {
        return least + random_() % (most - least + 1);
    }

    void choose_machine() {
        constexpr std::array kinds = {"Ring", "Switch", "FullyConnected"};
        experiment_.dimensions.resize(pick(1, 2));
        for (NetworkDimension& dimension : experiment_.dimensions) {
            dimension.topology = kinds[pick(0, 2)];
            dimension.ranks = static_cast<std::uint32_t>(pick(2, 4));
            dimension.bandwidth = pick(10, 100);
        }
        const std::vector<NetworkModel> models = network_models();
        const NetworkModel& model = models[pick(0, models.size() - 1)];
        experiment_.backend = std::string(model.backend->name);
        if (!model.transport.empty()) {
            experiment_.settings.push_back("network.packet.transport=" + model.transport);
        }
        experiment_.algorithms = {pick(0, 1) == 0 ? "ring" : "direct"};
        experiment_.chunks = static_cast<std::uint32_t>(pick(1, 3));
        experiment_.scheduling = pick(0, 1) == 0 ? "LIFO" : "FIFO";
        experiment_.rendezvous = pick(0, 3) == 0;
        experiment_.settings.push_back(fmt::format("system.streams.communication={}", pick(1, 3)));
        if (pick(0, 1) == 0) {
            experiment_.settings.emplace_back("system.compute_noise.deviation=0.3");
            experiment_.settings.push_back(
                fmt::format("system.compute_noise.seed={}", pick(1, 1000)));
        }
    }
    void choose_groups() {
        std::vector<std::uint32_t> all(experiment_.ranks());
        std::iota(all.begin(), all.end(), 0U);
        experiment_.groups["g0"] = all;
        for (std::uint64_t group = pick(1, 4); group > 0; --group) {
            std::shuffle(all.begin(), all.end(), random_);
            const auto size = static_cast<std::ptrdiff_t>(pick(2, all.size()));
            experiment_.groups[fmt::format("g{}", group)] = {all.begin(), all.begin() + size};
        }
    }

    void add_message(std::uint64_t event) {
        const std::uint32_t ranks = experiment_.ranks();
        const auto from = static_cast<std::uint32_t>(pick(0, ranks - 1));
        const auto to = static_cast<std::uint32_t>((from + pick(1, ranks - 1)) % ranks);
        const std::uint64_t size = pick(1, 200'000);
        const auto tag = static_cast<std::uint32_t>(event);
        const std::string name = fmt::format("message {}", event);
        TraceNode sends = send(0, from, to, tag, size);
        TraceNode receives = receive(0, from, to, tag, size);
        sends.name = name;
        receives.name = name;
        experiment_.traces[from].push_back(std::move(sends));
        experiment_.traces[to].push_back(std::move(receives));
    }
    // Few sizes and kinds, so that many ask for the same and their names tell.
    void add_collective(std::uint64_t event) {
        constexpr std::array kinds = {
            CollectiveKind::AllReduce, CollectiveKind::AllReduce, CollectiveKind::AllToAll};
        const auto group =
            std::next(experiment_.groups.begin(),
                      static_cast<std::ptrdiff_t>(pick(0, experiment_.groups.size() - 1)));
        TraceNode node = collective(0, kinds[pick(0, 2)], pick(1, 2) * 65536, {}, group->first);
        node.name = fmt::format("collective {}", event);
        for (const std::uint32_t rank : group->second) {
            experiment_.traces[rank].push_back(node);
        }
    }

    // Each op comes after a computation, which depends on some of the ops of earlier events, so
    // that there is an order. Ids are those of a random order.
    void shuffle_ids(std::uint32_t rank) {
        Trace& trace = experiment_.traces[rank];
        const std::size_t size = trace.size();
        std::vector<std::uint64_t> ids(size);
        std::iota(ids.begin(), ids.end(), 1U);
        if (pick(0, 3) > 0) {
            std::shuffle(ids.begin(), ids.end(), random_);
        }
        for (std::size_t i = 0; i < size; ++i) {
            TraceNode work = compute(ids[i] * 2, pick(0, 60));
            work.on_cpu = pick(0, 1) == 0;
            work.name = "compute";
            for (std::size_t parent = 0; parent < i; ++parent) {
                if (pick(0, 4) == 0) {
                    work.parents.push_back(ids[parent] * 2 + 1);
                }
            }
            trace[i].id = ids[i] * 2 + 1;
            trace[i].parents = {ids[i] * 2};
            trace.push_back(std::move(work));
        }
    }

    std::mt19937_64 random_;
    Experiment experiment_;
};

// Runs the set twice.
inline void check_independent_collectives(std::uint64_t seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const IndependentCollectives set(seed);
    std::array<std::string, 2> json;
    for (std::string& text : json) {
        RunResult result;
        ASSERT_NO_THROW(result = run_recording_ops(set.experiment()));
        set.check(result);
        result.warnings.clear();  // they name files
        text = result_json(result);
    }
    EXPECT_TRUE(json[0] == json[1]);
}

}  // namespace astra::test
