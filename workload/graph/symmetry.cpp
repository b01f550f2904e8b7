#include "workload/graph/symmetry.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace astra {

namespace {

using Word = std::vector<std::uint32_t>;

// The smallest p that divides the length such that the word is one of p letters again and again.
std::size_t period_of(const Word& word) {
    std::vector<std::size_t> border(word.size() + 1, 0);  // Knuth, Morris, Pratt
    for (std::size_t i = 1, k = 0; i < word.size(); ++i) {
        while (k > 0 && word[i] != word[k]) {
            k = border[k];
        }
        k += word[i] == word[k] ? 1 : 0;
        border[i + 1] = k;
    }
    const std::size_t period = word.size() - border[word.size()];
    return word.size() % period == 0 ? period : word.size();
}

// Where the least of all rotations of the first `length` letters begins.
std::size_t least_rotation(const Word& word, std::size_t length) {
    std::size_t best = 0;
    std::size_t other = 1;
    std::size_t same = 0;
    while (best < length && other < length && same < length) {
        const std::uint32_t a = word[(best + same) % length];
        const std::uint32_t b = word[(other + same) % length];
        if (a == b) {
            ++same;
            continue;
        }
        std::size_t& loser = a > b ? best : other;
        loser += same + 1;
        loser += best == other ? 1 : 0;
        same = 0;
    }
    return std::min(best, other);
}

// What a rank sees of a group does not depend on where the group's list begins.
struct GroupView {
    std::uint32_t word = 0;  // number of the least rotation of its period
    std::uint32_t start = 0;
    std::uint32_t period = 1;
    std::uint32_t from(std::uint32_t position) const {
        return (position + period - start) % period;
    }
};

// Collectives of a graph that treat positions in their group differently.
struct PositionUses {
    std::set<std::pair<std::uint32_t, std::uint32_t>> roots;  // group role, peer role
    std::set<std::uint32_t> pairs;                            // group role

    explicit PositionUses(const ExecutionGraph& graph) {
        for (const CollectiveDetail& detail : graph.collectives) {
            if (detail.root_role != kNoRole) {
                roots.emplace(detail.group_role, detail.root_role);
            }
            if (detail.pairs != kNoRole) {
                pairs.insert(detail.group_role);
            }
        }
    }
};

class Refinement {
  public:
    explicit Refinement(const Workload& workload)
        : workload_(workload), ranks_(static_cast<std::uint32_t>(workload.ranks.size())) {
        find_neighbours();
        label_graphs();
    }

    RankClasses run() {
        std::vector<std::uint32_t> touched(ranks_);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            touched[rank] = rank;
        }
        for (std::uint32_t g = 0; g < workload_.groups.size(); ++g) {
            look_round(g);
        }
        while (!touched.empty()) {
            touched = next_to(split(touched));
        }
        return RankClasses(class_of_);
    }

  private:
    struct Class {
        std::uint32_t size = 0;
        Word signature;  // of all members that no change has touched
    };
    // A role of a rank in which it uses the group.
    struct Use {
        std::uint32_t rank = 0;
        std::uint32_t role = 0;
    };

    void find_neighbours() {
        named_by_.resize(ranks_);
        uses_.resize(workload_.groups.size());
        groups_of_.resize(ranks_);
        positions_.resize(ranks_);
        std::vector<std::uint32_t> position(ranks_);
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            for (const std::uint32_t peer : workload_.ranks[rank].peers) {
                named_by_[peer].push_back(rank);
            }
            positions_[rank].resize(workload_.ranks[rank].groups.size());
            for (std::uint32_t role = 0; role < positions_[rank].size(); ++role) {
                uses_[workload_.ranks[rank].groups[role]].push_back({rank, role});
            }
        }
        for (std::uint32_t g = 0; g < workload_.groups.size(); ++g) {
            const auto& members = workload_.groups[g].ranks;
            for (std::uint32_t p = 0; p < members.size(); ++p) {
                position[members[p]] = p;
                groups_of_[members[p]].push_back(g);
            }
            for (const Use& use : uses_[g]) {
                positions_[use.rank][use.role] = position[use.rank];
            }
        }
    }

    // What does not depend on the classes of others.
    void label_graphs() {
        std::unordered_map<const ExecutionGraph*, std::pair<std::uint32_t, PositionUses>> graphs;
        std::map<Word, std::uint32_t> numbers;
        for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
            const RankTrace& trace = workload_.ranks[rank];
            const ExecutionGraph* graph = trace.graph.get();
            auto found = graphs.find(graph);
            if (found == graphs.end()) {
                const auto number = static_cast<std::uint32_t>(graphs.size());
                found = graphs.try_emplace(graph, number, PositionUses(*graph)).first;
            }
            const PositionUses& uses = found->second.second;
            Word label{found->second.first};
            const auto self = std::find(trace.peers.begin(), trace.peers.end(), rank);
            label.push_back(static_cast<std::uint32_t>(self - trace.peers.begin()));
            for (auto group = trace.groups.begin(); group != trace.groups.end(); ++group) {
                const auto same = std::find(trace.groups.begin(), group, *group);
                label.push_back(static_cast<std::uint32_t>(same - trace.groups.begin()));
            }
            for (const auto& [group_role, root_role] : uses.roots) {
                label.push_back(distance(rank, group_role, trace.peers[root_role]));
            }
            for (const std::uint32_t role : uses.pairs) {
                label.push_back(positions_[rank][role]);
            }
            const auto number = static_cast<std::uint32_t>(numbers.size());
            const auto entry = numbers.try_emplace(std::move(label), number).first;
            classes_.resize(numbers.size());
            ++classes_[entry->second].size;
            class_of_.push_back(entry->second);
        }
    }

    // From the root to the rank, going round the group.
    std::uint32_t distance(std::uint32_t rank, std::uint32_t role, std::uint32_t root) const {
        const auto& members = workload_.groups[workload_.ranks[rank].groups[role]].ranks;
        const auto at = std::find(members.begin(), members.end(), root) - members.begin();
        const auto size = static_cast<std::uint32_t>(members.size());
        return (positions_[rank][role] + size - static_cast<std::uint32_t>(at)) % size;
    }

    void look_round(std::uint32_t group) {
        Word word;
        for (const std::uint32_t rank : workload_.groups[group].ranks) {
            word.push_back(class_of_[rank]);
        }
        const std::size_t length = word.size();
        const std::size_t period = period_of(word);
        const std::size_t start = least_rotation(word, period);
        word.resize(period);
        std::rotate(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(start), word.end());
        word.push_back(static_cast<std::uint32_t>(length));
        const auto number = static_cast<std::uint32_t>(words_.size());
        views_.resize(workload_.groups.size());
        views_[group] = {words_.try_emplace(std::move(word), number).first->second,
                         static_cast<std::uint32_t>(start),
                         static_cast<std::uint32_t>(period)};
    }

    // The class of the rank and all that it sees of others.
    void sign(std::uint32_t rank, Word& signature) const {
        const RankTrace& trace = workload_.ranks[rank];
        signature.assign(1, class_of_[rank]);
        for (const std::uint32_t peer : trace.peers) {
            signature.push_back(class_of_[peer]);
        }
        for (std::uint32_t role = 0; role < trace.groups.size(); ++role) {
            const GroupView& view = views_[trace.groups[role]];
            signature.push_back(view.word);
            signature.push_back(view.from(positions_[rank][role]));
        }
    }

    // Splits the classes of the ranks touched; returns the ranks whose number is a new one.
    std::vector<std::uint32_t> split(const std::vector<std::uint32_t>& touched) {
        std::map<Word, std::vector<std::uint32_t>> parts;  // those of a class side by side
        Word signature;
        for (const std::uint32_t rank : touched) {
            sign(rank, signature);
            parts[signature].push_back(rank);
        }
        std::vector<std::uint32_t> changed;
        for (auto first = parts.begin(); first != parts.end();) {
            const std::uint32_t number = first->first[0];
            auto last = first;
            auto largest = first;
            std::size_t members = 0;
            for (; last != parts.end() && last->first[0] == number; ++last) {
                members += last->second.size();
                largest = last->second.size() > largest->second.size() ? last : largest;
            }
            if (members == classes_[number].size) {
                classes_[number].signature = largest->first;
            }
            for (; first != last; ++first) {
                if (first->first != classes_[number].signature) {
                    move_out(number, first->first, first->second);
                    changed.insert(changed.end(), first->second.begin(), first->second.end());
                }
            }
        }
        return changed;
    }

    void move_out(std::uint32_t from, Word signature, const std::vector<std::uint32_t>& part) {
        const auto number = static_cast<std::uint32_t>(classes_.size());
        const auto size = static_cast<std::uint32_t>(part.size());
        classes_[from].size -= size;
        signature[0] = number;
        classes_.push_back({size, std::move(signature)});
        for (const std::uint32_t rank : part) {
            class_of_[rank] = number;
        }
    }

    std::vector<std::uint32_t> next_to(const std::vector<std::uint32_t>& changed) {
        std::vector<std::uint32_t> touched;
        std::set<std::uint32_t> groups;
        for (const std::uint32_t rank : changed) {
            touched.insert(touched.end(), named_by_[rank].begin(), named_by_[rank].end());
            groups.insert(groups_of_[rank].begin(), groups_of_[rank].end());
        }
        for (const std::uint32_t group : groups) {
            look_round(group);
            for (const Use& use : uses_[group]) {
                touched.push_back(use.rank);
            }
        }
        std::sort(touched.begin(), touched.end());
        touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
        return touched;
    }

    const Workload& workload_;
    std::uint32_t ranks_;
    std::vector<std::uint32_t> class_of_;
    std::vector<Class> classes_;
    std::vector<std::vector<std::uint32_t>> named_by_;   // by rank: who has it as a peer
    std::vector<std::vector<std::uint32_t>> groups_of_;  // by rank: those that it is a member of
    std::vector<std::vector<std::uint32_t>> positions_;  // by rank and group role
    std::vector<std::vector<Use>> uses_;                 // by group
    std::vector<GroupView> views_;                       // by group
    std::map<Word, std::uint32_t> words_;
};

}  // namespace

RankClasses classes_of(const Workload& workload) {
    return Refinement(workload).run();
}

}  // namespace astra
