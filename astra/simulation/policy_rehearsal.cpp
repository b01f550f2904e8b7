#include "astra/simulation/policy_rehearsal.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "astra/simulation/layers.h"
#include "astra/simulation/run_loop.h"
#include "system/transfer/policy.h"

namespace astra {

namespace {

enum class Outcome { Stopped, Unfinished, Done };

struct Trial {
    Outcome outcome = Outcome::Unfinished;
    Duration time;
};

Trial run(const Study& study,
          std::string_view policy,
          const RunLimits& limits,
          const Simulation::Watcher& watcher) {
    Layers layers(study, {}, policy);
    layers.hand_out_recorder();
    layers.start();
    if (!RunLoop(layers).run(limits, watcher)) {
        return {Outcome::Stopped, {}};
    }
    if (!layers.finished()) {
        return {};
    }
    Duration last;
    for (const RankRecord& rank : layers.replayer.records()) {
        last = std::max(last, Duration{rank.finish.ps});
    }
    return {Outcome::Done, last};
}

Study shortened(Study study) {
    const ConfigView root = study.tree().root();
    const auto workload = root.find("workload");
    const bool is_long = workload && workload->has("iterations") &&
                         workload->at("iterations").as_integer(1, kMaxPs) > kMostRehearsed;
    if (is_long) {
        study.set("workload.iterations", std::to_string(kMostRehearsed));
    }
    return study;
}

}  // namespace

std::string RehearsedPolicy::describe() const {
    return !is_another()
               ? ""
               : fmt::format(
                     "{}, whose rehearsal ended {:.2f} % sooner",
                     policy,
                     100 * (1 - static_cast<double>(time.ps) / static_cast<double>(configured.ps)));
}

std::optional<RehearsedPolicy> rehearse_policies(const Study& study,
                                                 const RunLimits& limits,
                                                 const Simulation::Watcher& watcher) {
    const Study rehearsed = shortened(study);
    const Trial own = run(rehearsed, "", limits, watcher);
    if (own.outcome == Outcome::Stopped) {
        return std::nullopt;
    }
    RehearsedPolicy best{"", own.time, own.time};
    if (own.outcome == Outcome::Unfinished) {
        return best;  // the run itself says why
    }
    for (const TransferPolicyInfo* policy : transfer_policies()) {
        RunLimits shorter = limits;
        shorter.until = {best.time.ps};
        Trial trial;
        try {
            trial = run(rehearsed, policy->name, shorter, watcher);
        } catch (const InputError&) {
            continue;  // it cannot do the study
        }
        if (trial.outcome == Outcome::Stopped) {
            return std::nullopt;
        }
        if (trial.outcome == Outcome::Done && trial.time < best.time) {
            best.policy = policy->name;
            best.time = trial.time;
        }
    }
    return best;
}

}  // namespace astra
