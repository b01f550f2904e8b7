#include "system/collective/verifier.h"

#include <cstddef>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "system/collective/symbolic_state.h"
#include "system/collective/wave_check.h"

namespace astra {

namespace {

// What the execution relies on: members, blocks and origins exist. "" if they do.
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
        const auto steps = program_.steps(member);
        for (std::size_t s = 0; s < steps.size(); ++s) {
            std::string fault;
            for (std::uint32_t i = 0; i < steps[s].receives && fault.empty(); ++i) {
                const Program::Receive& op = program_.receive(steps[s].first_receive + i);
                fault = fault_of(member, op.peer, op.payload);
            }
            for (std::uint32_t i = 0; i < steps[s].sends && fault.empty(); ++i) {
                const Program::Send& op = program_.send(steps[s].first_send + i);
                fault = fault_of(member, op.peer, op.payload);
            }
            if (!fault.empty()) {
                return fmt::format("member {}, step {}: {}", member, s, fault);
            }
        }
        return "";
    }

    std::string fault_of(std::uint32_t member,
                         std::uint32_t relative_peer,
                         const Payload& payload) const {
        const std::uint32_t members = program_.members();
        const std::uint32_t blocks = program_.blocks();
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
        if (payload.origins == 0) {
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

// Requires a program that passes the RangeCheck.
class Execution {
  public:
    Execution(const Program& program, SymbolicState& state)
        : program_(program), state_(state), progress_(program.members()) {}

    Verdict run() {
        for (std::uint32_t member = program_.members(); member-- > 0;) {
            ready_.push_back(member);
        }
        while (!ready_.empty()) {
            const std::uint32_t member = ready_.back();
            ready_.pop_back();
            if (!advance(member)) {
                return {false, fault_};
            }
        }
        std::string fault = deadlock();
        if (fault.empty()) {
            fault = state_.broken_promise();
        }
        return {fault.empty(), fault};
    }

  private:
    using Words = std::vector<std::uint64_t>;
    static constexpr std::uint64_t kNothing = std::numeric_limits<std::uint64_t>::max();

    struct Progress {
        std::uint32_t step = 0;
        std::uint32_t receive = 0;           // of the step
        std::uint64_t waits_for = kNothing;  // message
    };

    // Runs a member until it finishes or waits.
    bool advance(std::uint32_t member) {
        Progress& at = progress_[member];
        const auto steps = program_.steps(member);
        for (; at.step < steps.size(); ++at.step, at.receive = 0) {
            const Program::Step& step = steps[at.step];
            for (; at.receive < step.receives; ++at.receive) {
                const Program::Receive& op = program_.receive(step.first_receive + at.receive);
                const std::uint32_t sender = program_.peer_of(member, op.peer);
                const std::uint64_t message = message_of(sender, op.send);
                const auto found = in_flight_.find(message);
                if (found == in_flight_.end()) {
                    at.waits_for = message;
                    return true;
                }
                if (!take(member, sender, op, found->second)) {
                    return false;
                }
                in_flight_.erase(found);
            }
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                if (!send(member, step.first_send + i)) {
                    return false;
                }
            }
        }
        return true;
    }

    bool send(std::uint32_t member, std::uint32_t op_index) {
        const Program::Send& op = program_.send(op_index);
        const std::uint32_t sets = state_.slots_in(op.payload);
        Words contents;
        contents.reserve(std::size_t{sets} * state_.words());
        for (std::uint32_t i = 0; i < sets; ++i) {
            const std::uint32_t slot = state_.slot_of(member, op.payload, i);
            if (state_.is_empty(member, slot)) {
                return fail(
                    member,
                    fmt::format("sends {}, which it does not hold", state_.slot_name(slot)));
            }
            const std::uint64_t* set = state_.set(member, slot);
            contents.insert(contents.end(), set, set + state_.words());
        }
        const std::uint64_t message = message_of(member, op_index);
        in_flight_.emplace(message, std::move(contents));
        Progress& receiver = progress_[program_.peer_of(member, op.peer)];
        if (receiver.waits_for == message) {
            receiver.waits_for = kNothing;
            ready_.push_back(program_.peer_of(member, op.peer));
        }
        return true;
    }

    bool take(std::uint32_t member,
              std::uint32_t sender,
              const Program::Receive& op,
              const Words& contents) {
        if (!same_blocks(member, op.payload, sender, program_.send(op.send).payload)) {
            return false;
        }
        for (std::uint32_t i = 0; i < state_.slots_in(op.payload); ++i) {
            const std::uint32_t slot = state_.slot_of(member, op.payload, i);
            const std::uint64_t* received = contents.data() + std::size_t{i} * state_.words();
            if (!op.reduce && !state_.always_adds()) {
                state_.overwrite(member, slot, received);
                continue;
            }
            const auto twice = state_.shared(member, slot, received);
            if (twice && !state_.always_adds()) {
                return fail(member,
                            fmt::format("the contribution of member {} to {} is reduced twice",
                                        *twice,
                                        state_.slot_name(slot)));
            }
            state_.add(member, slot, received);
        }
        return true;
    }

    bool same_blocks(std::uint32_t member,
                     const Payload& received,
                     std::uint32_t sender,
                     const Payload& sent) {
        if (program_.elements(received) != program_.elements(sent)) {
            return fail(member,
                        fmt::format("receives {} blocks, but member {} sends {}",
                                    program_.elements(received),
                                    sender,
                                    program_.elements(sent)));
        }
        for (std::uint32_t i = 0; i < state_.slots_in(sent); ++i) {
            const std::uint32_t expected = state_.slot_of(member, received, i);
            const std::uint32_t actual = state_.slot_of(sender, sent, i);
            if (expected != actual) {
                return fail(member,
                            fmt::format("receives {}, but member {} sends {}",
                                        state_.slot_name(expected),
                                        sender,
                                        state_.slot_name(actual)));
            }
        }
        return true;
    }

    // Who waits for ever; "" if all have finished.
    std::string deadlock() const {
        for (std::uint32_t member = 0; member < program_.members(); ++member) {
            const Progress& at = progress_[member];
            const auto steps = program_.steps(member);
            if (at.step == steps.size()) {
                continue;
            }
            const Program::Receive& op =
                program_.receive(steps[at.step].first_receive + at.receive);
            const std::uint32_t peer = program_.peer_of(member, op.peer);
            return fmt::format(
                "deadlock: member {}, step {}: waits for member {}, which waits in step {}",
                member,
                at.step,
                peer,
                progress_[peer].step);
        }
        return "";
    }

    bool fail(std::uint32_t member, std::string_view fault) {
        fault_ = fmt::format("member {}, step {}: {}", member, progress_[member].step, fault);
        return false;
    }

    std::uint64_t message_of(std::uint32_t sender, std::uint32_t op) const {
        return std::uint64_t{sender} << 32 | op;
    }

    const Program& program_;
    SymbolicState& state_;
    std::vector<Progress> progress_;
    std::vector<std::uint32_t> ready_;
    std::unordered_map<std::uint64_t, Words> in_flight_;  // by message; looked up, never walked
    std::string fault_;
};

}  // namespace

Verdict verify(const Program& program, CollectiveKind kind, std::uint32_t root) {
    std::string fault = RangeCheck(program, kind, root).fault();
    if (!fault.empty()) {
        return {false, std::move(fault)};
    }
    SymbolicState state(program, kind, root);
    Verdict verdict = Execution(program, state).run();
    if (!verdict.correct) {
        return verdict;
    }
    fault = order_fault(program, state);
    return {fault.empty(), fault};
}

}  // namespace astra
