// How messages about the order of a job name its ranks, groups and ops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "workload/order/op_matching.h"

namespace astra {

struct OrderNames {
    std::vector<std::uint32_t> ranks;  // rank of the job -> rank of the fabric
    std::string group_prefix;          // of the names of groups
};

// "group 'dp'"
std::string group_text(const OrderNames& names, const Workload& workload, std::uint32_t group);
// Of a collective: "all_reduce of 8 B with the root at rank 3". Of a message: "send of 8 B to rank
// 1, tag 7".
std::string request_text(const OrderNames& names, const Workload& workload, const RankOp& at);
// "rank 0: node 3 (first)"
std::string node_text(const OrderNames& names, const Workload& workload, const RankOp& at);
// The rank that a collective has as its root, as rank of the job.
std::uint32_t root_of(const Workload& workload, const RankOp& at);

}  // namespace astra
