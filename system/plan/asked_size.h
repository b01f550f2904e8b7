// The size of a collective as a rank asks for it.
#pragma once

#include <cstdint>

#include "astra/core/types.h"

namespace astra {

struct AskedSize {
    Bytes bytes;
    bool are_a_shard = false;  // of each rank, not the whole
    bool by_pair = false;      // of the rank that came first, in an all_to_all with sizes of pairs

    // Into how many chunks of `most` a collective of so many members is cut: none is so small that
    // a rank's part of it would be empty.
    std::uint64_t chunks(std::uint32_t members, std::uint64_t most) const;
    Bytes buffer(std::uint32_t members) const {
        return {saturating_multiply(bytes.count, are_a_shard ? members : 1)};
    }
};

}  // namespace astra
