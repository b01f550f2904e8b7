// What the names of a trace's ops say about their part in training: regular expressions, built in
// or from a rule file (docs/caramel.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace astra {

enum class TrainingRole : std::uint8_t {
    None,
    Iteration,  // marks where an iteration begins
    Gradient,   // a collective that reduces gradients
    Update,     // of parameters, after the reduction
    Backward,
    Forward,
};

struct NameMeaning {
    TrainingRole role = TrainingRole::None;
    std::string parameter;  // what the group of the expression matched; "" = not named
};

class TrainingRules {
  public:
    // The built-in rules: for `astra generate`, for traces of STAGE and of text workloads, and for
    // PyTorch.
    TrainingRules();
    // Throws ConfigError "file:line: …" on an unknown key, on what is no regular expression of RE2,
    // has more than one group or is too large.
    static TrainingRules from_file(const std::string& file);
    ~TrainingRules();
    TrainingRules(TrainingRules&&) noexcept;
    TrainingRules& operator=(TrainingRules&&) noexcept;
    TrainingRules(const TrainingRules&) = delete;
    TrainingRules& operator=(const TrainingRules&) = delete;

    // The meaning by the first rule that matches somewhere in `name`, in the order of TrainingRole.
    // Linear in the length of the name, whatever the expressions.
    NameMeaning meaning(std::string_view name) const;

  private:
    struct Parts;
    explicit TrainingRules(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
