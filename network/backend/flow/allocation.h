// Flows, the constraints that they share, and who is whose bottleneck: what filling (filling.h)
// leaves behind, and service at the rates that it found. Flows and constraints are numbers.
//
// A constraint binds the flows whose bottleneck it is; they all have its level as their rate.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "astra/core/types.h"

namespace astra {

class Allocation {
  public:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    // Served work in 10^-12 bit: whole rates for whole picoseconds make whole numbers. 128 bits
    // suffice: 2^64 ps at 2^53 bit/s serve 2^117.
    using Work = unsigned __int128;

    // A flow on a constraint.
    struct Crossing {
        double weight = 0;
        std::uint32_t constraint = 0;
        std::uint32_t position = 0;  // in the constraint's `others`, unless it binds the flow
    };
    struct Flow {
        Work target = 0;  // the bottleneck's `served` at which it completes; without one its work
        std::uint64_t sequence = 0;
        std::uint64_t tag = 0;
        std::uint32_t bottleneck = kNone;
        std::uint32_t position = 0;        // in the bottleneck's `bound`, or in a list outside
        std::uint32_t first_crossing = 0;  // number of its first one
        std::uint32_t crossings = 0;       // zero if the number is free
    };
    struct Other {
        std::uint32_t flow = 0;
        std::uint32_t bottleneck = kNone;
    };
    // The flows that it binds (`bound`) are a heap by (target, sequence). What a fill needs of them
    // is `links`, in the same order: the other constraint of a flow that crosses two with weight 1,
    // or kNone.
    struct Constraint {
        double capacity = 0;  // a cap's level
        double load = 0;
        double weight = 0;        // of all flows on it
        double bound_weight = 0;  // of those that it binds
        double other_max = 0;     // no flow of `others` is faster
        bool is_cap = false;
        std::uint64_t served_at_ps = 0;
        Work served = 0;        // to each flow that it binds, up to served_at_ps
        Work first_target = 0;  // of the first of them
        std::vector<std::uint32_t> bound;
        std::vector<std::uint32_t> links;
        std::vector<Other> others;
    };

    std::uint32_t add_constraint(std::uint64_t capacity, bool is_cap);
    // A flow without a bottleneck; its crossings are to be filled in.
    std::uint32_t add_flow(std::uint32_t crossings);
    // It is on no list any more.
    void free_flow(std::uint32_t id);

    std::uint32_t constraints() const { return static_cast<std::uint32_t>(constraints_.size()); }
    Constraint& constraint(std::uint32_t id) { return constraints_[id]; }
    const Constraint& constraint(std::uint32_t id) const { return constraints_[id]; }
    // The rate of the flows that the constraint binds.
    double& level(std::uint32_t constraint) { return levels_[constraint]; }
    double level(std::uint32_t constraint) const { return levels_[constraint]; }
    bool has_flow(std::uint32_t id) const {
        return id < flows_.size() && flows_[id].crossings != 0;
    }
    Flow& flow(std::uint32_t id) { return flows_[id]; }
    const Flow& flow(std::uint32_t id) const { return flows_[id]; }
    std::span<Crossing> crossings_of(const Flow& flow) {
        return {crossings_.data() + flow.first_crossing, flow.crossings};
    }

    void join_others(std::uint32_t flow, Crossing& crossing);
    void leave_others(const Crossing& crossing);
    void join_bound(std::uint32_t flow, std::uint32_t constraint, double weight);
    void leave_bound(std::uint32_t flow, double weight);

    // What each flow that the constraint binds has been served by now, at that level since
    // `served_at_ps`.
    Work served(const Constraint& c, double level, std::uint64_t now_ps) const;
    // Makes this what `served` says.
    void serve(std::uint32_t constraint, double level, std::uint64_t now_ps);
    // When the first flow that the constraint binds completes; kMaxPs: none does.
    std::uint64_t completion_ps(std::uint32_t constraint) const;

    // A level, below 2^53, where every whole number is a double.
    static std::uint64_t whole_rate(double level) { return static_cast<std::uint64_t>(level); }

  private:
    std::uint32_t take_crossings(std::uint32_t count);
    bool completes_before(std::uint32_t a, std::uint32_t b) const;
    void put_bound(Constraint& c, std::uint32_t position, std::uint32_t flow, std::uint32_t link);
    void sift_bound(Constraint& c, std::uint32_t position, std::uint32_t flow, std::uint32_t link);
    std::uint32_t link_of(const Flow& flow, std::uint32_t bottleneck) const;

    std::vector<Constraint> constraints_;
    std::vector<double> levels_;  // by constraint
    std::vector<Flow> flows_;
    std::vector<Crossing> crossings_;
    std::vector<std::uint32_t> free_flows_;
    std::vector<std::vector<std::uint32_t>> free_crossings_;  // by count
};

}  // namespace astra
