// How long a program takes alone on an empty network, without simulating it: a pure function of the
// program, the ranks that run it, the size and the costs of messages.
//
// Steps follow each other as the program says; a step goes on when its last message has come, been
// taken (endpoint delay) and reduced (γ). Of a program that is the same for every member one member
// is followed, and what the others send at the same time counts as load on the links (α-β:
// message_paths.h): exact where all paths are alike. Where they are not, and where members differ,
// the program runs by itself in a sandbox, unless its messages are too many.
//
// Cost: O(stored sends) for one member, after a survey of the paths; in a sandbox what the run
// costs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "network/backend/backend.h"
#include "system/program/program.h"
#include "system/run/message_costs.h"
#include "system/tuning/message_paths.h"

namespace astra {

// A program with what is needed to predict it at any size.
class PredictedProgram {
  public:
    // `ranks` of the fabric, a member each; they differ.
    PredictedProgram(Program program, std::vector<std::uint32_t> ranks, MessagePaths& paths);

    const Program& program() const { return program_; }
    const std::vector<std::uint32_t>& ranks() const { return ranks_; }
    // The cost of the i-th stored send, if every member does the same.
    const PatternCost& pattern_of(std::uint32_t send) const { return patterns_[pattern_of_[send]]; }
    // Whether one member stands for all.
    bool one_for_all() const { return one_for_all_; }
    // Whether all messages cross two links, as under one switch. Of programs that are the same for
    // every member only.
    bool one_switch() const;

  private:
    void survey(MessagePaths& paths);
    bool may_stand_for_all() const;

    Program program_;
    std::vector<std::uint32_t> ranks_;
    std::vector<PatternCost> patterns_;
    std::vector<std::uint32_t> pattern_of_;
    bool one_for_all_ = false;
};

// Predicts for a network that is empty. A backend may have another one answer in its place
// (BackendInfo::predicted_by), as packets are taken for fair flows.
class Predictor {
  public:
    // All references outlive this; `network` is the study's section, for the backend's keys.
    Predictor(Routing& routing,
              const BackendInfo& backend,
              const ConfigView& network,
              const EndpointCosts& endpoint);

    PredictedProgram survey(Program program, std::vector<std::uint32_t> ranks) {
        return {std::move(program), std::move(ranks), paths_};
    }
    // From the common start of all members to the end of the last one. `size` is the whole buffer.
    Duration predict(const PredictedProgram& program, Bytes size, const MessageCosts& costs);

  private:
    Routing& routing_;
    const BackendInfo& backend_;
    ConfigTree no_keys_;
    ConfigView keys_;
    EndpointCosts endpoint_;
    MessagePaths paths_;
};

}  // namespace astra
