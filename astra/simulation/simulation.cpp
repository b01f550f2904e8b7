#include "astra/simulation/simulation.h"

#include <string_view>
#include <utility>

#include "astra/core/error.h"
#include "astra/simulation/layers.h"
#include "astra/simulation/make_result.h"
#include "astra/simulation/observers.h"
#include "astra/simulation/policy_rehearsal.h"
#include "astra/simulation/run_end.h"
#include "astra/simulation/run_loop.h"

namespace astra {

struct Simulation::Parts {
    Layers layers;
    Observers observers;
    std::string unfinished;
    std::string other_policy;  // taken instead of the configured one, and why

    Parts(const Study& study, const Recording& recording, std::string_view policy = "")
        : layers(study, recording, policy), observers(layers, recording) {}
};

Simulation::Simulation(Study study, const Recording& recording)
    : study_(std::move(study)),
      recording_(recording),
      parts_(std::make_unique<Parts>(study_, recording)) {}

Simulation::~Simulation() = default;

void Simulation::subscribe(SpanSubscriber& subscriber) {
    subscribers_.push_back(&subscriber);
    parts_->observers.subscribe(subscriber);
}

std::uint32_t Simulation::fabric_ranks() const {
    return parts_->layers.topology.ranks();
}

std::string Simulation::link_name(LinkId link) const {
    const Topology& topology = parts_->layers.topology;
    const LinkEnds ends = topology.link_ends(index(link));
    return topology.node_name(ends.from) + " -> " + topology.node_name(ends.to);
}

// The parts of a run with another policy are made anew.
bool Simulation::rehearse(const RunLimits& limits, const Watcher& watcher) {
    const Layers& layers = parts_->layers;
    if (!layers.transfer_policy->rehearses() || layers.transfers.communicators().empty()) {
        return true;
    }
    const auto best = rehearse_policies(study_, limits, watcher);
    if (best && best->is_another()) {
        parts_ = std::make_unique<Parts>(study_, recording_, best->policy);
        parts_->other_policy = best->describe();
        for (SpanSubscriber* subscriber : subscribers_) {
            parts_->observers.subscribe(*subscriber);
        }
    }
    return best.has_value();
}

bool Simulation::run(const RunLimits& limits, const Watcher& watcher) {
    if (!rehearse(limits, watcher)) {
        parts_->unfinished = "interrupted";
        return false;
    }
    Layers& layers = parts_->layers;
    layers.hand_out_recorder();
    layers.start();
    parts_->observers.start();
    try {
        if (!RunLoop(layers).run(limits, watcher)) {
            parts_->unfinished = "interrupted";
            parts_->observers.warn(layers.warnings);
            return false;
        }
    } catch (const SimulationError& error) {
        const std::string text = error.what();
        parts_->unfinished = text.substr(0, text.find('\n'));
        throw;
    }
    parts_->observers.warn(layers.warnings);
    parts_->unfinished = why_unfinished(layers, limits);
    if (!parts_->unfinished.empty()) {
        refuse_unfinished(layers, parts_->unfinished);
    }
    warn_of_the_run(layers);
    return true;
}

const Warnings& Simulation::warnings() const {
    return parts_->layers.warnings;
}

std::uint32_t Simulation::ranks() const {
    return parts_->layers.ranks();
}

std::uint64_t Simulation::ops() const {
    return parts_->layers.replayer.counts().ops;
}

std::uint64_t Simulation::flows() const {
    return parts_->layers.flows.flows();
}

const std::vector<TrainingReport>& Simulation::training() const {
    return parts_->layers.training;
}

std::vector<CommunicatorRecord> Simulation::communicators() const {
    return parts_->layers.transfers.communicators();
}

const std::string& Simulation::output_folder() const {
    return parts_->layers.output.directory;
}

const std::string& Simulation::unfinished() const {
    return parts_->unfinished;
}

RunResult Simulation::result() const {
    RunResult result = make_result(parts_->layers, parts_->observers, parts_->unfinished);
    for (CommunicatorRecord& communicator : result.communicators) {
        if (!parts_->other_policy.empty()) {
            communicator.plan =
                parts_->other_policy + (communicator.plan.empty() ? "" : ": " + communicator.plan);
        }
    }
    return result;
}

RunSchedule Simulation::schedule() const {
    return parts_->observers.schedule();
}

RunResult simulate(Study study, const RunLimits& limits) {
    Simulation simulation(std::move(study));
    simulation.run(limits);
    return simulation.result();
}

}  // namespace astra
