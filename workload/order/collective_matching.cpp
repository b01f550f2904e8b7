#include "workload/order/collective_matching.h"

#include <algorithm>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "astra/core/error.h"
#include "workload/graph/messages.h"
#include "workload/order/equal_lists.h"

namespace astra {

namespace {

// What has to be equal of collectives that belong together.
struct Asked {
    CollectiveKind kind{};
    bool by_pair = false;
    std::uint64_t bytes = 0;  // 0 by pair
    std::uint32_t dimensions = 0;
    std::uint32_t root = 0;
    std::uint32_t algorithm = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the generated 0 for a pointer
    constexpr auto operator<=>(const Asked&) const = default;
};

// One rank's collectives of the group, in the order of its program.
struct Member {
    std::uint32_t rank = 0;
    std::vector<std::uint32_t> ops;
    std::vector<std::uint64_t> asked;  // numbers of `Asked`
    std::vector<std::uint64_t> names;
};

class GroupMatcher {
  public:
    GroupMatcher(OpMatching& matching,
                 const CollectiveNaming& naming,
                 const OrderNames& names,
                 std::uint32_t group)
        : matching_(matching), naming_(naming), names_(names), group_(group) {}

    // Whether every member's list is that of the first one, or its start, as far as hashes tell.
    bool agrees() const;
    void match(bool follow_names, MatchedCollectives& result);
    std::uint32_t collectives() const { return collectives_; }

  private:
    void collect();
    void add_member(std::uint32_t rank, std::vector<std::uint32_t> ops);
    std::set<std::uint64_t> kinds_with_telling_names() const;
    std::vector<std::uint64_t> keys_of(const Member& member,
                                       const std::set<std::uint64_t>& by_name) const;
    [[noreturn]] void fail(const Member& reference,
                           const Member& other,
                           const std::vector<std::uint32_t>& partners) const;
    std::string example(const Member& reference,
                        const Member& other,
                        const std::vector<std::uint32_t>& partners) const;

    OpMatching& matching_;
    const CollectiveNaming& naming_;
    const OrderNames& names_;
    std::uint32_t group_;
    std::uint32_t collectives_ = 0;
    std::vector<Member> members_;
    std::map<Asked, std::uint64_t> asked_;
    std::map<std::string, std::uint64_t, std::less<>> known_names_;
};

// The hash of the roots that the rank names.
ContentHash roots_of(const Workload& workload, const GroupUse& use, const RoleCollectives& role) {
    ContentHash roots;
    for (const std::uint32_t op : role.ops) {
        roots.add_word(root_of(workload, {use.rank, op}));
    }
    return roots;
}

bool GroupMatcher::agrees() const {
    const std::vector<GroupUse>& uses = matching_.uses_of(group_);
    const RoleCollectives* first = nullptr;
    std::optional<ContentHash> roots;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        if (i > 0 && uses[i].rank == uses[i - 1].rank) {
            return false;  // two roles for one group
        }
        const RoleCollectives& role = matching_.program(uses[i].rank).role(uses[i].role);
        if (first == nullptr) {
            first = &role;
        }
        if (&role != first &&
            (role.ops.size() != first->ops.size() || !(role.content == first->content) ||
             !(role.names == first->names) || role.has_roots != first->has_roots)) {
            return false;
        }
        if (role.has_roots) {
            const ContentHash theirs = roots_of(matching_.workload(), uses[i], role);
            if (roots && !(*roots == theirs)) {
                return false;
            }
            roots = theirs;
        }
    }
    return true;
}

void GroupMatcher::add_member(std::uint32_t rank, std::vector<std::uint32_t> ops) {
    const ExecutionGraph& graph = matching_.program(rank).graph();
    Member& member = members_.emplace_back();
    member.rank = rank;
    for (const std::uint32_t op : ops) {
        const CollectiveDetail& detail = graph.collectives[graph.detail[op]];
        Asked asked;
        asked.kind = detail.kind;
        asked.by_pair = detail.pairs != kNoRole;
        asked.bytes = asked.by_pair ? 0 : detail.bytes.count;
        asked.dimensions = detail.has_dimensions ? detail.dimensions : ~0U;
        asked.root = root_of(matching_.workload(), {rank, op});
        asked.algorithm = naming_.node_algorithm ? naming_.node_algorithm(graph.node_id[op]) : 0;
        member.asked.push_back(asked_.emplace(asked, asked_.size()).first->second);
        const std::string name(graph.name_of(OpId{op}));
        member.names.push_back(known_names_.emplace(name, known_names_.size()).first->second);
    }
    member.ops = std::move(ops);
}

void GroupMatcher::collect() {
    const std::vector<GroupUse>& uses = matching_.uses_of(group_);
    for (std::size_t i = 0; i < uses.size();) {
        const std::uint32_t rank = uses[i].rank;
        const GraphProgram& program = matching_.program(rank);
        std::vector<std::uint32_t> ops;
        for (; i < uses.size() && uses[i].rank == rank; ++i) {
            const auto& more = program.role(uses[i].role).ops;
            ops.insert(ops.end(), more.begin(), more.end());
        }
        std::sort(ops.begin(), ops.end(), [&](std::uint32_t a, std::uint32_t b) {
            return program.position_of(a) < program.position_of(b);
        });
        add_member(rank, std::move(ops));
    }
}

// Requests of which every member has the same names, more than one.
std::set<std::uint64_t> GroupMatcher::kinds_with_telling_names() const {
    std::map<std::uint64_t, std::vector<std::uint64_t>> first;
    std::set<std::uint64_t> telling;
    for (const Member& member : members_) {
        std::map<std::uint64_t, std::vector<std::uint64_t>> names;
        for (std::size_t i = 0; i < member.ops.size(); ++i) {
            names[member.asked[i]].push_back(member.names[i]);
        }
        for (auto& [asked, list] : names) {
            std::sort(list.begin(), list.end());
        }
        if (&member == &members_.front()) {
            first = std::move(names);
            for (const auto& [asked, list] : first) {
                if (list.front() != list.back()) {
                    telling.insert(asked);
                }
            }
            continue;
        }
        std::erase_if(telling, [&](std::uint64_t asked) {
            const auto found = names.find(asked);
            return found == names.end() || found->second != first[asked];
        });
    }
    return telling;
}

std::vector<std::uint64_t> GroupMatcher::keys_of(const Member& member,
                                                 const std::set<std::uint64_t>& by_name) const {
    std::vector<std::uint64_t> keys;
    keys.reserve(member.ops.size());
    for (std::size_t i = 0; i < member.ops.size(); ++i) {
        const std::uint64_t name =
            by_name.contains(member.asked[i]) ? member.names[i] + 1 : std::uint64_t{0};
        keys.push_back((member.asked[i] << 32U) | name);
    }
    return keys;
}

void GroupMatcher::fail(const Member& reference,
                        const Member& other,
                        const std::vector<std::uint32_t>& partners) const {
    const auto odd = static_cast<std::size_t>(
        std::find(partners.begin(), partners.end(), kNoPartner) - partners.begin());
    const std::uint32_t alone = first_alone(reference.ops.size(), partners);
    const Workload& workload = matching_.workload();
    const RankOp expected{reference.rank, reference.ops[alone]};
    const RankOp got{other.rank, other.ops[odd]};
    const auto id_of = [&](const RankOp& at) {
        return matching_.program(at.rank).graph().node_id[at.op];
    };
    throw InputError(fmt::format(
        "the ranks of {} disagree about collective {} of the group: rank {} (node {}) asks for {}, "
        "rank {} (node {}) for {}",
        group_text(names_, workload, group_),
        alone,
        names_.ranks[expected.rank],
        id_of(expected),
        request_text(names_, workload, expected),
        names_.ranks[got.rank],
        id_of(got),
        request_text(names_, workload, got)));
}

std::string GroupMatcher::example(const Member& reference,
                                  const Member& other,
                                  const std::vector<std::uint32_t>& partners) const {
    std::size_t first = 0;
    while (partners[first] == first) {
        ++first;
    }
    const Workload& workload = matching_.workload();
    return fmt::format("{}: its collective {} in the order of the trace is {} and {}",
                       group_text(names_, workload, group_),
                       first,
                       node_text(names_, workload, {reference.rank, reference.ops[first]}),
                       node_text(names_, workload, {other.rank, other.ops[first]}));
}

void GroupMatcher::match(bool follow_names, MatchedCollectives& result) {
    collect();
    const Member& reference =
        *std::max_element(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
            return a.ops.size() < b.ops.size();
        });
    collectives_ = static_cast<std::uint32_t>(reference.ops.size());
    const auto by_name = follow_names ? kinds_with_telling_names() : std::set<std::uint64_t>();
    const std::vector<std::uint64_t> keys = keys_of(reference, by_name);
    bool reordered = false;
    for (const Member& member : members_) {
        const std::vector<std::uint32_t> partners = partners_in(keys, keys_of(member, by_name));
        if (std::find(partners.begin(), partners.end(), kNoPartner) != partners.end()) {
            fail(reference, member, partners);
        }
        const bool same = std::is_sorted(partners.begin(), partners.end());
        const std::vector<GroupUse>& uses = matching_.uses_of(group_);
        const bool twice = std::count_if(uses.begin(), uses.end(), [&](const GroupUse& use) {
                               return use.rank == member.rank;
                           }) > 1;
        if (!is_in_order(partners) || twice) {
            matching_.renumber_collectives(member.rank, member.ops, partners);
        }
        if (!same && !reordered) {
            reordered = true;
            result.reordered.push_back(example(reference, member, partners));
        }
        result.by_names = result.by_names || (!same && !by_name.empty());
    }
}

}  // namespace

MatchedCollectives match_collectives(OpMatching& matching,
                                     const CollectiveNaming& naming,
                                     const OrderNames& names,
                                     bool follow_names) {
    MatchedCollectives result;
    std::vector<std::uint32_t> counts;
    const auto groups = static_cast<std::uint32_t>(matching.workload().groups.size());
    for (std::uint32_t group = 0; group < groups; ++group) {
        counts.push_back(matching.collectives_of(group));
        GroupMatcher matcher(matching, naming, names, group);
        if (counts.back() > 0 && !matcher.agrees()) {
            matcher.match(follow_names, result);
            counts.back() = matcher.collectives();
        }
    }
    matching.count_collectives(counts);
    return result;
}

}  // namespace astra
