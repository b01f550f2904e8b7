// Command-line options, on Boost.Program_options: both --option=value and --option value, no
// abbreviations, unknown ones an error with the nearest.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "astra/app/command.h"

namespace astra {

class OptionSet {
  public:
    explicit OptionSet(std::string usage);
    ~OptionSet();
    OptionSet(const OptionSet&) = delete;
    OptionSet& operator=(const OptionSet&) = delete;

    void add_value(const std::string& name, const std::string& value_name, const std::string& doc);
    void add_list(const std::string& name, const std::string& value_name, const std::string& doc);
    void add_flag(const std::string& name, const std::string& doc);

    // Throws ConfigError. --help is always there.
    void parse(const Arguments& arguments);

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
    std::optional<double> number(const std::string& name) const;
    std::optional<bool> truth(const std::string& name) const;

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
