#include "system/program/verifier/range_check.h"

#include <fmt/format.h>

#include "system/program/verifier/symbolic_state.h"

namespace astra {

namespace {

class RangeCheck {
  public:
    RangeCheck(const Program& program, CollectiveKind kind, std::uint32_t root)
        : program_(program), kind_(kind), root_(root) {}

    std::string fault() const {
        const std::uint32_t members = program_.members();
        if (members == 0) {
            return "the program has no members";
        }
        if (has_root(kind_) && root_ >= members) {
            return fmt::format("root {} of {} members", root_, members);
        }
        if (SymbolicState::has_block_a_member(kind_) && program_.blocks() % members != 0) {
            return fmt::format("{} blocks, but {} members", program_.blocks(), members);
        }
        if (program_.memory() != nullptr && kind_ == CollectiveKind::Barrier) {
            return "a barrier has no memory";
        }
        for (std::uint32_t member = 0; member < members; ++member) {
            std::string fault = fault_of(member);
            if (!fault.empty()) {
                return fault;
            }
        }
        return "";
    }

  private:
    std::string fault_of(std::uint32_t member) const {
        for (std::uint32_t sequence = 0; sequence < program_.sequences_of(member); ++sequence) {
            const auto steps = program_.steps(member, sequence);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                const std::string fault = fault_of(member, steps[s]);
                if (!fault.empty()) {
                    return fmt::format("{}: {}", program_.step_name(member, sequence, s), fault);
                }
            }
        }
        return "";
    }

    std::string fault_of(std::uint32_t member, const Program::Step& step) const {
        std::string fault;
        for (std::uint32_t i = 0; i < step.receives && fault.empty(); ++i) {
            const Program::Receive& receive = program_.receive(step.first_receive + i);
            fault = fault_of(member, receive.peer, receive.payload);
        }
        for (std::uint32_t i = 0; i < step.sends && fault.empty(); ++i) {
            const Program::Send& op = program_.send(step.first_send + i);
            fault = fault_of(member, op.peer, op.payload);
        }
        return fault.empty() && program_.thread_blocks() != nullptr
                   ? fault_of(*program_.thread_blocks(), step)
                   : fault;
    }

    std::string fault_of(const ThreadBlocks& thread_blocks, const Program::Step& step) const {
        std::string fault;
        for (std::uint32_t i = 0; i < step.receives && fault.empty(); ++i) {
            const std::uint32_t op = step.first_receive + i;
            fault = beyond(thread_blocks.addend(op), program_.receive(op).payload.count);
        }
        for (const ThreadBlocks::Local& local : thread_blocks.locals(program_.number_of(step))) {
            fault = fault.empty() ? beyond(local.from, local.count) : fault;
            fault = fault.empty() ? beyond(local.to, local.count) : fault;
        }
        return fault;
    }

    std::string beyond(std::uint32_t first, std::uint32_t count) const {
        const std::uint64_t end = std::uint64_t{first} + count;
        return end <= program_.positions()
                   ? ""
                   : fmt::format("uses position {}, of {}", end - 1, program_.positions());
    }

    std::string fault_of(std::uint32_t member,
                         std::uint32_t relative_peer,
                         const Payload& payload) const {
        const std::uint32_t members = program_.members();
        const std::uint32_t blocks = program_.positions();
        const std::uint32_t peer = program_.peer_of(member, relative_peer);
        if (peer >= members) {
            return fmt::format("its peer is member {}, of {}", peer, members);
        }
        if (peer == member) {
            return "its peer is itself";
        }
        const std::uint32_t elements = program_.elements(payload);
        if (elements > blocks) {
            return fmt::format("{} blocks in a message, of {}", elements, blocks);
        }
        if (payload.first >= blocks) {
            return fmt::format("names block {}, of {}", payload.first, blocks);
        }
        if (program_.memory() != nullptr) {
            return beyond(payload.first, payload.count);
        }
        if (payload.origins.count == 0) {
            return "a payload of no origin";
        }
        for (std::uint32_t i = 0; i < elements; ++i) {
            const std::uint32_t block = program_.block_of(member, payload, i);
            if (block >= blocks) {
                return fmt::format("names block {}, of {}", block, blocks);
            }
            const std::uint32_t origin = program_.origin_of(member, payload, i);
            if (kind_ == CollectiveKind::AllToAll && origin >= members) {
                return fmt::format("names a block of member {}, of {}", origin, members);
            }
        }
        return "";
    }

    const Program& program_;
    CollectiveKind kind_;
    std::uint32_t root_;
};

}  // namespace

std::string range_fault(const Program& program, CollectiveKind kind, std::uint32_t root) {
    return RangeCheck(program, kind, root).fault();
}

}  // namespace astra
