#include "system/collective/program.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"

namespace astra {

bool has_root(CollectiveKind kind) {
    return kind == CollectiveKind::Broadcast || kind == CollectiveKind::Reduce ||
           kind == CollectiveKind::Gather || kind == CollectiveKind::Scatter;
}

std::uint32_t Program::mirrored(std::uint32_t member, std::uint32_t peer) const {
    switch (relation_) {
        case Relation::Rotation:
            return (members_ - peer) % members_;
        case Relation::Xor:
            return peer;
        case Relation::Grid: {
            const std::uint32_t x = (row_ - peer % row_) % row_;
            return (members_ - peer / row_ * row_) % members_ + x;
        }
        case Relation::Absolute:
            break;
    }
    return member;
}

std::uint64_t Program::longer_blocks(const Payload& payload,
                                     std::uint32_t member,
                                     std::uint64_t longer) const {
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < payload.count; ++i) {
        count += block_of(member, payload.block(i)) < longer ? 1 : 0;
    }
    return count;
}

ProgramBuilder::ProgramBuilder(Relation relation,
                               std::uint32_t members,
                               std::uint32_t blocks,
                               std::uint32_t row) {
    program_.relation_ = relation;
    program_.members_ = members;
    program_.blocks_ = blocks;
    program_.blocks_a_member_ = members > 0 && blocks % members == 0 ? blocks / members : 1;
    program_.row_ = row;
}

void ProgramBuilder::begin_role() {
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    wave_has_step_ = false;
    last_in_wave_ = false;
    program_.steps_.push_back({0,
                               static_cast<std::uint32_t>(program_.receives_.size()),
                               0,
                               static_cast<std::uint32_t>(program_.sends_.size()),
                               0});
}

void ProgramBuilder::begin_step() {
    Program::Step step;
    const bool same_wave = in_wave_ && wave_has_step_;
    step.wave = program_.steps_.back().wave + (same_wave ? 0 : 1);
    step.first_receive = static_cast<std::uint32_t>(program_.receives_.size());
    step.first_send = static_cast<std::uint32_t>(program_.sends_.size());
    program_.steps_.push_back(step);
}

void ProgramBuilder::send(std::uint32_t peer, const Payload& payload) {
    program_.sends_.push_back({peer, 0, payload, false, 0});
    ++program_.steps_.back().sends;
}

void ProgramBuilder::receive(std::uint32_t peer, const Payload& payload, bool reduce) {
    const Program::Step& last = program_.steps_.back();
    const bool other_wave = in_wave_ ? !wave_has_step_ : last_in_wave_;
    if (last.sends > 0 || (last.receives > 0 && other_wave)) {
        begin_step();
    }
    wave_has_step_ = in_wave_;
    last_in_wave_ = in_wave_;
    program_.receives_.push_back({peer, 0, payload, reduce, payload.count});
    ++program_.steps_.back().receives;
}

void ProgramBuilder::receive_partly(std::uint32_t peer,
                                    const Payload& payload,
                                    std::uint32_t urgent) {
    receive(peer, payload, true);
    program_.receives_.back().urgent = urgent;
}

namespace {

// One end of a transfer: where it comes from and goes to, and its place in the program.
struct End {
    std::uint64_t channel = 0;  // role of the receiver, peer as the receiver sees it
    std::uint32_t op = 0;
    std::uint32_t step = 0;
    std::uint32_t wave = 0;
};

bool by_channel(const End& a, const End& b) {
    return a.channel < b.channel;
}

}  // namespace

Program ProgramBuilder::finish() {
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    std::vector<End> sends;
    std::vector<End> receives;
    const bool absolute = program_.relation_ == Relation::Absolute;
    for (std::uint32_t role = 0; role + 1 < program_.first_step_.size(); ++role) {
        const auto steps = program_.steps(role);
        for (std::uint32_t s = 0; s < steps.size(); ++s) {
            for (std::uint32_t i = 0; i < steps[s].receives; ++i) {
                const std::uint32_t op = steps[s].first_receive + i;
                receives.push_back({(std::uint64_t{role} << 32) | program_.receives_[op].peer,
                                    op,
                                    s,
                                    steps[s].wave});
            }
            for (std::uint32_t i = 0; i < steps[s].sends; ++i) {
                const std::uint32_t op = steps[s].first_send + i;
                const std::uint32_t peer = program_.sends_[op].peer;
                const std::uint64_t receiver = absolute ? peer : 0;
                sends.push_back({(receiver << 32) | program_.mirrored(role, peer), op, s, 0});
            }
        }
    }
    std::stable_sort(sends.begin(), sends.end(), by_channel);
    std::stable_sort(receives.begin(), receives.end(), by_channel);
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        if (i >= sends.size() || i >= receives.size() || sends[i].channel != receives[i].channel) {
            const bool lonely_send = i >= receives.size() ||
                                     (i < sends.size() && sends[i].channel < receives[i].channel);
            const End& end = lonely_send ? sends[i] : receives[i];
            const std::uint64_t receiver = end.channel >> 32;
            const std::uint64_t sender = end.channel & 0xffffffffU;
            throw InputError(
                lonely_send
                    ? fmt::format(
                          "program: member {}, step {}: a send without its receive at member {}",
                          sender,
                          end.step,
                          receiver)
                    : fmt::format(
                          "program: member {}, step {}: a receive without its send at member {}",
                          receiver,
                          end.step,
                          sender));
        }
        Program::Send& send = program_.sends_[sends[i].op];
        Program::Receive& receive = program_.receives_[receives[i].op];
        send.wave = receives[i].wave;
        send.reduce = receive.reduce;
        send.urgent = receive.urgent;
        receive.send = sends[i].op;
    }
    return std::move(program_);
}

}  // namespace astra
