#include "system/tuning/prediction.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "astra/config/config_tree.h"
#include "astra/core/transfer_clock.h"
#include "system/run/sandbox.h"
#include "system/run/step_costs.h"

namespace astra {

namespace {

// How many pairs a survey looks at in all; of larger groups it takes the first members.
constexpr std::uint64_t kMostPairs = std::uint64_t{1} << 18U;
// How many links all messages of a program may cross for it to run in a sandbox.
constexpr std::uint64_t kMostCrossings = std::uint64_t{1} << 16U;

// Follows member 0.
class OneForAll {
  public:
    OneForAll(const PredictedProgram& program,
              Bytes size,
              const MessageCosts& costs,
              const EndpointCosts& endpoint,
              MessagePaths& paths)
        : source_(program),
          program_(program.program()),
          sizes_(program_.cut(size)),
          memory_(endpoint.memory),
          paths_(paths),
          arrival_ps_(program_.stored_sends()) {
        costs_.begin(costs, endpoint.delay, memory_, false);
    }

    Duration run() {
        clock_.now_ps = costs_.first_step({}).ps;
        for (const Program::Step& step : program_.steps(0)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                take(program_.receive(step.first_receive + i));
            }
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                send(step.first_send + i);
            }
        }
        return {clock_.end_ps()};
    }

  private:
    void send(std::uint32_t send) {
        const PatternCost& pattern = source_.pattern_of(send);
        const Bytes bytes = program_.bytes_of(program_.send(send).payload, 0, sizes_);
        std::uint64_t& free_ps = free_ps_[pattern.first_link];
        const std::uint64_t at_ps =
            std::max(costs_.leaves({clock_.now_ps}, bytes, &handed_over_ps_).ps, free_ps);
        const auto passage = paths_.pass(pattern, costs_.on_wire(bytes), at_ps);
        free_ps = passage.free_ps;
        arrival_ps_[send] = passage.arrival_ps;
    }
    void take(const Program::Receive& receive) {
        const std::uint64_t come_ps = arrival_ps_[receive.send];
        if (!receive.reduce) {
            costs_.take(clock_, come_ps);
            return;
        }
        costs_.reduce(clock_,
                      come_ps,
                      program_.bytes_of(receive.payload, 0, sizes_),
                      {receive.urgent, receive.payload.count});
    }

    const PredictedProgram& source_;
    const Program& program_;
    Program::BlockSizes sizes_;
    TransferClock memory_;
    StepCosts costs_;
    MessagePaths& paths_;
    std::vector<std::uint64_t> arrival_ps_;                     // a stored send
    std::unordered_map<std::uint32_t, std::uint64_t> free_ps_;  // by first link
    StepClock clock_;
    std::uint64_t handed_over_ps_ = 0;
};

}  // namespace

PredictedProgram::PredictedProgram(Program program,
                                   std::vector<std::uint32_t> ranks,
                                   MessagePaths& paths)
    : program_(std::move(program)), ranks_(std::move(ranks)) {
    if (program_.relation() != Relation::Absolute) {
        survey(paths);
        one_for_all_ = may_stand_for_all();
    }
}

// Exactly if no link carries two messages, or one message follows the other on all links alike.
bool PredictedProgram::may_stand_for_all() const {
    const bool exact =
        std::all_of(patterns_.begin(), patterns_.end(), [&](const PatternCost& pattern) {
            return pattern.alike && (pattern.load == 1 || patterns_.size() == 1);
        });
    std::uint64_t crossed = 0;
    for (const std::uint32_t number : pattern_of_) {
        for (const PatternCost::Crossing& crossing : patterns_[number].crossings) {
            crossed += std::uint64_t{crossing.links} * program_.members();
        }
    }
    return exact || crossed > kMostCrossings;
}

void PredictedProgram::survey(MessagePaths& paths) {
    std::map<std::uint32_t, std::uint32_t> number;  // of a peer's pattern
    std::vector<std::uint32_t> peers;
    for (std::uint32_t i = 0; i < program_.stored_sends(); ++i) {
        const std::uint32_t peer = program_.send(i).peer;
        const auto [known, fresh] = number.emplace(peer, static_cast<std::uint32_t>(peers.size()));
        if (fresh) {
            peers.push_back(peer);
        }
        pattern_of_.push_back(known->second);
    }
    const std::uint64_t looked_at = std::clamp<std::uint64_t>(
        kMostPairs / std::max<std::size_t>(peers.size(), 1), 1, program_.members());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (const std::uint32_t peer : peers) {
        pairs.clear();
        for (std::uint32_t member = 0; member < looked_at; ++member) {
            pairs.emplace_back(ranks_[member], ranks_[program_.peer_of(member, peer)]);
        }
        patterns_.push_back(paths.pattern(pairs));
    }
}

bool PredictedProgram::one_switch() const {
    return !patterns_.empty() &&
           std::all_of(patterns_.begin(), patterns_.end(), [](const PatternCost& pattern) {
               return pattern.one_switch;
           });
}

Predictor::Predictor(Routing& routing,
                     const BackendInfo& backend,
                     const ConfigView& network,
                     const EndpointCosts& endpoint)
    : routing_(routing),
      backend_(backend.predicted_by == nullptr ? backend : *backend.predicted_by),
      no_keys_(ConfigTree::empty_map("prediction")),
      keys_(backend.predicted_by == nullptr ? network : no_keys_.root()),
      endpoint_(endpoint),
      paths_(routing, backend_) {}

Duration Predictor::predict(const PredictedProgram& program,
                            Bytes size,
                            const MessageCosts& costs) {
    if (program.one_for_all()) {
        return OneForAll(program, size, costs, endpoint_, paths_).run();
    }
    return Sandbox(routing_, backend_, keys_)
        .time(program.program(), program.ranks(), size, costs, endpoint_);
}

}  // namespace astra
