// The sizes of an all_to_all pair by pair, as PyTorch records them: what a rank sends to each of
// its group (in_split_size, the parts of its input) and receives from each (out_split_size).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workload/nodes/attribute_value.h"

namespace astra {

struct SplitSizes {
    std::vector<std::uint64_t> sends;     // by position in the group; empty = all equal
    std::vector<std::uint64_t> receives;  // empty = not said
};

// The whole numbers of a list, or of its text "[1, 2]". What is wrong with it, "" if nothing is.
std::string read_counts(const AttributeValue& value, std::vector<std::uint64_t>& counts);

// From what the lists count to bytes. That is `element_bytes` where `bytes`, all that the rank
// sends, is absent; otherwise they count parts of it: PyTorch's lists count rows of a tensor. Fills
// in `bytes` and equal sends beside given receives. What is wrong, "" if nothing is.
std::string to_bytes(SplitSizes& sizes,
                     std::optional<std::uint64_t>& bytes,
                     std::uint64_t element_bytes);

}  // namespace astra
