#include "system/program/program_builder.h"

#include <utility>

#include "system/program/send_order.h"
#include "system/program/send_pairing.h"
#include "system/program/turn_order.h"

namespace astra {

ProgramBuilder::ProgramBuilder(Relation relation, std::uint32_t members, std::uint32_t blocks) {
    program_.relation_ = relation;
    program_.members_ = members;
    program_.blocks_ = blocks;
    program_.blocks_a_member_ = members > 0 && blocks % members == 0 ? blocks / members : 1;
}

void ProgramBuilder::add_levels(const std::vector<ProgramLevel>& levels, bool pairs) {
    program_.levels_ = ProgramLevels(levels, program_.members_, program_.blocks_a_member_, pairs);
}

std::uint32_t ProgramBuilder::peer_in_level(std::uint32_t peer) const {
    if (level_ == 0) {
        return peer;
    }
    if (program_.relation_ == Relation::Grid) {
        return peer * program_.levels_.stride(level_);
    }
    const auto member = static_cast<std::uint32_t>(program_.first_step_.size() - 1);
    return program_.levels_.peer_of(level_, member, peer);
}

void ProgramBuilder::begin_role() {
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    tag_has_step_ = false;
    last_in_any_order_ = false;
    channel_ = 0;
    take_no_turns();
    program_.steps_.push_back({0,
                               static_cast<std::uint32_t>(program_.receives_.size()),
                               0,
                               static_cast<std::uint32_t>(program_.sends_.size()),
                               0});
}

void ProgramBuilder::begin_step() {
    Program::Step step;
    const bool same_tag = in_any_order_ && tag_has_step_;
    step.tag = program_.steps_.back().tag + (same_tag ? 0 : 1);
    step.first_receive = static_cast<std::uint32_t>(program_.receives_.size());
    step.first_send = static_cast<std::uint32_t>(program_.sends_.size());
    program_.steps_.push_back(step);
}

void ProgramBuilder::send(std::uint32_t peer, const Payload& payload) {
    Program::Send& send = program_.sends_.emplace_back();
    send.peer = peer_in_level(peer);
    send.payload = in_level(payload);
    send.channel = full_channel();
    ++program_.steps_.back().sends;
}

void ProgramBuilder::receive(std::uint32_t peer, const Payload& payload, bool reduce) {
    const Program::Step& last = program_.steps_.back();
    const bool other_tag = in_any_order_ ? !tag_has_step_ : last_in_any_order_;
    if (last.sends > 0 || (last.receives > 0 && other_tag)) {
        begin_step();
    }
    tag_has_step_ = in_any_order_;
    last_in_any_order_ = in_any_order_;
    program_.receives_.push_back(
        {peer_in_level(peer), 0, in_level(payload), reduce, payload.count});
    turns_of_receives_.push_back(turns_);
    ++program_.steps_.back().receives;
}

void ProgramBuilder::receive_partly(std::uint32_t peer,
                                    const Payload& payload,
                                    std::uint32_t urgent) {
    receive(peer, payload, true);
    program_.receives_.back().urgent = urgent;
}

void ProgramBuilder::multicast(std::span<const std::uint32_t> peers, const Payload& payload) {
    if (peers.size() > 1) {
        program_.switch_operations_.multicasts.push_back(
            {static_cast<std::uint32_t>(program_.sends_.size()),
             static_cast<std::uint32_t>(peers.size())});
    }
    for (const std::uint32_t peer : peers) {
        send(peer, payload);
    }
}

void ProgramBuilder::receive_reduced(std::span<const std::uint32_t> peers, const Payload& payload) {
    if (peers.size() > 1) {
        program_.switch_operations_.reductions.push_back(
            {static_cast<std::uint32_t>(program_.receives_.size()),
             static_cast<std::uint32_t>(peers.size())});
    }
    for (const std::uint32_t peer : peers) {
        receive(peer, payload, true);
    }
}

Program ProgramBuilder::finish() {
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    SendPairing(program_).pair();
    SendOrder(program_).number();
    TurnOrder(program_, turns_of_receives_).number();
    return std::move(program_);
}

}  // namespace astra
