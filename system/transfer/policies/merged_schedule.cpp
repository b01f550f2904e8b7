#include "system/transfer/policies/merged_schedule.h"

#include <algorithm>

#include <fmt/format.h>

namespace astra {

Merging merge_as_mg_wfbp(const GroupForecast& forecast, const TransferCost& cost) {
    const auto& transfers = forecast.transfers;
    Merging merged;
    std::uint32_t number = 0;
    std::uint64_t free_ps = 0;
    Bytes bytes;
    for (std::size_t t = 0; t < transfers.size(); ++t) {
        merged.push_back(number);
        bytes = bytes + transfers[t].bytes;
        const std::uint64_t start_ps = std::max(transfers[t].ready.ps, free_ps);
        if (t + 1 < transfers.size()) {
            const std::uint64_t next_ps = transfers[t + 1].ready.ps;
            if (start_ps >= next_ps || next_ps - start_ps < cost.alpha.ps) {
                continue;
            }
        }
        free_ps = saturating_add(start_ps, cost.at(bytes).ps);
        bytes = {};
        ++number;
    }
    return merged;
}

Merging merge_for_first_end(const GroupForecast& forecast, const TransferCost& cost) {
    const auto& transfers = forecast.transfers;
    const std::size_t count = transfers.size();
    if (count > kMostMerged) {
        return merge_as_mg_wfbp(forecast, cost);
    }
    // For each number of tensors: when they can be done, and how many of them the transfers before
    // the last one hold. Among equals the longest last one goes first: fewer transfers.
    std::vector<Duration> end(count + 1);
    std::vector<std::size_t> before(count + 1);
    for (std::size_t n = 1; n <= count; ++n) {
        end[n] = {kMaxPs};
        Bytes bytes;
        for (std::size_t first = n; first-- > 0;) {
            bytes = bytes + transfers[first].bytes;
            const Duration start = std::max(end[first], transfers[n - 1].ready);
            const Duration candidate = start + cost.at(bytes);
            if (candidate <= end[n]) {
                end[n] = candidate;
                before[n] = first;
            }
        }
    }
    std::vector<bool> last(count);
    for (std::size_t n = count; n > 0; n = before[n]) {
        last[n - 1] = true;
    }
    Merging merged;
    std::uint32_t number = 0;
    for (std::size_t t = 0; t < count; ++t) {
        merged.push_back(number);
        number += last[t] ? 1 : 0;
    }
    return merged;
}

Merging merge_all(const GroupForecast& forecast) {
    return Merging(forecast.transfers.size());
}

MergedSchedule::MergedSchedule(Merging merged)
    : merged_(std::move(merged)), size_(merged_.empty() ? 0 : merged_.back() + 1) {
    for (const std::uint32_t number : merged_) {
        ++size_[number];
    }
}

void MergedSchedule::ready(const ReadyTransfer& transfer) {
    const std::uint32_t number = merged_[transfer.transfer];
    auto& pieces = waiting_[{transfer.iteration, number}];
    pieces.push_back({transfer.iteration, transfer.transfer, transfer.bytes});
    if (pieces.size() == size_[number]) {
        complete_.push_back(std::move(pieces));
        waiting_.erase({transfer.iteration, number});
    }
}

Launch MergedSchedule::next(const TransferLoad& load) {
    Launch launch;
    if (load.launches == 0 && !complete_.empty()) {
        launch.pieces = std::move(complete_.front());
        complete_.pop_front();
    }
    return launch;
}

std::string MergedSchedule::describe() const {
    return fmt::format(
        "{} tensors in {} transfers, laid down beforehand", merged_.size(), size_.size());
}

}  // namespace astra
