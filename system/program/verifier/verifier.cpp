#include "system/program/verifier/verifier.h"

#include <utility>
#include <vector>

#include "system/program/verifier/execution.h"
#include "system/program/verifier/order_check.h"
#include "system/program/verifier/race_check.h"
#include "system/program/verifier/range_check.h"
#include "system/program/verifier/run_ahead_check.h"
#include "system/program/verifier/switch_check.h"
#include "system/program/verifier/symbolic_state.h"

namespace astra {

namespace {

std::string run_ahead_fault(const Program& program) {
    return program.order().most_messages > kUsualRunAhead || program.order().takes_turns
               ? RunAheadCheck(program, kUsualRunAhead).fault()
               : "";
}

}  // namespace

Verdict verify(const Program& program, CollectiveKind kind, std::uint32_t root) {
    std::string fault = range_fault(program, kind, root);
    if (!fault.empty()) {
        return {false, std::move(fault)};
    }
    SymbolicState state(program, kind, root);
    SymbolicExecution execution(program, state);
    fault = execution.run();
    if (fault.empty() && program.thread_blocks() != nullptr) {
        fault = race_fault(program, state, execution.order());
    }
    if (fault.empty()) {
        fault = state.broken_promise();
    }
    if (fault.empty()) {
        fault = order_fault(program, state);
    }
    if (fault.empty() && program.switch_operations() != nullptr) {
        fault = switch_fault(program);
    }
    if (fault.empty()) {
        fault = run_ahead_fault(program);
    }
    return {fault.empty(), std::move(fault)};
}

std::string traffic_fault(const Program& program) {
    std::string fault = range_fault(program, CollectiveKind::AllReduce, 0);
    if (fault.empty()) {
        fault = SymbolicExecution(program).run();
    }
    return fault.empty() ? run_ahead_fault(program) : fault;
}

}  // namespace astra
