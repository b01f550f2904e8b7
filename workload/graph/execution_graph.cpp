#include "workload/graph/execution_graph.h"

namespace astra {

std::string_view name_of(OpKind kind) {
    switch (kind) {
        case OpKind::Compute:
            return "compute";
        case OpKind::MemoryLoad:
            return "memory_load";
        case OpKind::MemoryStore:
            return "memory_store";
        case OpKind::Send:
            return "send";
        case OpKind::Recv:
            return "receive";
        case OpKind::Collective:
            return "collective";
        case OpKind::Metadata:
            return "metadata";
        case OpKind::Invalid:
            break;
    }
    return "invalid";
}

}  // namespace astra
