// Chooses algorithm and protocol of a phase by its size: what a table of the study says, or the
// least predicted time on an empty network (prediction.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "network/routing/routing.h"
#include "system/tuning/algorithm_choice.h"
#include "system/tuning/prediction.h"
#include "system/tuning/tuning_config.h"

namespace astra {

class Tuner {
  public:
    // All references outlive the tuner.
    Tuner(Routing& routing,
          const BackendInfo& backend,
          const ConfigView& network,
          const TuningConfig& config,
          const EndpointCosts& endpoint);

    // Whether what runs depends on the size.
    bool depends_on_size(const AlgorithmChoice& choice) const {
        return choice.by_size() || (choice.algorithm != nullptr && !config_.protocols.empty());
    }

    struct Phase {
        ProgramShape shape;                    // without parameter, variant and direction
        std::span<const std::uint32_t> ranks;  // a member each
        Bytes size;                            // of what the phase works on
        Bytes buffer;                          // of the whole collective, as tables count
    };
    struct Pick {
        AlgorithmChoice choice;  // a registered algorithm
        const Protocol* protocol = nullptr;
        Duration predicted;
        std::string name() const;  // for people: "ring/LL"
    };
    // A size-dependent choice made for a phase; `refusal` says why there is none. Cost: a
    // prediction for each candidate and protocol; what they need is kept.
    Pick pick(const AlgorithmChoice& choice, const Phase& phase, std::string& refusal);

    // Why the algorithm, of the registered ones, cannot run there; "" if it can.
    std::string refusal(const AlgorithmChoice& choice, const Phase& phase);

  private:
    std::vector<AlgorithmChoice> candidates(const ProgramShape& shape) const;
    const PredictedProgram& program_of(const AlgorithmChoice& choice, const Phase& phase);
    void try_all_protocols(const AlgorithmChoice& choice,
                           const std::string& protocol,
                           const Phase& phase,
                           Pick& best);

    using ProgramKey =
        std::pair<std::pair<std::string_view, ProgramShape>, std::vector<std::uint32_t>>;

    const TuningConfig& config_;
    Predictor predictor_;
    std::map<ProgramKey, std::unique_ptr<const PredictedProgram>> programs_;
    std::unique_ptr<const PredictedProgram> large_;  // the last one that is too large to be kept
};

}  // namespace astra
