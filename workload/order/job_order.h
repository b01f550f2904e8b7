// What belongs together in a job and in which order all ranks can take it, decided from the traces
// alone before anything runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "astra/core/warnings.h"
#include "workload/order/merged_order.h"
#include "workload/order/op_matching.h"
#include "workload/order/order_names.h"

namespace astra {

struct OrderRules {
    CollectiveNaming naming;
    bool rendezvous = false;  // a send ends when its receive has been come to
};

class JobOrder {
  public:
    // The workload outlives it. Throws InputError on collectives of a group or messages that do
    // not belong together in any order, SimulationError, with the circle, when ops wait for each
    // other. One warning for the groups whose ranks differ in the order of their collectives.
    JobOrder(const Workload& workload,
             const OrderRules& rules,
             const OrderNames& names,
             Warnings& warnings);

    const OpMatching& matching() const { return matching_; }
    bool rendezvous() const { return rendezvous_; }
    // The communication ops of the rank, in an order that all ranks can follow.
    const std::vector<std::uint32_t>& communication(std::uint32_t rank) const {
        return order_.communication[rank] == nullptr ? matching_.program(rank).communication()
                                                     : *order_.communication[rank];
    }

  private:
    OpMatching matching_;
    MergedOrder order_;
    bool rendezvous_;
};

}  // namespace astra
