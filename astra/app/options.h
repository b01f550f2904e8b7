// Command-line options, on Boost.Program_options: both --option=value and --option value, no
// abbreviations, unknown ones an error with the nearest.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "astra/app/command.h"
#include "astra/core/types.h"

namespace astra {

struct Option {
    std::string name{};        // "output", for --output
    char letter = '\0';        // 'o', for -o; or none
    std::string value_name{};  // "DIR"; "" of a flag
    std::string doc{};
    std::vector<std::string> choices{};  // the values, where they can be listed

    bool is_flag() const { return value_name.empty(); }
};

// A value of an option, and what it means.
struct Choice {
    std::string name;
    std::string doc;
};

class OptionSet {
  public:
    // With what the command declares. It outlives the options.
    explicit OptionSet(const Command& command);
    ~OptionSet();
    OptionSet(const OptionSet&) = delete;
    OptionSet& operator=(const OptionSet&) = delete;

    // `name` is "output", or "output,o" for --output and -o. `choices` goes behind `doc`.
    void add_value(const std::string& name,
                   const std::string& value_name,
                   const std::string& doc,
                   const std::vector<std::string>& choices);
    void add_value(const std::string& name, const std::string& value_name, const std::string& doc);
    // The same, with what each of the choices means.
    void add_described_value(const std::string& name,
                             const std::string& value_name,
                             const std::string& doc,
                             const std::vector<Choice>& choices);
    void add_list(const std::string& name, const std::string& value_name, const std::string& doc);
    void add_flag(const std::string& name, const std::string& doc);
    // Text between the usage and the options.
    void add_note(std::string text);

    // Throws ConfigError. --help is always there.
    void parse(const Arguments& arguments);

    const std::vector<Option>& declared() const;  // in that order, --help first
    const std::string& usage() const;             // with the notes
    bool wants_help() const;
    std::string help() const;
    bool flag(const std::string& name) const;
    std::optional<std::string> value(const std::string& name) const;
    std::vector<std::string> list(const std::string& name) const;
    const std::vector<std::string>& positional() const;
    // A whole number; throws ConfigError that names the option.
    std::optional<std::uint64_t> integer(const std::string& name,
                                         std::uint64_t least,
                                         std::uint64_t most) const;
    // A time with a unit; throws ConfigError that names the option.
    std::optional<Duration> duration(const std::string& name) const;
    std::optional<double> number(const std::string& name) const;
    std::optional<bool> truth(const std::string& name) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
