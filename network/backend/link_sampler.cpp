#include "network/backend/link_sampler.h"

namespace astra {

void LinkSampler::plan() {
    queue_.schedule_after(interval_, Callback::to<&LinkSampler::take>(*this, 0));
}

void LinkSampler::take(std::uint64_t) {
    ++events_;
    before_.swap(now_);
    backend_.sample(now_);
    before_.resize(now_.size());
    const SimTime end = queue_.now();
    for (std::uint32_t link = 0; link < now_.size(); ++link) {
        const std::uint64_t bytes = now_[link].carried_bytes - before_[link].carried_bytes;
        const PacketInterval& packets = now_[link].packets;
        if (bytes > 0 || now_[link].queued_bytes > 0 || packets != PacketInterval{}) {
            ++rows_;
            recorder_.add(LinkInterval{LinkId{link},
                                       {end.ps - interval_.ps},
                                       end,
                                       {bytes},
                                       {now_[link].queued_bytes},
                                       packets});
        }
    }
    const bool moves = queue_.size() > waiting_;
    cut_short_ = rows_ > kMostRows && moves;
    if (moves && !cut_short_) {
        plan();
    }
}

}  // namespace astra
