// The ring: every member talks to its two neighbours only.
//   all_reduce      2(n-1) steps of S/n: reduce_scatter, then all_gather
//   reduce_scatter  n-1 steps of S/n        all_gather  n-1 steps of S/n (S the whole output)
//   all_to_all      n(n-1)/2 steps of S/n, each block handed on until it is there
// Patarasuk, Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009).
#include "system/algorithms/algorithm.h"

namespace astra {

namespace {

class RingEmitter {
  public:
    RingEmitter(const ProgramShape& shape, ProgramBuilder& builder)
        : n_(shape.members), reversed_(shape.reversed), builder_(builder) {}

    void reduce_scatter() {
        for (std::uint32_t step = 0; step + 1 < n_; ++step) {
            builder_.send(next(), {back(step + 1)});
            builder_.receive(previous(), {back(step + 2)}, true);
        }
    }
    void all_gather() {
        for (std::uint32_t step = 0; step + 1 < n_; ++step) {
            builder_.send(next(), {back(step)});
            builder_.receive(previous(), {back(step + 1)}, false);
        }
    }
    // In round `hop` every block that has further to go moves on by one member.
    void all_to_all() {
        for (std::uint32_t hop = 1; hop < n_; ++hop) {
            for (std::uint32_t distance = hop; distance < n_; ++distance) {
                const std::uint32_t mine = back(hop - 1);
                const std::uint32_t received = back(hop);
                builder_.send(next(), {forth(mine, distance), 1, 1, {mine}});
                builder_.receive(previous(), {forth(received, distance), 1, 1, {received}}, false);
            }
        }
    }

  private:
    // Offsets round the ring, against and along its direction.
    std::uint32_t back(std::uint32_t by) const { return reversed_ ? by % n_ : (n_ - by % n_) % n_; }
    std::uint32_t forth(std::uint32_t from, std::uint32_t by) const {
        return (from + (reversed_ ? n_ - by : by)) % n_;
    }
    std::uint32_t next() const { return forth(0, 1); }
    std::uint32_t previous() const { return back(1); }

    std::uint32_t n_;
    bool reversed_;
    ProgramBuilder& builder_;
};

std::string limit(const ProgramShape& shape) {
    return shape.kind == CollectiveKind::AllToAll
               ? refuse_too_long(std::uint64_t{shape.members} * (shape.members - 1) / 2)
               : "";
}

void emit(const ProgramShape& shape, std::uint32_t, ProgramBuilder& builder) {
    RingEmitter ring(shape, builder);
    if (shape.kind == CollectiveKind::AllToAll) {
        ring.all_to_all();
        return;
    }
    if (shape.kind != CollectiveKind::AllGather) {
        ring.reduce_scatter();
    }
    if (shape.kind != CollectiveKind::ReduceScatter) {
        ring.all_gather();
    }
}

}  // namespace

extern const CollectiveAlgorithm kRingAlgorithm;
const CollectiveAlgorithm kRingAlgorithm = {
    .name = "ring",
    .summary = "neighbours only, one block a step",
    .kinds = {CollectiveKind::AllReduce,
              CollectiveKind::ReduceScatter,
              CollectiveKind::AllGather,
              CollectiveKind::AllToAll},
    .limit = limit,
    .emit = emit,
};

}  // namespace astra
