// One collective of one group while it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "astra/core/callback.h"
#include "astra/core/peer_wait.h"
#include "astra/core/recorder/recorder.h"
#include "astra/core/types.h"
#include "system/plan/asked_size.h"
#include "system/plan/collective_plan.h"
#include "system/run/pair_sizes.h"

namespace astra {

// What a rank asks for when its trace comes to a collective.
struct CollectiveRequest {
    CollectiveKind kind{};
    Bytes bytes;                     // as the trace gives it
    bool bytes_are_a_shard = false;  // of each rank, not the whole: all_gather, gather, scatter
    std::uint32_t dimensions = ~0U;  // bit k: dimension k takes part
    std::uint32_t root = 0;          // position; 0 where the kind has none
    std::uint64_t priority = 0;
    std::uint64_t sequence = 0;        // among those of the group, the same for all members
    std::uint64_t node_id = 0;         // for messages
    std::uint32_t node_algorithm = 0;  // as in PlanKey
    PairSizesOfRank pairs = {};  // of an all_to_all; `bytes` is then what this rank sends in all

    bool by_pair() const { return !pairs.sends.empty(); }
    PlanKey plan_key() const { return {kind, dimensions, root, by_pair(), node_algorithm}; }
    AskedSize size() const { return {bytes, bytes_are_a_shard, by_pair()}; }
};

struct CollectiveInstance {
    struct Member {
        Callback done;
        std::uint32_t chunks_left = 0;
        std::uint32_t sending = 0;  // phases that are over and of which something is to leave
        bool joined = false;
        SimTime since;      // when it joined
        PeerArrival heard;  // the last of those on which its steps depend
        PeerArrival held;   // and of those on which only the departure of what it sends depends
    };

    struct Chunk {
        const ChunkPhases* phases = nullptr;
        std::size_t first_run = 0;  // index into `runs`
    };

    const ProcessGroup* process_group = nullptr;
    const CollectivePlan* plan = nullptr;
    CollectiveRequest request;     // by pairs: `bytes` is the most that a rank asks for
    std::uint32_t number = 0;      // of the instance; given again when it has ended
    std::uint32_t first_rank = 0;  // who came first, with `request`
    std::uint64_t created = 0;     // order of creation among all collectives
    std::uint64_t sequence = 0;    // among those of the group
    std::uint64_t priority = 0;    // greater goes first
    SimTime start;
    SimTime end;
    PeerArrival last;          // to come so far; of several the first to be told
    Duration exposed;          // of the transfer at those that have left, a sum
    bool out_of_step = false;  // not all of them depend on the same arrival
    std::uint32_t joined = 0;
    std::uint32_t left = 0;
    std::uint32_t waiting = 0;         // chunks at ranks, for a dimension
    PairSizes pairs;                   // empty unless each pair has its size
    std::vector<Chunk> chunks;         // without phases: one chunk
    std::vector<Member> members;       // by position
    std::vector<std::uint16_t> phase;  // chunk · group size + position
    std::vector<Cause> spans;          // as `phase`: the present one's, if it is recorded
    Cause last_joined{};               // on whose behalf the last member came
    std::vector<std::uint32_t> runs;   // first_run of the chunk + that of the phase + subgroup

    const ProcessGroup& group() const { return *process_group; }
    void hear(std::uint32_t position, const PeerArrival& arrival) {
        if (arrival.at > members[position].heard.at) {
            members[position].heard = arrival;
            out_of_step = true;
        }
    }
    // The member takes what another has sent.
    void hear_from(std::uint32_t position, std::uint32_t sender, bool in_turn) {
        hear(position, members[sender].heard);
        if (in_turn) {
            hear(position, members[sender].held);
        }
    }
    // What the member sends leaves after what the receiver has done.
    void hold(std::uint32_t position, std::uint32_t receiver) {
        Member& member = members[position];
        if (members[receiver].heard.at > member.held.at) {
            member.held = members[receiver].heard;
        }
    }
    // What the member sends leaves after what another one has sent.
    void follow(std::uint32_t position, std::uint32_t other) {
        hold(position, other);
        if (members[other].held.at > members[position].held.at) {
            members[position].held = members[other].held;
        }
    }
    // Since when it has taken part, and whom it has waited for.
    PeerWait wait_of(std::uint32_t position) const {
        const Member& member = members[position];
        return {member.since, member.held.at > member.heard.at ? member.held : member.heard};
    }
    bool everyone_has_come() const { return joined == members.size(); }
    const ChunkPhases& phases(std::uint32_t chunk) const { return *chunks[chunk].phases; }
    std::uint16_t& phase_of(std::uint32_t chunk, std::uint32_t position) {
        return phase[std::size_t{chunk} * members.size() + position];
    }
    // Requires that phases are recorded.
    Cause& span_of(std::uint32_t chunk, std::uint32_t position) {
        return spans[std::size_t{chunk} * members.size() + position];
    }
    // The whole buffer, by which algorithms cut it.
    Bytes total() const { return request.size().buffer(plan->members); }
    Bytes chunk_bytes(std::uint32_t chunk) const {
        const Bytes part = part_of(request.bytes, chunks.size(), chunk);
        return {saturating_multiply(part.count, request.bytes_are_a_shard ? plan->members : 1)};
    }
    // In which of a dimension's `queues` a chunk waits for a phase. Phases up and down of an
    // all_reduce have different ones as far as there are enough.
    std::uint32_t queue_of(std::uint32_t chunk,
                           const PhasePlan& phase_plan,
                           std::uint32_t queues) const {
        if (!plan->returns || queues == 1) {
            return chunk % queues;
        }
        const std::uint32_t up = queues / 2;
        return phase_plan.returning ? up + chunk % (queues - up) : chunk % up;
    }
    // As in ASTRA-sim, the upper half of the queues runs rings in the other direction, so that both
    // directions of the links are used; not the phases up and down of an all_reduce, which have
    // different queues.
    bool is_reversed(std::uint32_t chunk, const PhasePlan& phase_plan, std::uint32_t queues) const {
        return !plan->returns && queue_of(chunk, phase_plan, queues) >= (queues + 1) / 2;
    }
};

// A chunk of a collective at one rank of it.
struct ChunkAt {
    CollectiveInstance* instance = nullptr;
    std::uint32_t position = 0;
    std::uint32_t chunk = 0;

    // That it is in, or waits for.
    std::uint32_t phase() const { return instance->phase_of(chunk, position); }
    const PhasePlan& phase_plan() const { return instance->phases(chunk).plans[phase()]; }
};

}  // namespace astra
