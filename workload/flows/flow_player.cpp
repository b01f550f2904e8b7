#include "workload/flows/flow_player.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "astra/core/check.h"

namespace astra {

namespace {

// Flows that one event starts: few enough that a limit or an interruption is seen between them.
constexpr std::uint32_t kStartsAnEvent = 4096;

constexpr std::uint64_t pack(std::uint32_t job, std::uint32_t flow) {
    return (std::uint64_t{job} << 32) | flow;
}
constexpr std::uint32_t job_of(std::uint64_t argument) {
    return static_cast<std::uint32_t>(argument >> 32);
}
constexpr std::uint32_t flow_of(std::uint64_t argument) {
    return static_cast<std::uint32_t>(argument);
}

}  // namespace

void FlowPlayer::add_job(FlowJob job) {
    Player& player = players_.emplace_back();
    player.job = std::move(job);
    const FlowSet& flows = player.job.flows;
    player.entry.assign(player.job.fabric_ranks.size(), kNoEntry);
    player.start_ps.assign(flows.size(), kNotYet);
    player.finish_ps.assign(flows.size(), kNotYet);
    for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
        for (const std::uint32_t rank : {flows.source(flow), flows.destination(flow)}) {
            ASTRA_CHECK(rank < player.entry.size(), "a flow set is read for the ranks of its job");
            if (player.entry[rank] == kNoEntry) {
                player.entry[rank] = ranks();
                ranks_.emplace_back().fabric_rank = player.job.fabric_ranks[rank];
            }
            ++ranks_[player.entry[rank]].flows_left;
        }
    }
    flows_ += flows.size();
}

void FlowPlayer::start() {
    for (std::uint32_t job = 0; job < players_.size(); ++job) {
        if (recorder_ != nullptr) {
            players_[job].released_by.resize(players_[job].job.flows.size());
        }
        queue_.schedule_at(players_[job].job.start,
                           Callback::to<&FlowPlayer::start_some>(*this, pack(job, 0)));
    }
}

void FlowPlayer::start_some(std::uint64_t argument) {
    const std::uint32_t number = job_of(argument);
    const FlowSet& flows = players_[number].job.flows;
    const std::uint32_t begin = flow_of(argument);
    const std::uint32_t end = begin + std::min(flows.size() - begin, kStartsAnEvent);
    for (std::uint32_t flow = begin; flow < end; ++flow) {
        if (flows.parent(flow) == FlowSet::kNone) {
            release(number, flow);
        }
    }
    if (end < flows.size()) {
        queue_.schedule_after({}, Callback::to<&FlowPlayer::start_some>(*this, pack(number, end)));
    }
}

// Nothing but its own start holds the flow up any more.
void FlowPlayer::release(std::uint32_t number, std::uint32_t flow) {
    Player& player = players_[number];
    const SimTime earliest = player.job.start + player.job.flows.earliest(flow);
    if (earliest > queue_.now()) {
        if (recorder_ != nullptr) {
            player.released_by[flow] = recorder_->current();
        }
        queue_.schedule_at(earliest,
                           Callback::to<&FlowPlayer::start_one>(*this, pack(number, flow)));
    } else {
        send_now(pack(number, flow));
    }
}

// It is the flow's start, and what it waited for has been received.
void FlowPlayer::start_one(std::uint64_t argument) {
    const Recorder::Because because(
        recorder_,
        recorder_ == nullptr ? kNoCause
                             : players_[job_of(argument)].released_by[flow_of(argument)]);
    send_now(argument);
}

void FlowPlayer::send_now(std::uint64_t argument) {
    Player& player = players_[job_of(argument)];
    const FlowSet& flows = player.job.flows;
    const std::uint32_t flow = flow_of(argument);
    const SimTime now = queue_.now();
    Rank& source = ranks_[player.entry[flows.source(flow)]];
    Rank& destination = ranks_[player.entry[flows.destination(flow)]];
    player.start_ps[flow] = now.ps;
    source.activity.begin(Activity::Communication, now);
    destination.activity.begin(Activity::Communication, now);
    ++messages_;
    bytes_ = saturating_add(bytes_, flows.bytes(flow).count);
    network_.send({RankId{source.fabric_rank}, RankId{destination.fabric_rank}, flows.bytes(flow)},
                  now,
                  Callback::to<&FlowPlayer::on_delivered>(*this, argument));
}

void FlowPlayer::on_delivered(std::uint64_t argument) {
    const std::uint32_t number = job_of(argument);
    const std::uint32_t flow = flow_of(argument);
    Player& player = players_[number];
    const FlowSet& flows = player.job.flows;
    ASTRA_CHECK(player.finish_ps[flow] == kNotYet, "a flow is received once");
    player.finish_ps[flow] = queue_.now().ps;
    ++finished_flows_;
    // The next flows first: a rank that goes on communicating does not stop in between.
    for (const std::uint32_t child : flows.children(flow)) {
        release(number, child);
    }
    finish_at(ranks_[player.entry[flows.source(flow)]]);
    finish_at(ranks_[player.entry[flows.destination(flow)]]);
}

void FlowPlayer::finish_at(Rank& rank) {
    rank.activity.end(Activity::Communication, queue_.now());
    if (--rank.flows_left == 0) {
        rank.finish = queue_.now();
        ++finished_ranks_;
    }
}

std::vector<RankRecord> FlowPlayer::rank_records() const {
    std::vector<RankRecord> records;
    records.reserve(ranks_.size());
    for (const Rank& rank : ranks_) {
        const SimTime finish = rank.flows_left == 0 ? rank.finish : queue_.now();
        records.push_back(rank.activity.record(RankId{rank.fabric_rank}, finish));
    }
    std::sort(records.begin(), records.end(), [](const RankRecord& a, const RankRecord& b) {
        return a.rank < b.rank;
    });
    return records;
}

std::vector<FlowRecord> FlowPlayer::flow_records() const {
    std::vector<FlowRecord> records;
    records.reserve(flows_);
    for (std::uint32_t number = 0; number < players_.size(); ++number) {
        const Player& player = players_[number];
        const FlowSet& flows = player.job.flows;
        for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
            const std::uint32_t parent = flows.parent(flow);
            records.push_back({flows.id(flow),
                               RankId{player.job.fabric_ranks[flows.source(flow)]},
                               RankId{player.job.fabric_ranks[flows.destination(flow)]},
                               flows.bytes(flow),
                               parent == FlowSet::kNone ? 0 : flows.id(parent),
                               {player.start_ps[flow]},
                               {player.finish_ps[flow]},
                               number});
        }
    }
    return records;
}

std::string FlowPlayer::describe(const Player& player, std::uint32_t flow) const {
    const FlowSet& flows = player.job.flows;
    const std::string what = fmt::format("{}{}flow {} (rank {} -> rank {}, {} B)",
                                         player.job.name,
                                         player.job.name.empty() ? "" : ": ",
                                         flows.id(flow),
                                         player.job.fabric_ranks[flows.source(flow)],
                                         player.job.fabric_ranks[flows.destination(flow)],
                                         flows.bytes(flow).count);
    if (player.start_ps[flow] != kNotYet) {
        return fmt::format("{} has been on its way since {} ps", what, player.start_ps[flow]);
    }
    const std::uint32_t parent = flows.parent(flow);
    if (parent != FlowSet::kNone && player.finish_ps[parent] == kNotYet) {
        return fmt::format("{} waits for flow {}", what, flows.id(parent));
    }
    return fmt::format(
        "{} waits for its start at {} ps", what, (player.job.start + flows.earliest(flow)).ps);
}

std::vector<std::string> FlowPlayer::describe_stuck(std::size_t most) const {
    std::vector<std::string> lines;
    for (const bool on_the_way : {true, false}) {
        for (const Player& player : players_) {
            for (std::uint32_t flow = 0; flow < player.job.flows.size(); ++flow) {
                const bool sent = player.start_ps[flow] != kNotYet;
                if (lines.size() < most && player.finish_ps[flow] == kNotYet &&
                    sent == on_the_way) {
                    lines.push_back(describe(player, flow));
                }
            }
        }
    }
    const std::uint64_t unfinished = flows_ - finished_flows_;
    if (unfinished > lines.size()) {
        lines.push_back(fmt::format("and {} more flows", unfinished - lines.size()));
    }
    return lines;
}

}  // namespace astra
