#include "workload/training/rules.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>

#include "astra/config/config_tree.h"
#include "astra/config/config_view.h"
#include "astra/core/check.h"

namespace astra {

namespace {

constexpr std::size_t kMostRules = 256;
constexpr std::size_t kLongestRule = 1024;
constexpr std::int64_t kRuleMemory = std::int64_t{1} << 20;
constexpr std::int64_t kSetMemory = std::int64_t{64} << 20;

struct Section {
    const char* key;
    TrainingRole role;
};
constexpr std::array<Section, 5> kSections = {{{"iterations", TrainingRole::Iteration},
                                               {"gradients", TrainingRole::Gradient},
                                               {"updates", TrainingRole::Update},
                                               {"backward", TrainingRole::Backward},
                                               {"forward", TrainingRole::Forward}}};

constexpr const char* kBuiltIn = R"(
iterations:
  - '^ProfilerStep#\d+$'
  - '^(?:iteration|step)[ _#]\d+$'
gradients:
  - '^all_reduce_(.+)$'
  - '^COMM_COLL_NODE_(.+)_(?:ALLREDUCE|REDUCESCATTER)$'
  - '^(?:mb\d+\.)?([a-z_]+(?:\.\d+)?)\._sharded_grad@\d+_X\d+_?COMM$'
  - '^([a-z_]+)\.w@\d+_X\d+_?COMM$'
  - '(?i)all_?reduce|reduce_?scatter'
updates:
  - '^update_(.+)$'
  - '^([a-z_]+(?:\.\d+)?)\._sharded_(?:grad|weight)@\d+_COMP$'
  - '^([a-z_]+)\.w@\d+_COMP$'
  - '(?i)optimizer|_foreach_|multi_?tensor_?apply'
backward:
  - '^backward_(.+)$'
  - '^COMP_NODE_(.+)_BWD_(?:WG|IG)$'
  - '^(?:mb\d+\.)?([a-z_]+(?:\.\d+)?)\.(?:[a-z_]+\.)*d[a-z0-9_]*@\d+_(?:COMP|X\d+_?COMM)$'
  - '(?i)backward|autograd'
forward:
  - '^forward_(.+)$'
  - '^COMP_NODE_(.+)_FWD$'
  - '^(?:mb\d+\.)?([a-z_]+(?:\.\d+)?)\.(?:[a-z_]+\.)*[a-z_][a-z0-9_]*@\d+_(?:COMP|X\d+_?COMM)$'
)";

}  // namespace

struct TrainingRules::Parts {
    struct Rule {
        TrainingRole role;
        std::unique_ptr<RE2> expression;
    };
    std::vector<Rule> rules;
    std::unique_ptr<RE2::Set> set;  // all rules at once

    void read(const ConfigView& root);
    void add(TrainingRole role, const ConfigView& item);
    void finish();
    const Rule* find(std::string_view name) const;
};

void TrainingRules::Parts::read(const ConfigView& root) {
    for (const Section& section : kSections) {
        const auto list = root.find(section.key);
        if (!list) {
            continue;
        }
        for (const ConfigView& item : list->items()) {
            add(section.role, item);
        }
    }
}

void TrainingRules::Parts::add(TrainingRole role, const ConfigView& item) {
    const std::string text = item.as_string();
    if (rules.size() == kMostRules) {
        item.fail(fmt::format("more than {} rules", kMostRules));
    }
    if (text.empty() || text.size() > kLongestRule) {
        item.fail(fmt::format("expected a regular expression of 1 to {} bytes", kLongestRule));
    }
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(kRuleMemory);
    auto expression = std::make_unique<RE2>(text, options);
    if (!expression->ok()) {
        item.fail(
            fmt::format("'{}' is not a regular expression of RE2: {}", text, expression->error()));
    }
    if (expression->NumberOfCapturingGroups() > 1) {
        item.fail(fmt::format(
            "'{}' has {} groups; at most one is expected, which is the name of the parameter: "
            "write (?:…) for the others",
            text,
            expression->NumberOfCapturingGroups()));
    }
    rules.push_back({role, std::move(expression)});
}

void TrainingRules::Parts::finish() {
    RE2::Options options(RE2::Quiet);
    options.set_max_mem(kSetMemory);
    set = std::make_unique<RE2::Set>(options, RE2::UNANCHORED);
    for (const Rule& rule : rules) {
        ASTRA_CHECK(set->Add(rule.expression->pattern(), nullptr) >= 0, "a rule has been parsed");
    }
    if (!set->Compile()) {
        set.reset();
    }
}

const TrainingRules::Parts::Rule* TrainingRules::Parts::find(std::string_view name) const {
    const re2::StringPiece text(name.data(), name.size());
    if (set) {
        std::vector<int> matches;
        RE2::Set::ErrorInfo error{};
        if (set->Match(text, &matches, &error)) {
            return &rules[static_cast<std::size_t>(
                *std::min_element(matches.begin(), matches.end()))];
        }
        if (error.kind == RE2::Set::kNoError) {
            return nullptr;
        }
    }
    // The set has run out of its memory: one by one.
    for (const Rule& rule : rules) {
        if (RE2::PartialMatch(text, *rule.expression)) {
            return &rule;
        }
    }
    return nullptr;
}

TrainingRules::TrainingRules(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
TrainingRules::~TrainingRules() = default;
TrainingRules::TrainingRules(TrainingRules&&) noexcept = default;
TrainingRules& TrainingRules::operator=(TrainingRules&&) noexcept = default;

TrainingRules::TrainingRules() : parts_(std::make_unique<Parts>()) {
    const ConfigTree tree = ConfigTree::parse_text(kBuiltIn, "built-in rules");
    parts_->read(tree.root());
    parts_->finish();
}

TrainingRules TrainingRules::from_file(const std::string& file) {
    auto parts = std::make_unique<Parts>();
    const ConfigTree tree = ConfigTree::parse_file(file);
    parts->read(tree.root());
    tree.reject_unread();
    if (parts->rules.empty()) {
        tree.root().fail(
            "holds no rule; expected iterations, gradients, updates, backward or "
            "forward, each a list of regular expressions");
    }
    parts->finish();
    return TrainingRules(std::move(parts));
}

NameMeaning TrainingRules::meaning(std::string_view name) const {
    NameMeaning result;
    const Parts::Rule* rule = parts_->find(name);
    if (rule == nullptr) {
        return result;
    }
    result.role = rule->role;
    if (rule->expression->NumberOfCapturingGroups() == 1) {
        RE2::PartialMatch(
            re2::StringPiece(name.data(), name.size()), *rule->expression, &result.parameter);
    }
    return result;
}

}  // namespace astra
