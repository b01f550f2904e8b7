// The dependencies of a graph while it is built: ids as differences from their node's id, packed,
// so that a million nodes take a few megabytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace astra {

class ParentList {
  public:
    // Appends the distinct parents of the next node; sorts `parents`. Returns their number.
    std::uint32_t add(std::uint64_t id, std::vector<std::uint64_t>& parents);

    // Reads the parents back in the order of add().
    class Reader {
      public:
        explicit Reader(const ParentList& list) : bytes_(list.bytes_) {}
        std::uint64_t next(std::uint64_t id);

      private:
        const std::vector<std::uint8_t>& bytes_;
        std::size_t position_ = 0;
    };

    std::uint64_t count() const { return count_; }

  private:
    std::vector<std::uint8_t> bytes_;
    std::uint64_t count_ = 0;
};

}  // namespace astra
