// A MaxMin beside a plain model of it: everything is filled anew at each solve, and every flow's
// work is counted down on its own. Weights are multiples of 1/16, so that the model needs whole
// numbers only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "network/backend/flow/max_min.h"

namespace astra {

class MaxMinMirror {
  public:
    using Wide = __int128;
    struct Part {
        std::size_t constraint = 0;
        std::int64_t sixteenths = 16;
    };

    std::size_t add_constraint(std::uint64_t capacity, bool is_cap = false) {
        ids_.push_back(is_cap ? solver_.add_cap({capacity}) : solver_.add_constraint({capacity}));
        constraints_.push_back({static_cast<std::int64_t>(capacity), is_cap});
        return ids_.size() - 1;
    }
    void set_capacity(std::size_t constraint, std::uint64_t capacity) {
        solver_.set_capacity(ids_[constraint], {capacity});
        constraints_[constraint].capacity = static_cast<std::int64_t>(capacity);
    }
    // The tag of the flow: how many were added before.
    std::uint64_t add_flow(const std::vector<Part>& parts, MaxMin::Work work) {
        std::vector<MaxMin::Use> uses;
        for (const Part& part : parts) {
            uses.push_back({ids_[part.constraint], static_cast<double>(part.sixteenths) / 16});
        }
        const std::uint64_t tag = next_tag_++;
        flows_[tag] = {solver_.add_flow(uses, work, tag), parts, work, 0};
        return tag;
    }
    void remove_flow(std::uint64_t tag) {
        solver_.remove_flow(flows_.at(tag).id);
        flows_.erase(tag);
    }

    // Serves at the present rates up to `now_ps`.
    void advance(std::uint64_t now_ps) {
        for (auto& [tag, flow] : flows_) {
            const MaxMin::Work served = static_cast<MaxMin::Work>(flow.rate) * (now_ps - now_ps_);
            flow.left = served > flow.left ? 0 : flow.left - served;
        }
        now_ps_ = now_ps;
    }
    // Takes out what is complete, and checks that it is what the model says, in its order.
    std::vector<std::uint64_t> pop_completed() {
        std::vector<std::uint64_t> expected;
        for (const auto& [tag, flow] : flows_) {
            if (flow.rate > 0 && flow.left == 0) {
                expected.push_back(tag);
            }
        }
        std::vector<std::uint64_t> popped;
        for (const MaxMin::Completion& completion : solver_.pop_completed({now_ps_})) {
            popped.push_back(completion.tag);
        }
        EXPECT_EQ(popped, expected) << "at " << now_ps_;
        for (const std::uint64_t tag : expected) {
            flows_.erase(tag);
        }
        return expected;
    }
    void solve() {
        solver_.solve({now_ps_});
        fill();
    }

    // Compares every number that the solver tells with the model's.
    void check() const {
        std::vector<Wide> loads(constraints_.size());  // in sixteenths
        std::vector<std::int64_t> fastest(constraints_.size());
        for (const auto& [tag, flow] : flows_) {
            EXPECT_EQ(solver_.rate(flow.id).bits_per_s, static_cast<std::uint64_t>(flow.rate))
                << "flow " << tag;
            EXPECT_TRUE(solver_.remaining(flow.id, {now_ps_}) == flow.left) << "flow " << tag;
            for (const Part& part : flow.parts) {
                loads[part.constraint] += static_cast<Wide>(part.sixteenths) * flow.rate;
                fastest[part.constraint] = std::max(fastest[part.constraint], flow.rate);
            }
        }
        for (std::size_t k = 0; k < constraints_.size(); ++k) {
            EXPECT_EQ(solver_.load(ids_[k]), static_cast<double>(loads[k]) / 16) << k;
        }
        check_bottlenecks(loads, fastest);
        EXPECT_EQ(solver_.flows(), flows_.size());
        EXPECT_EQ(solver_.next_completion().ps, next_completion_ps());
    }

    std::uint64_t next_completion_ps() const {
        std::uint64_t first = kMaxPs;
        for (const auto& [tag, flow] : flows_) {
            if (flow.rate > 0) {
                const auto rate = static_cast<MaxMin::Work>(flow.rate);
                const MaxMin::Work wait = (flow.left + rate - 1) / rate;
                first = std::min(
                    first,
                    wait >= kMaxPs - now_ps_ ? kMaxPs : now_ps_ + static_cast<std::uint64_t>(wait));
            }
        }
        return first;
    }
    std::vector<std::uint64_t> tags() const {
        std::vector<std::uint64_t> tags;
        for (const auto& [tag, flow] : flows_) {
            tags.push_back(tag);
        }
        return tags;
    }
    std::uint64_t rate(std::uint64_t tag) const {
        return solver_.rate(flows_.at(tag).id).bits_per_s;
    }
    std::uint64_t now_ps() const { return now_ps_; }
    std::size_t constraints() const { return constraints_.size(); }
    const MaxMin& solver() const { return solver_; }
    MaxMin::FlowId id(std::uint64_t tag) const { return flows_.at(tag).id; }

  private:
    struct Limit {
        std::int64_t capacity = 0;
        bool is_cap = false;
    };
    struct Flow {
        MaxMin::FlowId id{};
        std::vector<Part> parts;
        MaxMin::Work left = 0;
        std::int64_t rate = 0;
    };

    // The definition of max_min.h, word for word: who is full at the least level, all at once.
    void fill() {
        for (auto& [tag, flow] : flows_) {
            flow.rate = 0;
        }
        for (;;) {
            std::vector<std::optional<std::int64_t>> levels(constraints_.size());
            std::int64_t least = std::numeric_limits<std::int64_t>::max();
            for (std::size_t k = 0; k < constraints_.size(); ++k) {
                levels[k] = level(k);
                least = std::min(least, levels[k].value_or(least));
            }
            std::vector<Flow*> fixed;
            for (auto& [tag, flow] : flows_) {
                const bool full = std::any_of(
                    flow.parts.begin(), flow.parts.end(), [&levels, least](const Part& part) {
                        return levels[part.constraint] == least;
                    });
                if (flow.rate == 0 && full) {
                    fixed.push_back(&flow);
                }
            }
            if (fixed.empty()) {
                return;
            }
            for (Flow* flow : fixed) {
                flow->rate = least;
            }
        }
    }
    std::optional<std::int64_t> level(std::size_t constraint) const {
        Wide residual = static_cast<Wide>(constraints_[constraint].capacity) * 16;
        Wide weight = 0;
        for (const auto& [tag, flow] : flows_) {
            for (const Part& part : flow.parts) {
                if (part.constraint == constraint) {
                    residual -= static_cast<Wide>(part.sixteenths) * flow.rate;
                    weight += flow.rate == 0 ? part.sixteenths : 0;
                }
            }
        }
        if (weight == 0) {
            return std::nullopt;
        }
        if (constraints_[constraint].is_cap) {
            return constraints_[constraint].capacity;
        }
        const Wide most = MaxMin::kMaxRate;
        return static_cast<std::int64_t>(std::clamp<Wide>(residual / weight, 1, most));
    }

    // The capacity holds unless the flows have the least rate there is. A flow is the fastest of
    // its bottleneck, which cannot give its fastest flows a bit/s more.
    void check_bottlenecks(const std::vector<Wide>& loads,
                           const std::vector<std::int64_t>& fastest) const {
        for (std::size_t k = 0; k < constraints_.size(); ++k) {
            if (!constraints_[k].is_cap && fastest[k] > 1) {
                EXPECT_LE(loads[k], static_cast<Wide>(constraints_[k].capacity) * 16);
            }
        }
        for (const auto& [tag, flow] : flows_) {
            const MaxMin::ConstraintId id = solver_.bottleneck(flow.id);
            EXPECT_EQ(solver_.level(id).bits_per_s, static_cast<std::uint64_t>(flow.rate));
            const auto k =
                static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
            EXPECT_EQ(flow.rate, fastest[k]) << "flow " << tag;
            if (constraints_[k].is_cap) {
                EXPECT_EQ(flow.rate, constraints_[k].capacity);
                continue;
            }
            Wide weight = 0;
            bool crosses = false;
            for (const auto& [other_tag, other] : flows_) {
                for (const Part& part : other.parts) {
                    if (part.constraint == k && other.rate == flow.rate) {
                        weight += part.sixteenths;
                        crosses = crosses || other_tag == tag;
                    }
                }
            }
            EXPECT_TRUE(crosses) << "flow " << tag;
            EXPECT_TRUE(loads[k] + weight > static_cast<Wide>(constraints_[k].capacity) * 16 ||
                        flow.rate == static_cast<std::int64_t>(MaxMin::kMaxRate));
        }
    }

    MaxMin solver_;
    std::vector<MaxMin::ConstraintId> ids_;
    std::vector<Limit> constraints_;
    std::map<std::uint64_t, Flow> flows_;  // by tag, so in the order of adding
    std::uint64_t next_tag_ = 0;
    std::uint64_t now_ps_ = 0;
};

}  // namespace astra
