#include "network/backend/flow/level_heap.h"

namespace astra {

// Down from a hole at `position`. Which of two children is less is a coin toss: it costs less to
// compute it than to branch on it.
void LevelHeap::sift_down(std::size_t position, Key key) {
    Key* const keys = keys_.data();
    const std::size_t size = keys_.size();
    std::size_t child = 2 * position + 1;
    while (child + 1 < size) {
        child += static_cast<std::size_t>(keys[child + 1].level < keys[child].level);
        if (key.level <= keys[child].level) {
            keys[position] = key;
            return;
        }
        keys[position] = keys[child];
        position = child;
        child = 2 * position + 1;
    }
    if (child < size && keys[child].level < key.level) {
        keys[position] = keys[child];
        position = child;
    }
    keys[position] = key;
}

void LevelHeap::build() {
    for (std::size_t position = keys_.size() / 2; position-- > 0;) {
        sift_down(position, keys_[position]);
    }
}

void LevelHeap::drop_first() {
    const Key last = keys_.back();
    keys_.pop_back();
    if (!keys_.empty()) {
        sift_down(0, last);
    }
}

}  // namespace astra
