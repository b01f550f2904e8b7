#include "system/program/program.h"

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
            std::uint32_t back = 0;
            for (std::size_t i = 1; i < views_.size(); ++i) {
                const ProgramLevel& level = views_[i].level;
                const std::uint32_t step = peer / level.stride % level.members;
                back += (level.relation == Relation::Xor ? step
                                                         : (level.members - step) % level.members) *
                        level.stride;
            }
            return back;
        }
        case Relation::Absolute:
            break;
    }
    return member;
}

std::uint32_t Program::sender_of(std::uint32_t receiver, std::uint32_t send) const {
    if (relation_ != Relation::Absolute) {
        return peer_of(receiver, mirrored(receiver, sends_[send].peer));
    }
    if (views_.empty()) {
        return receiver;  // absolute blocks are the same for everybody
    }
    // Roles follow each other; so do their sends.
    const auto after = std::upper_bound(
        first_step_.begin(),
        first_step_.end() - 1,
        send,
        [&](std::uint32_t at, std::uint32_t step) { return at < steps_[step].first_send; });
    return static_cast<std::uint32_t>(after - first_step_.begin() - 1);
}

std::uint64_t Program::longer_blocks(const Payload& payload,
                                     std::uint32_t member,
                                     std::uint64_t longer) const {
    if (payload.level != 0) {
        return longer_in_level(payload, member, longer);
    }
    if (has_memory()) {
        const std::uint64_t end = std::uint64_t{payload.first} + payload.count;
        const auto below = [&](std::uint64_t limit) {
            return std::clamp<std::uint64_t>(limit, payload.first, end) - payload.first;
        };
        return below(longer) + payload.count - below(blocks_);
    }
    std::uint64_t count = 0;
    for (std::uint32_t i = 0; i < payload.count; ++i) {
        const std::uint32_t block = block_at(member, payload.block(i));
        count += block < longer || block >= blocks_ ? 1 : 0;
    }
    return count;
}

std::string Program::place(std::uint32_t member, std::uint32_t lane, std::size_t step) const {
    return has_lanes()
               ? fmt::format("member {}, lane {}, step {}", member, lane_name(member, lane), step)
               : fmt::format("member {}, step {}", member, step);
}

ProgramBuilder::ProgramBuilder(Relation relation, std::uint32_t members, std::uint32_t blocks) {
    program_.relation_ = relation;
    program_.members_ = members;
    program_.blocks_ = blocks;
    program_.blocks_a_member_ = members > 0 && blocks % members == 0 ? blocks / members : 1;
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
    program_.sends_.push_back({peer_in_level(peer), 0, in_level(payload), false, 0});
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
    program_.receives_.push_back(
        {peer_in_level(peer), 0, in_level(payload), reduce, payload.count});
    ++program_.steps_.back().receives;
}

void ProgramBuilder::receive_partly(std::uint32_t peer,
                                    const Payload& payload,
                                    std::uint32_t urgent) {
    receive(peer, payload, true);
    program_.receives_.back().urgent = urgent;
}

void ProgramBuilder::begin_member() {
    program_.first_lane_.push_back(static_cast<std::uint32_t>(program_.lane_names_.size()));
}

void ProgramBuilder::begin_lane(std::uint32_t name) {
    ASTRA_CHECK(program_.lane_names_.size() - program_.first_lane_.back() < kMostLanes,
                "readers bound the lanes of a member");
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    program_.lane_names_.push_back(name);
    wave_ = 0;
}

void ProgramBuilder::begin_lane_step() {
    program_.steps_.push_back({wave_++,
                               static_cast<std::uint32_t>(program_.receives_.size()),
                               0,
                               static_cast<std::uint32_t>(program_.sends_.size()),
                               0});
    program_.extras_.push_back({static_cast<std::uint32_t>(program_.waits_.size()),
                                0,
                                static_cast<std::uint32_t>(program_.locals_.size()),
                                0,
                                false});
}

void ProgramBuilder::wait(std::uint32_t lane, std::uint32_t step) {
    program_.waits_.push_back({lane, step});
    ++program_.extras_.back().waits;
}

void ProgramBuilder::local(const Program::Local& local) {
    program_.locals_.push_back(local);
    ++program_.extras_.back().locals;
}

void ProgramBuilder::lane_send(std::uint32_t peer, std::uint32_t channel, const Payload& payload) {
    send(peer, payload);
    send_channels_.push_back(channel);
}

void ProgramBuilder::lane_receive(std::uint32_t peer,
                                  std::uint32_t channel,
                                  const Payload& payload,
                                  std::optional<std::uint32_t> addend) {
    program_.receives_.push_back({peer, 0, payload, addend.has_value(), payload.count});
    ++program_.steps_.back().receives;
    program_.addends_.push_back(addend.value_or(payload.first));
    receive_channels_.push_back(channel);
}

Program ProgramBuilder::finish() {
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    if (program_.has_lanes()) {
        program_.first_lane_.push_back(static_cast<std::uint32_t>(program_.lane_names_.size()));
        check_waits();
    }
    std::vector<End> sends;
    std::vector<End> receives;
    list_ends(sends, receives);
    const auto by_channel = [](const End& a, const End& b) {
        return a.pair != b.pair ? a.pair < b.pair : a.channel < b.channel;
    };
    std::stable_sort(sends.begin(), sends.end(), by_channel);
    std::stable_sort(receives.begin(), receives.end(), by_channel);
    for (std::size_t i = 0; i < std::max(sends.size(), receives.size()); ++i) {
        if (i >= sends.size() || i >= receives.size() || !sends[i].same_channel(receives[i])) {
            const bool send =
                i >= receives.size() || (i < sends.size() && by_channel(sends[i], receives[i]));
            refuse_lonely(send ? sends[i] : receives[i], send);
        }
        Program::Send& send = program_.sends_[sends[i].op];
        Program::Receive& receive = program_.receives_[receives[i].op];
        send.wave = receives[i].wave;
        send.lane = receives[i].lane;
        send.reduce = receive.reduce;
        send.urgent = receive.urgent;
        receive.send = sends[i].op;
    }
    if (program_.has_lanes()) {
        refuse_shared_channels(sends, true);
        refuse_shared_channels(receives, false);
    }
    return std::move(program_);
}

void ProgramBuilder::list_ends(std::vector<End>& sends, std::vector<End>& receives) const {
    const bool absolute = program_.relation_ == Relation::Absolute;
    const std::uint32_t roles = absolute ? program_.members_ : 1;
    const auto channel = [](const std::vector<std::uint32_t>& channels, std::uint32_t op) {
        return channels.empty() ? 0 : channels[op];
    };
    for (std::uint32_t role = 0; role < roles; ++role) {
        for (std::uint32_t lane = 0; lane < program_.lanes(role); ++lane) {
            const auto steps = program_.steps(role, lane);
            for (std::uint32_t s = 0; s < steps.size(); ++s) {
                const Program::Step& step = steps[s];
                for (std::uint32_t op = step.first_receive; op < step.first_receive + step.receives;
                     ++op) {
                    receives.push_back({(std::uint64_t{role} << 32) | program_.receives_[op].peer,
                                        channel(receive_channels_, op),
                                        op,
                                        step.wave,
                                        s,
                                        static_cast<std::uint16_t>(lane)});
                }
                for (std::uint32_t op = step.first_send; op < step.first_send + step.sends; ++op) {
                    const std::uint32_t peer = program_.sends_[op].peer;
                    const std::uint64_t receiver = absolute ? peer : 0;
                    sends.push_back({(receiver << 32) | program_.mirrored(role, peer),
                                     channel(send_channels_, op),
                                     op,
                                     0,
                                     s,
                                     static_cast<std::uint16_t>(lane)});
                }
            }
        }
    }
}

std::string ProgramBuilder::place(std::uint64_t member, const End& end) const {
    return program_.place(static_cast<std::uint32_t>(member), end.lane, end.step);
}

void ProgramBuilder::refuse_lonely(const End& end, bool send) const {
    const std::uint64_t receiver = end.pair >> 32;
    const std::uint64_t sender = end.pair & 0xffffffffU;
    const std::string channel =
        program_.has_lanes() ? fmt::format(" on channel {}", end.channel) : "";
    throw InputError(send ? fmt::format("program: {}: a send without its receive at member {}{}",
                                        place(sender, end),
                                        receiver,
                                        channel)
                          : fmt::format("program: {}: a receive without its send at member {}{}",
                                        place(receiver, end),
                                        sender,
                                        channel));
}

// Ends are in the order of channels.
void ProgramBuilder::refuse_shared_channels(const std::vector<End>& ends, bool sends) const {
    for (std::size_t i = 1; i < ends.size(); ++i) {
        const End& a = ends[i - 1];
        const End& b = ends[i];
        if (a.same_channel(b) && a.lane != b.lane) {
            const std::uint64_t receiver = a.pair >> 32;
            const std::uint64_t sender = a.pair & 0xffffffffU;
            throw InputError(fmt::format(
                "program: {} and {}: both {} member {} on channel {}, and which comes first is "
                "not defined",
                place(sends ? sender : receiver, a),
                place(sends ? sender : receiver, b),
                sends ? "send to" : "receive from",
                sends ? receiver : sender,
                a.channel));
        }
    }
}

void ProgramBuilder::check_waits() {
    for (std::uint32_t member = 0; member < program_.members_; ++member) {
        for (std::uint32_t lane = 0; lane < program_.lanes(member); ++lane) {
            const auto steps = program_.steps(member, lane);
            for (std::uint32_t s = 0; s < steps.size(); ++s) {
                for (const Program::Wait& wait : program_.waits(program_.extra(steps[s]))) {
                    const bool there = wait.lane < program_.lanes(member) &&
                                       wait.step < program_.steps(member, wait.lane).size();
                    if (!there) {
                        throw InputError(fmt::format(
                            "program: {}: waits for step {} of {}, which is not there",
                            program_.place(member, lane, s),
                            wait.step,
                            wait.lane < program_.lanes(member)
                                ? fmt::format("lane {}", program_.lane_name(member, wait.lane))
                                : fmt::format("its lane number {}", wait.lane)));
                    }
                    const Program::Step& other = program_.steps(member, wait.lane)[wait.step];
                    program_.extras_[program_.step_at(other)].waited_for = true;
                }
            }
        }
    }
}

}  // namespace astra
