#include "network/backend/flow/group_heap.h"

namespace astra {

void GroupHeap::update(std::span<const Entry> changes) {
    // A change costs a walk along the depth, a rebuild about two steps an entry.
    if (changes.size() > 16 && changes.size() > entries_.size() / 4) {
        rebuild(changes);
        return;
    }
    for (const Entry change : changes) {
        set(change);
    }
}

void GroupHeap::set(Entry change) {
    std::uint32_t position = position_[change.group];
    if (change.at_ps == kMaxPs) {
        if (position == kAbsent) {
            return;
        }
        position_[change.group] = kAbsent;
        const Entry last = entries_.back();
        entries_.pop_back();
        if (last.group == change.group) {
            return;
        }
        change = last;
    } else if (position == kAbsent) {
        position = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back(change);
    }
    if (position > 0 && change.at_ps < entries_[(position - 1) / 2].at_ps) {
        sift_up(position, change);
    } else {
        sift_down(position, change);
    }
}

void GroupHeap::sift_up(std::uint32_t position, Entry entry) {
    while (position > 0) {
        const std::uint32_t parent = (position - 1) / 2;
        if (entries_[parent].at_ps <= entry.at_ps) {
            break;
        }
        put(position, entries_[parent]);
        position = parent;
    }
    put(position, entry);
}

void GroupHeap::sift_down(std::uint32_t position, Entry entry) {
    const auto size = static_cast<std::uint32_t>(entries_.size());
    for (;;) {
        std::uint32_t child = 2 * position + 1;
        if (child >= size) {
            break;
        }
        if (child + 1 < size && entries_[child + 1].at_ps < entries_[child].at_ps) {
            ++child;
        }
        if (entry.at_ps <= entries_[child].at_ps) {
            break;
        }
        put(position, entries_[child]);
        position = child;
    }
    put(position, entry);
}

void GroupHeap::rebuild(std::span<const Entry> changes) {
    for (const Entry change : changes) {
        std::uint32_t& position = position_[change.group];
        if (position != kAbsent) {
            entries_[position].at_ps = change.at_ps;
        } else if (change.at_ps != kMaxPs) {
            position = static_cast<std::uint32_t>(entries_.size());
            entries_.push_back(change);
        }
    }
    std::uint32_t kept = 0;
    for (const Entry entry : entries_) {
        if (entry.at_ps == kMaxPs) {
            position_[entry.group] = kAbsent;
        } else {
            put(kept++, entry);
        }
    }
    entries_.resize(kept);
    for (std::uint32_t position = kept / 2; position-- > 0;) {
        sift_down(position, entries_[position]);
    }
}

}  // namespace astra
