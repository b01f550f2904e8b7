// Constraints by the level at which they may become full: a heap, the lowest on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astra {

class LevelHeap {
  public:
    struct Key {
        double level = 0;
        std::uint32_t constraint = 0;
    };

    void clear() { keys_.clear(); }
    // Out of order, until build().
    void add(Key key) { keys_.push_back(key); }
    void build();

    bool empty() const { return keys_.empty(); }
    // All three require a key.
    const Key& first() const { return keys_.front(); }
    void replace_first(double level) { sift_down(0, {level, keys_.front().constraint}); }
    void drop_first();

  private:
    void sift_down(std::size_t position, Key key);

    std::vector<Key> keys_;
};

}  // namespace astra
