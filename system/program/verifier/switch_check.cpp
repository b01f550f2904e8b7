#include "system/program/verifier/switch_check.h"

#include <cstdint>
#include <unordered_set>

#include <fmt/format.h>

namespace astra {

namespace {

using Messages = SwitchOperations::Messages;

// In the step of a member that has the operation.
std::string fault_of(const Program& program,
                     std::uint32_t member,
                     const Messages& messages,
                     bool multicast) {
    std::unordered_set<std::uint32_t> peers;
    for (std::uint32_t op = messages.first; op < messages.first + messages.count; ++op) {
        const std::uint32_t peer =
            program.peer_of(member, multicast ? program.send(op).peer : program.receive(op).peer);
        if (!peers.insert(peer).second) {
            return fmt::format("a {} member {} twice",
                               multicast ? "multicast goes to" : "reduction takes messages of",
                               peer);
        }
    }
    return "";
}

class SwitchCheck {
  public:
    explicit SwitchCheck(const Program& program)
        : program_(program), operations_(*program.switch_operations()) {}

    std::string fault() {
        for (const Messages& multicast : operations_.multicasts) {
            for (std::uint32_t i = 0; i < multicast.count; ++i) {
                copied_.insert(multicast.first + i);
            }
        }
        const std::uint32_t roles =
            program_.relation() == Relation::Absolute ? program_.members() : 1;
        for (std::uint32_t member = 0; member < roles; ++member) {
            const auto steps = program_.steps(member);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                const std::string fault = fault_of_step(member, steps[s]);
                if (!fault.empty()) {
                    return fmt::format("{}: {}", program_.step_name(member, 0, s), fault);
                }
            }
        }
        return "";
    }

  private:
    // Operations come in the order of the steps.
    std::string fault_of_step(std::uint32_t member, const Program::Step& step) {
        std::string fault;
        for (; fault.empty() && reduction_ < operations_.reductions.size() &&
               operations_.reductions[reduction_].first < step.first_receive + step.receives;
             ++reduction_) {
            const Messages& messages = operations_.reductions[reduction_];
            fault = fault_of(program_, member, messages, false);
            for (std::uint32_t i = 0; i < messages.count && fault.empty(); ++i) {
                fault = copied_too(member, messages.first + i);
            }
        }
        for (; fault.empty() && multicast_ < operations_.multicasts.size() &&
               operations_.multicasts[multicast_].first < step.first_send + step.sends;
             ++multicast_) {
            fault = fault_of(program_, member, operations_.multicasts[multicast_], true);
        }
        return fault;
    }

    std::string copied_too(std::uint32_t member, std::uint32_t receive) const {
        const Program::Receive& op = program_.receive(receive);
        return copied_.count(op.send) == 0
                   ? ""
                   : fmt::format("a reduction takes a message of member {} that is also multicast",
                                 program_.peer_of(member, op.peer));
    }

    const Program& program_;
    const SwitchOperations& operations_;
    std::unordered_set<std::uint32_t> copied_;  // sends
    std::size_t reduction_ = 0;
    std::size_t multicast_ = 0;
};

}  // namespace

std::string switch_fault(const Program& program) {
    return SwitchCheck(program).fault();
}

}  // namespace astra
