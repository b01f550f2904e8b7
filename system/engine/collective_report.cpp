// What the collective engine says of collectives that cannot finish.
#include <fmt/format.h>

#include "system/engine/collective_engine.h"

namespace astra {

namespace {

constexpr std::size_t kListedRanks = 10;

std::string list_ranks(const CollectiveInstance& instance, bool joined) {
    std::string text;
    std::size_t count = 0;
    for (std::uint32_t p = 0; p < instance.members.size(); ++p) {
        if (instance.members[p].joined != joined) {
            continue;
        }
        if (count < kListedRanks) {
            text += fmt::format("{}{}", count == 0 ? "" : ", ", instance.group().rank(p));
        }
        ++count;
    }
    if (count > kListedRanks) {
        text += fmt::format(" and {} more", count - kListedRanks);
    }
    return text.empty() ? "none" : text;
}

}  // namespace

std::string CollectiveEngine::describe(const CollectiveInstance& instance) const {
    std::string text = fmt::format("group '{}', collective {} ({} of {} B)",
                                   instance.group().name(),
                                   instance.sequence,
                                   name_of(instance.request.kind),
                                   instance.request.bytes.count);
    if (instance.joined < instance.members.size()) {
        return text + fmt::format(": arrived: ranks {}; missing: ranks {}",
                                  list_ranks(instance, true),
                                  list_ranks(instance, false));
    }
    return text + ": all ranks have arrived; it is still running";
}

std::string CollectiveEngine::describe_waiting(GroupId id, std::uint32_t position) const {
    const Group& group = groups_[index(id)];
    for (const std::uint32_t number : group.open) {
        if (number != kClosed && instances_[number].members[position].joined &&
            instances_[number].members[position].chunks_left > 0) {
            return describe(instances_[number]);
        }
    }
    return fmt::format("group '{}'", group.group->name());
}

std::vector<std::string> CollectiveEngine::describe_unfinished(std::size_t most) const {
    std::vector<std::string> lines;
    for (const Group& group : groups_) {
        for (const std::uint32_t number : group.open) {
            if (number == kClosed) {
                continue;
            }
            if (lines.size() == most) {
                lines.emplace_back("…");
                return lines;
            }
            lines.push_back(describe(instances_[number]));
        }
    }
    return lines;
}

}  // namespace astra
