// What the steps of a program cost at a rank: the arithmetic of clocks, for those who run programs
// and for those who predict them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "astra/core/transfer_clock.h"
#include "astra/core/types.h"
#include "system/run/message_costs.h"

namespace astra {

// How far something has come that takes steps one after the other.
struct StepClock {
    std::uint64_t now_ps = 0;       // all that holds up the next step is done
    std::uint64_t reducing_ps = 0;  // all that is left to be reduced meanwhile is reduced

    std::uint64_t end_ps() const { return std::max(now_ps, reducing_ps); }
};

// How much of what a message brings holds up the next step; the rest is reduced meanwhile.
struct UrgentPart {
    std::uint32_t urgent = 0;
    std::uint32_t of = 0;
};

class StepCosts {
  public:
    // `memory` outlives this. `in_turn`: a message is dealt with when it is its turn, not while
    // others are being reduced.
    void begin(const MessageCosts& messages,
               Duration endpoint_delay,
               TransferClock& memory,
               bool in_turn) {
        messages_ = messages;
        if (copying_.rate() != messages.copying) {
            copying_ = TransferClock(messages.copying);
        }
        delay_ = endpoint_delay;
        memory_ = &memory;
        in_turn_ = in_turn;
    }

    bool copies() const { return messages_.copying.bits_per_s > 0; }
    Bytes on_wire(Bytes data) const { return messages_.on_wire(data); }

    // When the first step begins of a member that takes part from `at` on.
    SimTime first_step(SimTime at) const { return at + delay_ + messages_.startup; }

    // When a message leaves that is there at `at`. The member hands over one after the other:
    // `handed_over_ps` says until when it is busy with those before; needed if copies().
    SimTime leaves(SimTime at, Bytes data, std::uint64_t* handed_over_ps) {
        if (copies()) {
            *handed_over_ps = saturating_add(std::max(*handed_over_ps, at.ps), copying_(data).ps);
            at.ps = *handed_over_ps;
        }
        return at + messages_.latency;
    }

    // Takes a message that came at `come_ps`.
    void take(StepClock& clock, std::uint64_t come_ps) const {
        clock.now_ps = std::max(clock.now_ps, dealt_with(clock, come_ps));
    }
    // As take(), and reduces it; what an earlier step left to be reduced comes first.
    void reduce(StepClock& clock, std::uint64_t come_ps, Bytes data, const UrgentPart& part) {
        std::uint64_t done_ps = std::max(dealt_with(clock, come_ps), clock.reducing_ps);
        if (part.urgent == part.of) {
            done_ps = saturating_add(done_ps, reduction(data).ps);
        } else {
            const Bytes urgent{data.count * part.urgent / part.of};
            done_ps = saturating_add(done_ps, reduction(urgent).ps);
            clock.reducing_ps = saturating_add(done_ps, reduction({data.count - urgent.count}).ps);
        }
        clock.now_ps = std::max(clock.now_ps, done_ps);
    }
    // Work of a step on local memory, and `more` of what it was recorded to take.
    void work(StepClock& clock, Bytes bytes, bool reduces, Duration more) {
        const Duration time = reduces ? reduction(bytes) : 2 * (*memory_)(bytes);
        clock.now_ps = saturating_add(saturating_add(clock.now_ps, time.ps), more.ps);
    }

  private:
    std::uint64_t dealt_with(const StepClock& clock, std::uint64_t come_ps) const {
        const std::uint64_t done_ps = saturating_add(come_ps, delay_.ps);
        return in_turn_ ? std::max(done_ps, clock.now_ps) : done_ps;
    }
    // Two reads and a write of local memory.
    Duration reduction(Bytes bytes) {
        return messages_.reduces ? 3 * (*memory_)(bytes) : Duration{};
    }

    MessageCosts messages_;
    Duration delay_;
    TransferClock copying_;
    TransferClock* memory_ = nullptr;
    bool in_turn_ = false;
};

}  // namespace astra
