#include "system/transfer/policies/caramel_schedule.h"

#include <algorithm>

#include <fmt/format.h>

#include "astra/config/units.h"

namespace astra {

void CaramelSchedule::ready(const ReadyTransfer& transfer) {
    const std::uint64_t urgency =
        rules_.by_deadline ? forecast_.transfers[transfer.transfer].needed.ps : come_++;
    pending_.add({transfer.iteration, urgency, transfer.transfer, transfer.bytes});
    waiting_ = waiting_ + transfer.bytes;
    last_ = transfer;
}

Launch CaramelSchedule::next(const TransferLoad& load) {
    Launch launch;
    if (pending_.empty() || load.launches >= rules_.depth) {
        return launch;
    }
    if (const auto until = worth_waiting(load.now)) {
        launch.ask_again = *until;
        return launch;
    }
    Bytes filled;
    bool full = false;
    while (!pending_.empty() && !full) {
        PendingTransfer& first = pending_.first();
        const bool opens = launch.pieces.empty();
        const Bytes part = part_for(first, opens, filled);
        if (part.count == 0 && !opens) {
            break;
        }
        launch.pieces.push_back({first.iteration, first.transfer, part});
        filled = filled + part;
        first.left.count -= part.count;
        full = first.left.count > 0 || filled >= rules_.batch;
        if (first.left.count == 0) {
            pending_.drop_first();
        }
    }
    waiting_.count -= filled.count;
    return launch;
}

Bytes CaramelSchedule::part_for(const PendingTransfer& transfer, bool first, Bytes filled) const {
    const Bytes part = std::min(transfer.left, rules_.chunk);
    const Bytes room{rules_.batch.count - std::min(filled, rules_.batch).count};
    if (first || part <= room) {
        return part;
    }
    return transfer.left > rules_.chunk ? room : Bytes{};
}

std::optional<SimTime> CaramelSchedule::worth_waiting(SimTime now) const {
    if (!rules_.waits || waiting_ >= rules_.batch ||
        last_.transfer + 1 == forecast_.transfers.size()) {
        return std::nullopt;
    }
    const TransferForecast& last = forecast_.transfers[last_.transfer];
    const TransferForecast& next = forecast_.transfers[last_.transfer + 1];
    const SimTime comes = last_.ready + Duration{next.ready.ps - last.ready.ps};
    if (comes <= now || comes - now >= cost_.alpha || comes.ps == kMaxPs) {
        return std::nullopt;
    }
    // The end boundary of the most urgent, if nothing holds up the computation from now on.
    const PendingTransfer* most_urgent = &pending_.all().back();
    const TransferForecast& urgent = forecast_.transfers[most_urgent->transfer];
    const Duration window{std::max(urgent.needed, last.ready).ps - last.ready.ps};
    const bool late = most_urgent->iteration < last_.iteration ||
                      comes + cost_.at(waiting_ + next.bytes) > last_.ready + window;
    return late ? std::nullopt : std::optional(comes);
}

std::string CaramelSchedule::describe() const {
    std::string text = rules_.batch.count == 0 ? "a tensor a transfer"
                                               : fmt::format("batches of {} (gamma {:.3g})",
                                                             to_text(rules_.batch),
                                                             cost_.factor_of(rules_.batch));
    if (rules_.chunk.count < kMaxPs) {
        text += fmt::format(", longer tensors cut into {} (gamma_chunk {:.3g})",
                            to_text(rules_.chunk),
                            cost_.factor_of(rules_.chunk));
    }
    text += rules_.by_deadline ? ", earliest end boundary first" : ", first come, first served";
    return text + (rules_.waits ? ", waiting for the next gradient" : "");
}

}  // namespace astra
