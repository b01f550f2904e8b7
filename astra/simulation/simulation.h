// A whole simulation: reads a study, builds the layers in the order of their dependencies, runs
// them. Nothing is printed or written, and nothing is shared: any number can live in one process,
// each in a thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "astra/core/types.h"
#include "astra/core/warnings.h"
#include "astra/simulation/run_result.h"
#include "astra/simulation/study.h"

namespace astra {

struct RunSchedule;
struct TrainingReport;

struct RunLimits {
    SimTime until{kMaxPs - 1};
    std::uint64_t max_events = ~std::uint64_t{0};
};

struct RunProgress {
    SimTime now;
    std::uint32_t ranks = 0;
    std::uint32_t finished_ranks = 0;
    std::uint64_t events = 0;
};

// What a run keeps beyond what it always does.
struct Recording {
    bool flows = false;      // when each message was on its way, for flows.csv
    bool queues = false;     // links in intervals of output.sample_interval, for queues.csv
    bool ops = false;        // when each op ran, for ops.csv
    bool transfers = false;  // windows of gradient transfers, for windows.csv and windows.svg
    bool timeline = false;   // everything, for subscribe()
    bool schedule = false;   // ops, and what became of transfers, for schedule()
    bool look_for_windows = false;  // of every job, whether or not the study asks for them
};

class SpanSubscriber;

class Simulation {
  public:
    // Checks everything that can be checked without simulating. Throws ConfigError and TraceError.
    explicit Simulation(Study study, const Recording& recording = {});
    ~Simulation();
    Simulation(const Simulation&) = delete;
    Simulation& operator=(const Simulation&) = delete;

    // Tells the subscriber of all that happens. Before run(); the subscriber outlives it. Requires
    // Recording::timeline.
    void subscribe(SpanSubscriber& subscriber);
    // The ranks of the fabric, with or without work: a span's ranks are below it.
    std::uint32_t fabric_ranks() const;
    // "0 -> 1", of a link that a subscriber is told of.
    std::string link_name(LinkId link) const;

    // Called some ten times a second; false stops the run.
    using Watcher = std::function<bool(const RunProgress&)>;

    // Runs to the end; false if the watcher stopped it. Throws SimulationError when ranks cannot
    // finish or a limit is reached, InputError when ranks contradict each other. A policy of
    // transfers that rehearses the others (caramel) does so first.
    bool run(const RunLimits& limits, const Watcher& watcher = {});

    // Warnings so far: those of the study, of loading, and after run() of the run.
    const Warnings& warnings() const;
    std::uint32_t ranks() const;
    std::uint64_t ops() const;
    std::uint64_t flows() const;  // of flow sets
    // What was found out about the gradient transfers of each job that replays traces; without
    // windows where neither the study nor its policy asked for them.
    const std::vector<TrainingReport>& training() const;
    // The groups of these transfers, and what a transfer costs on the idle network.
    std::vector<CommunicatorRecord> communicators() const;
    // output.directory of the study, "" if there is none.
    const std::string& output_folder() const;

    // Why run() stopped before the end, at a limit, in a deadlock or by its watcher; "" otherwise.
    const std::string& unfinished() const;
    // Requires that run() has returned true, or that unfinished() says why not: then it is what was
    // simulated so far. Outlives the simulation.
    RunResult result() const;

    // What the policy of transfers came to (run_schedule.h). Requires a single job, of traces,
    // Recording::schedule and that run() has returned true. Refers to the simulation.
    RunSchedule schedule() const;

  private:
    struct Parts;

    // Where the policy of transfers asks for it; false if the watcher stopped it.
    bool rehearse(const RunLimits& limits, const Watcher& watcher);

    const Study study_;  // as it was given
    const Recording recording_;
    std::vector<SpanSubscriber*> subscribers_;
    std::unique_ptr<Parts> parts_;
};

// Runs a study to its end. Throws what Simulation and its run() throw.
RunResult simulate(Study study, const RunLimits& limits = {});

}  // namespace astra
