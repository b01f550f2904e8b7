#include "system/program/program_report.h"

#include <algorithm>
#include <limits>

namespace astra {

namespace {

constexpr std::uint32_t kNotYet = std::numeric_limits<std::uint32_t>::max();
// More payloads than these are not cut into bytes one by one.
constexpr std::uint64_t kMostExact = std::uint64_t{1} << 26U;

// The round of every step, of every stored sequence.
class Rounds {
  public:
    explicit Rounds(const Program& program)
        : program_(program),
          thread_blocks_(program.thread_blocks()),
          sequences_(program.relation() == Relation::Absolute ? program.sequences() : 1),
          sent_in_(program.stored_sends(), kNotYet),
          progress_(sequences_) {
        for (std::size_t sequence = 0; sequence < sequences_; ++sequence) {
            progress_[sequence].rounds.assign(program.steps_at(sequence).size(), kNotYet);
        }
        name_members();
        for (bool moved = true; moved;) {
            moved = false;
            for (std::size_t sequence = 0; sequence < sequences_; ++sequence) {
                while (advance(sequence)) {
                    moved = true;
                }
            }
        }
    }

    bool finishes() const { return finishes_of(0, sequences_); }
    // kNotYet for a step that waits for ever.
    std::uint32_t of(std::size_t sequence, std::size_t step) const {
        return progress_[sequence].rounds[step];
    }

  private:
    struct Progress {
        std::size_t step = 0;
        std::uint32_t member = 0;
        std::vector<std::uint32_t> rounds;
    };

    void name_members() {
        if (sequences_ == 1) {
            return;
        }
        for (std::uint32_t member = 0; member < program_.members(); ++member) {
            for (std::uint32_t sequence = 0; sequence < program_.sequences_of(member); ++sequence) {
                progress_[program_.sequence_at(member, sequence)].member = member;
            }
        }
    }

    bool finishes_of(std::size_t first, std::size_t last) const {
        return std::all_of(progress_.begin() + static_cast<std::ptrdiff_t>(first),
                           progress_.begin() + static_cast<std::ptrdiff_t>(last),
                           [](const Progress& here) { return here.step == here.rounds.size(); });
    }

    // Does the sequence's next step if it has all that it waits for.
    bool advance(std::size_t sequence) {
        Progress& here = progress_[sequence];
        if (here.step == here.rounds.size()) {
            return false;
        }
        const Program::Step& step = program_.steps_at(sequence)[here.step];
        std::uint32_t round = here.step == 0 ? 0 : here.rounds[here.step - 1];
        for (std::uint32_t i = 0; i < step.receives; ++i) {
            const std::uint32_t sent = sent_in_[program_.receive(step.first_receive + i).send];
            if (sent == kNotYet) {
                return false;
            }
            round = std::max(round, sent + 1);
        }
        if (thread_blocks_ != nullptr) {
            for (const ThreadBlocks::Wait& wait : thread_blocks_->waits(program_.number_of(step))) {
                const Progress& other =
                    progress_[program_.sequence_at(here.member, wait.thread_block)];
                if (other.step <= wait.step) {
                    return false;
                }
                round = std::max(round, other.rounds[wait.step]);
            }
        }
        for (std::uint32_t i = 0; i < step.sends; ++i) {
            sent_in_[step.first_send + i] = round;
        }
        here.rounds[here.step++] = round;
        return true;
    }

    const Program& program_;
    const ThreadBlocks* thread_blocks_;
    std::size_t sequences_;
    std::vector<std::uint32_t> sent_in_;  // by stored send: its round
    std::vector<Progress> progress_;      // by sequence
};

// Calls visit(member, send, round) for every send of a member that is done at all.
template <typename Visit>
void visit_sends(const Program& program,
                 const Rounds& rounds,
                 std::uint32_t member,
                 const Visit& visit) {
    for (std::uint32_t sequence = 0; sequence < program.sequences_of(member); ++sequence) {
        const std::size_t at =
            program.relation() == Relation::Absolute ? program.sequence_at(member, sequence) : 0;
        const auto steps = program.steps_at(at);
        for (std::size_t s = 0; s < steps.size() && rounds.of(at, s) != kNotYet; ++s) {
            for (std::uint32_t i = 0; i < steps[s].sends; ++i) {
                visit(program.send(steps[s].first_send + i), rounds.of(at, s));
            }
        }
    }
}

}  // namespace

ProgramReport report_program(const Program& program, Bytes size) {
    const Rounds rounds(program);
    ProgramReport report;
    report.finishes = rounds.finishes();
    const bool once = program.relation() != Relation::Absolute;
    Program::BlockSizes sizes = program.cut(size);
    const bool exact =
        !once || saturating_multiply(program.members(), program.stored_sends()) <= kMostExact;
    if (!exact) {
        sizes = {sizes.base + (sizes.longer > 0 ? 1 : 0), 0};
    }
    const std::uint32_t looked_at = exact ? program.members() : 1;
    std::vector<std::uint64_t> received(looked_at);
    for (std::uint32_t member = 0; member < looked_at; ++member) {
        std::uint64_t messages = 0;
        Bytes sent;
        visit_sends(program, rounds, member, [&](const Program::Send& send, std::uint32_t round) {
            const Bytes bytes = program.bytes_of(send.payload, member, sizes);
            ++messages;
            sent.count = saturating_add(sent.count, bytes.count);
            report.rounds = std::max(report.rounds, round + 1);
            std::uint64_t& got = received[exact ? program.peer_of(member, send.peer) : 0];
            got = saturating_add(got, bytes.count);
        });
        report.messages = saturating_add(report.messages, messages);
        report.messages_most = std::max(report.messages_most, messages);
        report.sent_most = std::max(report.sent_most, sent);
        report.sent_by_all.count = saturating_add(report.sent_by_all.count, sent.count);
    }
    if (!exact) {
        report.messages = saturating_multiply(report.messages, program.members());
        report.sent_by_all.count = saturating_multiply(report.sent_by_all.count, program.members());
    }
    for (const std::uint64_t bytes : received) {
        report.received_most.count = std::max(report.received_most.count, bytes);
    }
    return report;
}

std::vector<ProgramMessage> list_messages(const Program& program, Bytes size) {
    const Rounds rounds(program);
    const Program::BlockSizes sizes = program.cut(size);
    std::vector<ProgramMessage> messages;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        visit_sends(program, rounds, member, [&](const Program::Send& send, std::uint32_t round) {
            messages.push_back({member,
                                program.peer_of(member, send.peer),
                                round,
                                program.block_of(member, send.payload, 0),
                                program.elements(send.payload),
                                send.reduce,
                                program.bytes_of(send.payload, member, sizes)});
        });
    }
    std::stable_sort(
        messages.begin(), messages.end(), [](const ProgramMessage& a, const ProgramMessage& b) {
            return a.round < b.round;
        });
    return messages;
}

Bytes least_bytes_sent(CollectiveKind kind, std::uint32_t members, Bytes size) {
    const std::uint64_t others = members - 1;
    switch (kind) {
        case CollectiveKind::AllReduce:
            return {saturating_multiply(2 * others, size.count)};
        case CollectiveKind::Gather:
        case CollectiveKind::Scatter:
            return {size.count - size.count / members};
        case CollectiveKind::Barrier:
            return {};
        default:
            return {saturating_multiply(others, size.count)};
    }
}

}  // namespace astra
