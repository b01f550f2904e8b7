#include "astra/simulation/simulation.h"

#include <utility>

#include "astra/simulation/layers.h"
#include "astra/simulation/make_result.h"
#include "astra/simulation/observers.h"
#include "astra/simulation/run_end.h"
#include "astra/simulation/run_loop.h"

namespace astra {

struct Simulation::Parts {
    Layers layers;
    Observers observers;
    std::string unfinished;

    Parts(Study study, const Recording& recording)
        : layers(std::move(study), recording), observers(layers, recording) {}
};

Simulation::Simulation(Study study, const Recording& recording)
    : parts_(std::make_unique<Parts>(std::move(study), recording)) {}

Simulation::~Simulation() = default;

void Simulation::subscribe(SpanSubscriber& subscriber) {
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

bool Simulation::run(const RunLimits& limits, const Watcher& watcher) {
    Layers& layers = parts_->layers;
    layers.hand_out_recorder();
    layers.start();
    parts_->observers.start();
    if (!RunLoop(layers).run(limits, watcher)) {
        parts_->unfinished = "interrupted";
        parts_->observers.warn(layers.warnings);
        return false;
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
    return make_result(parts_->layers, parts_->observers, parts_->unfinished);
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
