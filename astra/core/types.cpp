#include "astra/core/types.h"

namespace astra {

const char* name_of(CollectiveKind kind) {
    switch (kind) {
        case CollectiveKind::AllReduce:
            return "all_reduce";
        case CollectiveKind::Reduce:
            return "reduce";
        case CollectiveKind::AllGather:
            return "all_gather";
        case CollectiveKind::Gather:
            return "gather";
        case CollectiveKind::Scatter:
            return "scatter";
        case CollectiveKind::Broadcast:
            return "broadcast";
        case CollectiveKind::AllToAll:
            return "all_to_all";
        case CollectiveKind::ReduceScatter:
            return "reduce_scatter";
        case CollectiveKind::ReduceScatterBlock:
            return "reduce_scatter_block";
        case CollectiveKind::Barrier:
            return "barrier";
    }
    return "unknown";
}

}  // namespace astra
