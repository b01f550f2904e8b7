#include "system/program/verifier/order_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

namespace astra {

namespace {

class OrderCheck {
  public:
    OrderCheck(const Program& program, const SymbolicState& state)
        : program_(program), state_(state), changes_(state.positions(), Change::None) {}

    std::string fault() {
        for (std::uint32_t member = 0; member < program_.members(); ++member) {
            for (std::uint32_t sequence = 0; sequence < program_.sequences_of(member); ++sequence) {
                std::string fault = fault_of(member, sequence);
                if (!fault.empty()) {
                    return fault;
                }
            }
        }
        return "";
    }

  private:
    enum class Change : std::uint8_t { None, Adds, Overwrites };

    std::string fault_of(std::uint32_t member, std::uint32_t sequence) {
        const auto steps = program_.steps(member, sequence);
        std::string fault;
        for (std::size_t first = 0; first < steps.size() && fault.empty();) {
            std::size_t last = first;
            while (last + 1 < steps.size() && steps[last + 1].tag == steps[first].tag) {
                ++last;
            }
            fault = fault_of(member, sequence, first, last);
            first = last + 1;
        }
        return fault;
    }

    std::string fault_of(std::uint32_t member,
                         std::uint32_t sequence,
                         std::size_t first,
                         std::size_t last) {
        const auto steps = program_.steps(member, sequence);
        changed_.clear();
        std::string fault;
        for (std::size_t s = first; s <= last && fault.empty(); ++s) {
            for (std::uint32_t i = 0; i < steps[s].receives && fault.empty(); ++i) {
                const Program::Receive& op = program_.receive(steps[s].first_receive + i);
                fault = fault_of_receive(member, op, steps[s]);
            }
            fault = fault.empty()
                        ? ""
                        : fmt::format("{}: {}", program_.step_name(member, sequence, s), fault);
        }
        for (std::size_t s = first; s < last && fault.empty(); ++s) {
            const std::uint32_t position = sent_of_changed(member, steps[s]);
            if (position != kNoPosition) {
                fault = fmt::format("{}: sends {}, which messages of the same tag change",
                                    program_.step_name(member, sequence, s),
                                    state_.position_name(position));
            }
        }
        for (const std::uint32_t position : changed_) {
            changes_[position] = Change::None;
        }
        return fault;
    }

    std::string fault_of_receive(std::uint32_t member,
                                 const Program::Receive& op,
                                 const Program::Step& step) {
        const Change change = op.reduce || state_.always_adds() ? Change::Adds : Change::Overwrites;
        for (std::uint32_t i = 0; i < state_.positions_in(op.payload); ++i) {
            const std::uint32_t position = state_.position_of(member, op.payload, i);
            const Change before = changes_[position];
            if (before != Change::None &&
                (before == Change::Overwrites || change == Change::Overwrites)) {
                return fmt::format("receives {}, which another message of the same tag changes too",
                                   state_.position_name(position));
            }
            if (before == Change::None) {
                changed_.push_back(position);
            }
            changes_[position] = change;
        }
        if (op.urgent >= op.payload.count) {
            return "";
        }
        const std::uint32_t sent_on = sent_on_of(member, op.payload, step);
        Payload first = op.payload;
        first.count = op.urgent;
        const std::uint32_t urgent = program_.elements(first);
        return sent_on <= urgent ? ""
                                 : fmt::format(
                                       "sends on {} blocks of a message, of which {} "
                                       "are urgent",
                                       sent_on,
                                       urgent);
    }

    // How many blocks of a received payload the step sends.
    std::uint32_t sent_on_of(std::uint32_t member,
                             const Payload& received,
                             const Program::Step& step) const {
        std::vector<std::uint32_t> sent;
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            const Payload& payload = program_.send(step.first_send + i).payload;
            for (std::uint32_t k = 0; k < state_.positions_in(payload); ++k) {
                sent.push_back(state_.position_of(member, payload, k));
            }
        }
        std::sort(sent.begin(), sent.end());
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < state_.positions_in(received); ++i) {
            const std::uint32_t position = state_.position_of(member, received, i);
            sum += std::binary_search(sent.begin(), sent.end(), position) ? 1U : 0U;
        }
        return sum;
    }

    std::uint32_t sent_of_changed(std::uint32_t member, const Program::Step& step) const {
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            const Payload& payload = program_.send(step.first_send + i).payload;
            for (std::uint32_t k = 0; k < state_.positions_in(payload); ++k) {
                const std::uint32_t position = state_.position_of(member, payload, k);
                if (changes_[position] != Change::None) {
                    return position;
                }
            }
        }
        return kNoPosition;
    }

    static constexpr std::uint32_t kNoPosition = std::numeric_limits<std::uint32_t>::max();

    const Program& program_;
    const SymbolicState& state_;
    std::vector<Change> changes_;         // by position, of the tag in hand
    std::vector<std::uint32_t> changed_;  // positions that are not None
};

}  // namespace

std::string order_fault(const Program& program, const SymbolicState& state) {
    return OrderCheck(program, state).fault();
}

}  // namespace astra
