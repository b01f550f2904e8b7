// When and in which pieces the gradient transfers of training go onto the network, and in which
// order ops are computed. To add a policy: a .cpp in policies/ that defines
// `const TransferPolicyInfo k<Name>Policy`, and one line in its builtins.def. The tests walk the
// table.
//
// A study has one TransferPolicy, each group of ranks a TransferSchedule of it. A schedule sees
// transfers become ready and is asked what to launch: tensors merged into one collective, or a part
// of a tensor. It depends on nothing but what it is told, so that a forecast can drive it as the
// transfer queue does.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "astra/config/config_view.h"
#include "astra/core/registry.h"
#include "astra/core/types.h"
#include "system/transfer/compute_order.h"
#include "system/transfer/cost.h"
#include "system/transfer/forecast.h"

namespace astra {

struct ReadyTransfer {
    std::uint32_t iteration = 0;
    std::uint32_t transfer = 0;  // number in the forecast of its group
    Bytes bytes;
    SimTime ready;  // now: the last member has its gradient
};

// All of a tensor or a part of it.
struct TransferPiece {
    std::uint32_t iteration = 0;
    std::uint32_t transfer = 0;
    Bytes bytes;
};

// One collective. Without pieces: nothing for now.
struct Launch {
    std::vector<TransferPiece> pieces;
    Duration before;            // copying into one buffer
    Duration after;             // and back
    SimTime ask_again{kMaxPs};  // without pieces: when to ask, whatever happens before
};

// The network as the group sees it when its schedule is asked.
struct TransferLoad {
    SimTime now;
    std::uint32_t launches = 0;  // that have not ended
    Bytes bytes;                 // of them
};

class TransferSchedule {
  public:
    TransferSchedule() = default;
    TransferSchedule(const TransferSchedule&) = delete;
    TransferSchedule& operator=(const TransferSchedule&) = delete;
    virtual ~TransferSchedule() = default;

    virtual void ready(const ReadyTransfer& transfer) = 0;
    // Asked whenever a transfer has become ready or a launch has ended, and at `ask_again`, until
    // there is nothing to launch. Each byte of each transfer is launched once.
    virtual Launch next(const TransferLoad& load) = 0;
    // For people: what it has settled on for this group; "" if there was nothing to settle.
    virtual std::string describe() const { return ""; }
};

// Parameters of a study's policy. All three outlive the policy's schedules.
class TransferPolicy {
  public:
    TransferPolicy() = default;
    TransferPolicy(const TransferPolicy&) = delete;
    TransferPolicy& operator=(const TransferPolicy&) = delete;
    virtual ~TransferPolicy() = default;

    // False: transfers start as the trace says, without a queue.
    virtual bool queues() const { return true; }
    // Whether an iteration begins only when all transfers of the one before are done.
    virtual bool barrier() const { return true; }
    // Whether all policies are to be rehearsed, and the one taken that has the run end first.
    virtual bool rehearses() const { return false; }
    // In which order ready ops are computed; nullptr: that of the trace. Where there is an order,
    // updates are freed from what only puts them into a sequence.
    virtual ComputeOrder compute_order() const { return nullptr; }
    // Requires queues(). One for each group with transfers.
    virtual std::unique_ptr<TransferSchedule> schedule(const GroupForecast& forecast,
                                                       const TransferCost& cost) const = 0;
};

// The keys of a policy: those of `system.transfers` itself for the one that is chosen, or else of
// the section below it that has the name of the policy, where a study keeps what it wants of
// policies that are chosen by an override.
class TransferParameters {
  public:
    TransferParameters(const ConfigView& transfers, std::string_view policy, bool chosen)
        : transfers_(transfers), policy_(policy), chosen_(chosen) {}

    // Where the key is, or where its default belongs.
    ConfigView of(std::string_view key) const;
    [[noreturn]] void fail(std::string_view key, std::string_view message) const;

  private:
    ConfigView transfers_;
    std::string_view policy_;
    bool chosen_;
};

struct TransferPolicyInfo {
    std::string_view name;
    std::string_view summary;  // one sentence
    std::vector<std::string_view> parameters{};
    // Throws ConfigError.
    std::unique_ptr<const TransferPolicy> (*read)(const TransferParameters& parameters) = nullptr;
};

const Registry<TransferPolicyInfo>& transfer_policies();

// `transfers` of the section `system`; policy `trace` by default. Checks the sections of all
// policies. Throws ConfigError, also for a parameter that only another policy has. `instead`: the
// policy that is taken in place of the configured one, with the keys of its section; "": none.
std::unique_ptr<const TransferPolicy> read_transfer_policy(const ConfigView& system,
                                                           std::string_view instead = "");

}  // namespace astra
