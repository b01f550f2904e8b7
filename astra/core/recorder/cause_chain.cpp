#include "astra/core/recorder/cause_chain.h"

#include <algorithm>

namespace astra {

void CauseChain::on_span(const Span& span) {
    const std::size_t at = index(span.id);
    if (at >= kept_.size()) {
        kept_.resize(std::max(at + 1, 2 * kept_.size()));
    }
    kept_[at] = {
        span.kind, true, span.cause, span.released, span.rank, span.peer, span.begin, span.end};
    if (span.kind == SpanKind::Op) {
        const std::size_t rank = index(span.rank);
        last_ops_.resize(std::max(last_ops_.size(), rank + 1));
        last_ops_[rank] = span.id;
        last_ = span.id;
    }
}

Cause CauseChain::last_op(RankId rank) const {
    return index(rank) < last_ops_.size() ? last_ops_[index(rank)] : kNoCause;
}

std::vector<CauseStep> CauseChain::back_from(Cause last) const {
    std::vector<CauseStep> steps;
    const auto spend = [&](Cause id, const Kept& span, SimTime from, SimTime to) {
        if (from < to || span.kind == SpanKind::Op) {
            steps.push_back({id, span.kind, span.rank, span.peer, std::min(from, to), to});
        }
    };
    Cause id = last;
    const Kept* span = find(id);
    SimTime now = span == nullptr ? SimTime{} : span->end;
    bool at_end = true;  // of the span; otherwise somewhere before it
    while (span != nullptr) {
        const Kept* releaser = at_end ? find(span->released) : nullptr;
        if (releaser != nullptr) {
            // What is still running, or an op, released it by its beginning: the last member of a
            // collective that has come.
            at_end = releaser->end <= now && releaser->kind != span->kind;
            const SimTime then = at_end ? releaser->end : releaser->begin;
            spend(id, *span, then, now);
            now = std::min(now, then);
            id = span->released;
            span = releaser;
            continue;
        }
        const Kept* before = find(span->cause);
        // A span within another began while that one ran; otherwise after the other had ended.
        const bool within = before != nullptr && before->kind < span->kind;
        const SimTime from = before == nullptr || within ? span->begin : before->end;
        spend(id, *span, from, now);
        now = std::min(now, from);
        at_end = !within;
        id = span->cause;
        span = before;
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
}

}  // namespace astra
