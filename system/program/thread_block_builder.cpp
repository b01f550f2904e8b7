#include "system/program/thread_block_builder.h"

#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "system/program/send_order.h"
#include "system/program/send_pairing.h"

namespace astra {

ThreadBlockBuilder::ThreadBlockBuilder(std::uint32_t members,
                                       std::uint32_t blocks,
                                       const BufferLayout& memory) {
    program_.relation_ = Relation::Absolute;
    program_.members_ = members;
    program_.blocks_ = blocks;
    program_.blocks_a_member_ = members > 0 && blocks % members == 0 ? blocks / members : 1;
    program_.memory_ = memory;
}

void ThreadBlockBuilder::begin_member() {
    program_.first_sequence_.push_back(static_cast<std::uint32_t>(program_.first_step_.size()));
}

void ThreadBlockBuilder::begin_thread_block(std::uint32_t name) {
    ASTRA_CHECK(
        program_.first_step_.size() - program_.first_sequence_.back() < ThreadBlocks::kMostOfMember,
        "readers bound the thread blocks of a member");
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    thread_blocks_.names_.push_back(name);
}

void ThreadBlockBuilder::begin_step() {
    const auto number = static_cast<std::uint32_t>(program_.steps_.size());
    program_.steps_.push_back({number - program_.first_step_.back(),
                               static_cast<std::uint32_t>(program_.receives_.size()),
                               0,
                               static_cast<std::uint32_t>(program_.sends_.size()),
                               0});
    thread_blocks_.steps_.push_back({static_cast<std::uint32_t>(thread_blocks_.waits_.size()),
                                     0,
                                     static_cast<std::uint32_t>(thread_blocks_.locals_.size()),
                                     0,
                                     false});
}

void ThreadBlockBuilder::wait(const ThreadBlocks::Wait& wait) {
    thread_blocks_.waits_.push_back(wait);
    ++thread_blocks_.steps_.back().waits;
}

void ThreadBlockBuilder::local(const ThreadBlocks::Local& local) {
    thread_blocks_.locals_.push_back(local);
    ++thread_blocks_.steps_.back().locals;
}

void ThreadBlockBuilder::send(std::uint32_t peer, std::uint32_t channel, const Payload& payload) {
    Program::Send& send = program_.sends_.emplace_back();
    send.peer = peer;
    send.payload = payload;
    send.channel = channel;
    ++program_.steps_.back().sends;
    send_channels_.push_back(channel);
}

void ThreadBlockBuilder::receive(std::uint32_t peer,
                                 std::uint32_t channel,
                                 const Payload& payload,
                                 std::optional<std::uint32_t> addend) {
    program_.receives_.push_back({peer, 0, payload, addend.has_value(), payload.count});
    ++program_.steps_.back().receives;
    thread_blocks_.addends_.push_back(addend.value_or(payload.first));
    receive_channels_.push_back(channel);
}

Program ThreadBlockBuilder::finish() {
    const auto sequences = static_cast<std::uint32_t>(program_.first_step_.size());
    program_.first_step_.push_back(static_cast<std::uint32_t>(program_.steps_.size()));
    program_.first_sequence_.push_back(sequences);
    program_.thread_blocks_ = std::move(thread_blocks_);
    check_waits();
    SendPairing(program_, send_channels_, receive_channels_).pair();
    SendOrder(program_).number();
    return std::move(program_);
}

void ThreadBlockBuilder::check_waits() {
    for (std::uint32_t member = 0; member < program_.members_; ++member) {
        for (std::uint32_t sequence = 0; sequence < program_.sequences_of(member); ++sequence) {
            const auto steps = program_.steps(member, sequence);
            for (std::size_t s = 0; s < steps.size(); ++s) {
                for (const ThreadBlocks::Wait& wait :
                     program_.thread_blocks_->waits(program_.number_of(steps[s]))) {
                    check_wait(member, sequence, s, wait);
                }
            }
        }
    }
}

void ThreadBlockBuilder::check_wait(std::uint32_t member,
                                    std::uint32_t sequence,
                                    std::size_t step,
                                    const ThreadBlocks::Wait& wait) {
    const bool block_there = wait.thread_block < program_.sequences_of(member);
    if (!block_there || wait.step >= program_.steps(member, wait.thread_block).size()) {
        const std::string block =
            block_there ? fmt::format("thread block {}",
                                      program_.thread_blocks_->name(
                                          program_.sequence_at(member, wait.thread_block)))
                        : fmt::format("its thread block number {}", wait.thread_block);
        throw InputError(fmt::format("program: {}: waits for step {} of {}, which is not there",
                                     program_.step_name(member, sequence, step),
                                     wait.step,
                                     block));
    }
    const Program::Step& other = program_.steps(member, wait.thread_block)[wait.step];
    program_.thread_blocks_->steps_[program_.number_of(other)].waited_for = true;
}

}  // namespace astra
