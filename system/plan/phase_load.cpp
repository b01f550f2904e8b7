#include "system/plan/phase_load.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace astra {

namespace {

// Large beside the rounding to bytes and picoseconds, and every block of it is equally long.
constexpr std::uint64_t kBytesABlock = std::uint64_t{1} << 20U;

// What one member sends, by peer as the program says it.
struct Traffic {
    std::map<std::uint32_t, std::uint64_t> bytes;
    std::uint64_t steps = 1;  // one after the other
};

Traffic traffic_of(const Program& program, std::uint32_t member, Bytes size) {
    Traffic traffic;
    const Program::BlockSizes sizes = program.cut(size);
    for (std::uint32_t sequence = 0; sequence < program.sequences_of(member); ++sequence) {
        for (const Program::Step& step : program.steps(member, sequence)) {
            for (std::uint32_t i = 0; i < step.sends; ++i) {
                const Program::Send& send = program.send(step.first_send + i);
                traffic.bytes[send.peer] += program.bytes_of(send.payload, member, sizes).count;
                traffic.steps = std::max<std::uint64_t>(traffic.steps, send.tag);
            }
        }
    }
    return traffic;
}

class Loads {
  public:
    explicit Loads(Routing& routing) : routing_(routing) {}

    void add(std::uint32_t source, std::uint32_t destination, std::uint64_t bytes) {
        const auto classes = routing_.topology().classes();
        Duration latency;
        for (std::uint32_t node = source; node != destination;) {
            const Hop hop = routing_.next_hop(node, source, destination);
            const LinkProperties& link = classes[hop.link_class];
            for (std::uint32_t step = 0; step < hop.count; ++step) {
                std::uint64_t& load = bytes_[routing_.link_of(hop, step)];
                load += bytes;
                busiest_ = std::max(busiest_, transfer_time({load}, link.bandwidth));
                latency = latency + link.latency;
            }
            node = hop.end;
        }
        longest_ = std::max(longest_, latency);
    }
    Duration busiest() const { return busiest_; }
    Duration longest() const { return longest_; }

  private:
    Routing& routing_;
    std::unordered_map<std::uint32_t, std::uint64_t> bytes_;  // by link
    Duration busiest_;
    Duration longest_;
};

}  // namespace

Duration PhaseLoad::busy(Bytes size) const {
    using Wide = unsigned __int128;
    const Wide product = Wide{busy_of_reference.ps} * size.count;
    const Wide ps = (product + reference.count - 1) / reference.count;
    return {ps > kMaxPs ? kMaxPs : static_cast<std::uint64_t>(ps)};
}

PhaseLoad phase_load(const Program& program,
                     std::span<const std::uint32_t> ranks,
                     Routing& routing,
                     Duration endpoint_delay) {
    PhaseLoad load;
    load.reference = {program.blocks() * kBytesABlock};
    Loads links(routing);
    const std::uint64_t steps =
        each_pair(program,
                  ranks,
                  load.reference,
                  [&](std::uint32_t source, std::uint32_t destination, Bytes bytes) {
                      links.add(source, destination, bytes.count);
                  });
    load.busy_of_reference = links.busiest();
    load.latency = {
        saturating_multiply(steps, saturating_add(links.longest().ps, endpoint_delay.ps))};
    return load;
}

std::uint64_t each_pair(
    const Program& program,
    std::span<const std::uint32_t> ranks,
    Bytes size,
    const std::function<void(std::uint32_t source, std::uint32_t destination, Bytes bytes)>& pair) {
    Traffic traffic;
    std::uint64_t steps = 1;
    for (std::uint32_t member = 0; member < program.members(); ++member) {
        if (member == 0 || program.relation() == Relation::Absolute) {
            traffic = traffic_of(program, member, size);
            steps = std::max(steps, traffic.steps);
        }
        for (const auto& [peer, bytes] : traffic.bytes) {
            pair(ranks[member], ranks[program.peer_of(member, peer)], {bytes});
        }
    }
    return steps;
}

}  // namespace astra
