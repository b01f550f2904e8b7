// A model as a list of its parameter tensors, in the order in which the forward pass uses them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace astra {

struct TensorRow {
    std::string name;
    std::uint64_t parameters = 0;  // 0: computes, but has no gradient
    std::uint64_t operations = 0;  // FLOPs of the forward pass for one sample
    bool operator==(const TensorRow&) const = default;
};

// Reads a CSV: a line of headers with `tensor`, `params` and `fwd_flops_per_sample` among them,
// then a row a tensor; other columns are passed over, but `grad_bytes_fp32` must be 4 · params
// where it is there. Lines that start with # are comments. At most a million rows of 4096 bytes.
// Throws ConfigError "file:line: …".
std::vector<TensorRow> read_tensor_table(const std::string& file);

}  // namespace astra
