#include "system/engine/collective_report.h"

#include <fmt/format.h>

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

std::string describe(const CollectiveInstance& instance) {
    std::string text = fmt::format("group '{}', collective {} ({} of {} B)",
                                   instance.group().name(),
                                   instance.sequence,
                                   name_of(instance.request.kind),
                                   instance.request.bytes.count);
    if (!instance.everyone_has_come()) {
        return text + fmt::format(": arrived: ranks {}; missing: ranks {}",
                                  list_ranks(instance, true),
                                  list_ranks(instance, false));
    }
    return text + ": all ranks have arrived; it is still running";
}

}  // namespace

std::string CollectiveReport::waiting(const ProcessGroup& group, std::uint32_t position) const {
    for (const CollectiveInstance* instance : matching_.open(group.id())) {
        const CollectiveInstance::Member& member = instance->members[position];
        if (member.joined && member.chunks_left > 0) {
            return describe(*instance);
        }
    }
    return fmt::format("group '{}'", group.name());
}

std::vector<std::string> CollectiveReport::unfinished(std::size_t most) const {
    std::vector<std::string> lines;
    for (std::uint32_t group = 0; group < matching_.groups(); ++group) {
        for (const CollectiveInstance* instance : matching_.open(GroupId{group})) {
            if (lines.size() == most) {
                lines.emplace_back("…");
                return lines;
            }
            lines.push_back(describe(*instance));
        }
    }
    return lines;
}

}  // namespace astra
