// Who waited for whom: every span of a run with its cause, and the way back from any of them.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/recorder/recorder.h"
#include "astra/core/types.h"

namespace astra {

// A stretch of time on the way back, and what it was spent on.
struct CauseStep {
    Cause span{};
    SpanKind kind{};
    RankId rank{};  // of a message: who sent it
    RankId peer{};
    SimTime from;
    SimTime to;
};

// 40 bytes a span.
class CauseChain final : public SpanSubscriber {
  public:
    void on_span(const Span& span) override;

    // From the start of the run to the end of `last`, in the order of time: at each instant the
    // span without which `last` could not have ended when it did. The stretches follow each other
    // without gaps from the first on; the first begins where nothing recorded came before. An
    // instant between two spans (a reduction, a delay of an endpoint) belongs to the later one.
    // Empty if there is no such span. Of the steps of length zero those are kept that are ops.
    std::vector<CauseStep> back_from(Cause last) const;

    // The op that ended last, of that rank; of those that ended together the one that was told
    // last. kNoCause if it had none.
    Cause last_op(RankId rank) const;
    // The op of all ranks that ended last.
    Cause last_op() const { return last_; }

  private:
    struct Kept {
        SpanKind kind{};
        bool known = false;
        Cause cause{};
        Cause released{};
        RankId rank{};
        RankId peer{};
        SimTime begin;
        SimTime end;
    };
    const Kept* find(Cause id) const {
        const std::size_t at = index(id);
        return at < kept_.size() && kept_[at].known ? &kept_[at] : nullptr;
    }

    std::vector<Kept> kept_;       // by number
    std::vector<Cause> last_ops_;  // by rank
    Cause last_{};
};

}  // namespace astra
