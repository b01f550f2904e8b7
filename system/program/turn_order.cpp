#include "system/program/turn_order.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace astra {

// Calls visit(role, receive) for those that take turns, in the order of the program.
template <typename Visit>
void TurnOrder::for_each_receive(Visit visit) const {
    const std::uint32_t roles = program_.relation() == Relation::Absolute ? program_.members() : 1;
    for (std::uint32_t role = 0; role < roles; ++role) {
        for (const Program::Step& step : program_.steps(role)) {
            for (std::uint32_t i = 0; i < step.receives; ++i) {
                if (turns_[step.first_receive + i].number != Program::kNoTurns) {
                    visit(role, step.first_receive + i);
                }
            }
        }
    }
}

bool TurnOrder::meets_several() const {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> peers;  // by role and turns
    bool several = false;
    for_each_receive([&](std::uint32_t role, std::uint32_t receive) {
        const std::uint32_t peer = program_.receive(receive).peer;
        several = several ||
                  peers.try_emplace({role, turns_[receive].number}, peer).first->second != peer;
    });
    return several;
}

void TurnOrder::number() {
    Program::Order& order = program_.order_;
    order.takes_turns = meets_several();
    if (!order.takes_turns) {
        return;
    }
    std::map<std::uint32_t, std::uint32_t> numbers;  // of the builder's
    for_each_receive([&](std::uint32_t, std::uint32_t receive) {
        numbers.try_emplace(turns_[receive].number, static_cast<std::uint32_t>(numbers.size()));
    });
    order.turns = static_cast<std::uint32_t>(numbers.size());
    const std::size_t roles = program_.relation() == Relation::Absolute ? program_.members() : 1;
    std::vector<std::vector<std::uint32_t>> lists(roles * order.turns);
    for_each_receive([&](std::uint32_t role, std::uint32_t receive) {
        const std::uint32_t turns = numbers.at(turns_[receive].number);
        std::vector<std::uint32_t>& list = lists[std::size_t{role} * order.turns + turns];
        Program::Send& send = program_.sends_[program_.receive(receive).send];
        send.turns = turns;
        send.turn = turns_[receive].after == kInOrder ? static_cast<std::uint32_t>(list.size())
                                                      : turns_[receive].after;
        list.push_back(receive);
    });
    for (std::vector<std::uint32_t>& list : lists) {
        std::stable_sort(list.begin(), list.end(), [&](std::uint32_t a, std::uint32_t b) {
            return program_.send(program_.receive(a).send).turn <
                   program_.send(program_.receive(b).send).turn;
        });
        program_.first_turn_.push_back(static_cast<std::uint32_t>(program_.turns_.size()));
        program_.turns_.insert(program_.turns_.end(), list.begin(), list.end());
    }
    program_.first_turn_.push_back(static_cast<std::uint32_t>(program_.turns_.size()));
}

}  // namespace astra
