// Lets the members of a collective go on when they have done their part, and keeps what has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "astra/core/records.h"
#include "astra/core/types.h"
#include "system/engine/collective_instance.h"
#include "system/engine/collective_matching.h"
#include "system/engine/link_need.h"
#include "system/run/collective_run.h"

namespace astra {

class CollectiveRelease {
  public:
    // All outlive it.
    CollectiveRelease(RunContext& context, CollectiveMatching& matching, LinkNeed& need)
        : context_(context), matching_(matching), need_(need) {}

    // The member has done its part: its `done` runs; at a barrier that of all, with the last one.
    // The last one closes the instance.
    void leave(CollectiveInstance& instance, std::uint32_t position);
    // The same after a time in which nothing of the collective is simulated.
    void leave_after(Duration time, const CollectiveInstance& instance, std::uint32_t position);

    // Of the member whose `done` runs.
    const PeerWait& wait() const { return wait_; }
    // Of its transfer so much was not hidden by computation.
    void add_exposed(Duration time) {
        Duration& total =
            leaving_ == nullptr ? finished_[last_finished_].exposed : leaving_->exposed;
        total = total + time;
    }
    // Of those that have not left.
    void add_unfinished(std::vector<UnfinishedWait>& waits) const;

    // Finished collectives, in the order in which they ended; then, of a run that has not finished,
    // those that somebody has come to, in the order in which they began.
    std::vector<CollectiveRecord> records() const;

  private:
    struct Finished {
        const CollectivePlan* plan = nullptr;
        std::uint64_t sequence = 0;
        Bytes bytes;
        Bytes total;
        SimTime start;
        SimTime end;
        PeerArrival last;
        Duration exposed{};
        Duration need{};  // of a rank (LinkNeed::remember)
    };

    void leave_now(std::uint64_t argument);
    void close(const CollectiveInstance& instance);
    // In the order in which they began.
    std::vector<const CollectiveInstance*> open() const;

    RunContext& context_;
    CollectiveMatching& matching_;
    LinkNeed& need_;
    std::vector<Finished> finished_;
    PeerWait wait_;
    CollectiveInstance* leaving_ = nullptr;  // whose member it is; null: of one that is finished
    std::size_t last_finished_ = 0;
};

}  // namespace astra
