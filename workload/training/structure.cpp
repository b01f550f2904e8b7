#include "workload/training/structure.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <unordered_map>
#include <utility>

namespace astra {

namespace {

class StructureFinder {
  public:
    StructureFinder(const ExecutionGraph& graph,
                    const Dependencies& dependencies,
                    const TrainingRules& rules)
        : graph_(graph), edges_(dependencies) {
        meanings_.reserve(graph.names.size());
        for (const std::string& name : graph.names) {
            meanings_.push_back(rules.meaning(name));
            roles_.push_back(meanings_.back().role);
            parameters_.push_back(numbers_
                                      .try_emplace(meanings_.back().parameter,
                                                   static_cast<std::uint32_t>(numbers_.size()))
                                      .first->second);
        }
    }

    TrainingStructure find(const std::string& barrier, const std::string& file) {
        result_.iterations = find_iterations(graph_, edges_, roles_, barrier, file);
        find_transfers();
        gather_updates();
        find_first_readers();
        for (GradientTransfer& transfer : result_.transfers) {
            add_readers(transfer);
        }
        for (ParameterUpdate& update : result_.updates) {
            std::sort(update.readers.begin(), update.readers.end());
            update.readers.erase(std::unique(update.readers.begin(), update.readers.end()),
                                 update.readers.end());
        }
        result_.meanings = std::move(meanings_);
        return std::move(result_);
    }

  private:
    const NameMeaning& meaning(std::uint32_t op) const { return meanings_[graph_.name[op]]; }
    std::uint32_t parameter(std::uint32_t op) const { return parameters_[graph_.name[op]]; }
    std::uint32_t iteration(std::uint32_t op) const { return result_.iterations.of_op[op]; }
    bool is_model(std::uint32_t op) const {
        return meaning(op).role == TrainingRole::Forward ||
               meaning(op).role == TrainingRole::Backward;
    }
    bool is_candidate(std::uint32_t op) const {
        const TrainingRole role = meaning(op).role;
        return may_be_transfer(graph_, op) &&
               (role == TrainingRole::Gradient || role == TrainingRole::None);
    }

    // What is known of each op, within its iteration: whether it leads to an op of the model; to a
    // candidate; and to a candidate through a computation.
    struct Leads {
        bool to_model = false;
        bool to_candidate = false;
        bool through_compute = false;
    };

    void find_transfers() {
        std::vector<Leads> leads(graph_.size());
        result_.follows.assign(graph_.size(), 0);
        const auto& sorted = edges_.sorted();
        for (auto op = sorted.rbegin(); op != sorted.rend(); ++op) {
            Leads& mine = leads[*op];
            for (const std::uint32_t child : edges_.children(*op)) {
                if (iteration(child) != iteration(*op)) {
                    continue;
                }
                const Leads& its = leads[child];
                const bool reaches = is_candidate(child) || its.to_candidate;
                mine.to_model = mine.to_model || is_model(child) || its.to_model;
                mine.to_candidate = mine.to_candidate || reaches;
                mine.through_compute = mine.through_compute || its.through_compute ||
                                       (graph_.kind[child] == OpKind::Compute && its.to_candidate);
            }
        }
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (!may_be_transfer(graph_, op)) {
                continue;
            }
            const bool trusted = !meaning(op).parameter.empty();
            if (is_candidate(op) && !leads[op].to_model &&
                (trusted || !leads[op].through_compute)) {
                result_.follows[op] = 1;
                result_.transfers.push_back({op, iteration(op), 0, meaning(op).parameter, {}});
            } else {
                ++result_.other_collectives;
            }
        }
        for (const std::uint32_t op : sorted) {
            for (const std::uint32_t child : edges_.children(op)) {
                if (result_.follows[op] != 0 && iteration(child) == iteration(op)) {
                    result_.follows[child] = 1;
                }
            }
        }
    }

    std::uint32_t root_of(std::uint32_t op) {
        while (root_[op] != op) {
            root_[op] = root_[root_[op]];
            op = root_[op];
        }
        return op;
    }

    // Sets of ops that hang together, by union and find.
    void gather_updates() {
        root_.resize(graph_.size());
        std::iota(root_.begin(), root_.end(), 0U);
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            for (const std::uint32_t child : edges_.children(op)) {
                if (is_inside(op, child)) {
                    root_[std::max(root_of(op), root_of(child))] =
                        std::min(root_of(op), root_of(child));
                }
            }
        }
        update_of_.assign(graph_.size(), kNoReader);
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (result_.follows[op] == 0) {
                continue;
            }
            const std::uint32_t root = root_of(op);
            if (update_of_[root] == kNoReader) {
                update_of_[root] = static_cast<std::uint32_t>(result_.updates.size());
                result_.updates.emplace_back().iteration = iteration(op);
            }
            update_of_[op] = update_of_[root];
            const auto children = edges_.children(op);
            if (std::none_of(children.begin(), children.end(), [&](std::uint32_t child) {
                    return is_inside(op, child);
                })) {
                result_.updates[update_of_[op]].last.push_back(op);
            }
        }
        for (GradientTransfer& transfer : result_.transfers) {
            transfer.update = update_of_[transfer.op];
        }
    }

    bool is_inside(std::uint32_t op, std::uint32_t child) const {
        return result_.follows[op] != 0 && result_.follows[child] != 0 &&
               iteration(op) == iteration(child);
    }

    // For each parameter and iteration: forward ops that none of the same parameter leads to.
    void find_first_readers() {
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (!is_reader(op)) {
                continue;
            }
            const auto parents = edges_.parents(op);
            const bool inner = std::any_of(parents.begin(), parents.end(), [&](std::uint32_t p) {
                return is_reader(p) && iteration(p) == iteration(op) &&
                       parameter(p) == parameter(op);
            });
            if (!inner) {
                by_name_[{parameter(op), iteration(op)}].push_back(op);
            }
        }
        for (std::uint32_t op = 0; op < graph_.size(); ++op) {
            if (result_.follows[op] == 0) {
                continue;
            }
            for (const std::uint32_t child : edges_.children(op)) {
                if (iteration(child) != iteration(op)) {
                    ParameterUpdate& update = result_.updates[update_of_[op]];
                    update.readers.push_back(child);
                    update.recorded = true;
                }
            }
        }
    }
    bool is_reader(std::uint32_t op) const {
        return result_.follows[op] == 0 && meaning(op).role == TrainingRole::Forward &&
               !meaning(op).parameter.empty();
    }

    void add_readers(GradientTransfer& transfer) {
        ParameterUpdate& update = result_.updates[transfer.update];
        const bool alone = result_.iterations.count == 1;
        const std::uint32_t next = transfer.iteration + (alone ? 0 : 1);
        const auto found = by_name_.find({parameter(transfer.op), next});
        if (!transfer.parameter.empty() && found != by_name_.end()) {
            transfer.readers = found->second;
        } else if (update.recorded) {
            transfer.readers = update.readers;
        }
        if (!update.recorded) {
            update.readers.insert(
                update.readers.end(), transfer.readers.begin(), transfer.readers.end());
            update.reader_unknown = update.reader_unknown || transfer.readers.empty();
        }
    }

    const ExecutionGraph& graph_;
    const Dependencies& edges_;
    std::vector<NameMeaning> meanings_;  // by name
    std::vector<TrainingRole> roles_;
    std::vector<std::uint32_t> parameters_;  // numbers of their parameters
    std::unordered_map<std::string, std::uint32_t> numbers_;
    std::vector<std::uint32_t> root_;
    std::vector<std::uint32_t> update_of_;  // by op
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> by_name_;
    TrainingStructure result_;
};

}  // namespace

TrainingStructure find_structure(const ExecutionGraph& graph,
                                 const Dependencies& dependencies,
                                 const TrainingRules& rules,
                                 const std::string& barrier,
                                 const std::string& file) {
    return StructureFinder(graph, dependencies, rules).find(barrier, file);
}

}  // namespace astra
