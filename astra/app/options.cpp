#include "astra/app/options.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/error.h"
#include "astra/core/text/nearest.h"

namespace po = boost::program_options;

namespace astra {

struct OptionSet::Parts {
    std::string usage;
    po::options_description visible{"options", 100};
    std::vector<Option> declared;
    po::variables_map values;
    std::vector<std::string> positional;

    // `name` is "output" or "output,o"; `value` belongs to Boost.
    void add(const std::string& name, const po::value_semantic* value, Option option) {
        const std::size_t comma = name.find(',');
        option.name = name.substr(0, comma);
        option.letter = comma == std::string::npos ? '\0' : name.at(comma + 1);
        if (value == nullptr) {
            visible.add_options()(name.c_str(), option.doc.c_str());
        } else {
            visible.add_options()(name.c_str(), value, option.doc.c_str());
        }
        declared.push_back(std::move(option));
    }
    std::vector<std::string> names() const {
        std::vector<std::string> names;
        for (const Option& option : declared) {
            names.push_back("--" + option.name);
        }
        return names;
    }
};

OptionSet::OptionSet(const Command& command) : parts_(std::make_unique<Parts>()) {
    parts_->usage = command.usage;
    parts_->add("help,h", nullptr, {.doc = "prints this"});
    if (command.declare != nullptr) {
        command.declare(*this);
    }
}

OptionSet::~OptionSet() = default;

void OptionSet::add_value(const std::string& name,
                          const std::string& value_name,
                          const std::string& doc,
                          const std::vector<std::string>& choices) {
    parts_->add(name,
                po::value<std::string>()->value_name(value_name),
                {.value_name = value_name,
                 .doc = doc + ": " + joined(choices, " or "),
                 .choices = choices});
}

void OptionSet::add_described_value(const std::string& name,
                                    const std::string& value_name,
                                    const std::string& doc,
                                    const std::vector<Choice>& choices) {
    std::vector<std::string> names;
    std::vector<std::string> described;
    for (const Choice& choice : choices) {
        names.push_back(choice.name);
        described.push_back(fmt::format("{} ({})", choice.name, choice.doc));
    }
    parts_->add(name,
                po::value<std::string>()->value_name(value_name),
                {.value_name = value_name,
                 .doc = doc + ": " + joined(described, " and "),
                 .choices = names});
}

void OptionSet::add_value(const std::string& name,
                          const std::string& value_name,
                          const std::string& doc) {
    parts_->add(name,
                po::value<std::string>()->value_name(value_name),
                {.value_name = value_name, .doc = doc});
}

void OptionSet::add_list(const std::string& name,
                         const std::string& value_name,
                         const std::string& doc) {
    parts_->add(name,
                po::value<std::vector<std::string>>()->value_name(value_name)->composing(),
                {.value_name = value_name, .doc = doc});
}

void OptionSet::add_flag(const std::string& name, const std::string& doc) {
    parts_->add(name, po::bool_switch(), {.doc = doc});
}

void OptionSet::add_note(std::string text) {
    parts_->usage += "\n\n" + std::move(text);
}

void OptionSet::parse(const Arguments& arguments) {
    po::options_description all;
    all.add(parts_->visible);
    all.add_options()("positional", po::value<std::vector<std::string>>());
    po::positional_options_description words;
    words.add("positional", -1);
    namespace style = po::command_line_style;
    try {
        po::store(po::command_line_parser(arguments)
                      .options(all)
                      .positional(words)
                      .style(style::unix_style & ~style::allow_guessing)
                      .run(),
                  parts_->values);
        po::notify(parts_->values);
    } catch (const po::unknown_option& error) {
        const std::string name = error.get_option_name();
        throw ConfigError(
            fmt::format("unknown option '{}'{}", name, suggestion(name, parts_->names())));
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("command line: {}", error.what()));
    }
    if (parts_->values.count("positional") > 0) {
        parts_->positional = parts_->values["positional"].as<std::vector<std::string>>();
    }
}

const std::vector<Option>& OptionSet::declared() const {
    return parts_->declared;
}

const std::string& OptionSet::usage() const {
    return parts_->usage;
}

bool OptionSet::wants_help() const {
    return parts_->values.count("help") > 0;
}

std::string OptionSet::help() const {
    std::ostringstream text;
    text << parts_->usage << "\n\n" << parts_->visible;
    return text.str();
}

bool OptionSet::flag(const std::string& name) const {
    return parts_->values[name].as<bool>();
}

std::optional<std::string> OptionSet::value(const std::string& name) const {
    if (parts_->values.count(name) == 0) {
        return std::nullopt;
    }
    return parts_->values[name].as<std::string>();
}

std::vector<std::string> OptionSet::list(const std::string& name) const {
    if (parts_->values.count(name) == 0) {
        return {};
    }
    return parts_->values[name].as<std::vector<std::string>>();
}

const std::vector<std::string>& OptionSet::positional() const {
    return parts_->positional;
}

std::optional<std::uint64_t> OptionSet::integer(const std::string& name,
                                                std::uint64_t least,
                                                std::uint64_t most) const {
    const auto text = value(name);
    if (!text) {
        return std::nullopt;
    }
    std::uint64_t number = 0;
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() || number < least ||
        number > most) {
        throw ConfigError(fmt::format(
            "--{}: '{}' is not a whole number from {} to {}", name, *text, least, most));
    }
    return number;
}

std::optional<Duration> OptionSet::duration(const std::string& name) const {
    const auto text = value(name);
    if (!text) {
        return std::nullopt;
    }
    const auto time = parse_duration(*text);
    if (!time) {
        throw ConfigError(fmt::format("--{}: '{}' is {}",
                                      name,
                                      *text,
                                      is_duration(*text) ? "longer than 2^64 ps, some 213 days"
                                                         : "not a time with a unit, as in 5ms"));
    }
    return time;
}

std::optional<double> OptionSet::number(const std::string& name) const {
    const auto text = value(name);
    if (!text) {
        return std::nullopt;
    }
    double number = 0;
    const auto parsed = std::from_chars(text->data(), text->data() + text->size(), number);
    if (parsed.ec != std::errc() || parsed.ptr != text->data() + text->size() ||
        !std::isfinite(number)) {
        throw ConfigError(fmt::format("--{}: '{}' is not a number", name, *text));
    }
    return number;
}

std::optional<bool> OptionSet::truth(const std::string& name) const {
    const auto text = value(name);
    if (!text) {
        return std::nullopt;
    }
    if (*text == "true" || *text == "1") {
        return true;
    }
    if (*text == "false" || *text == "0") {
        return false;
    }
    throw ConfigError(fmt::format("--{}: '{}' is neither true nor false", name, *text));
}

}  // namespace astra
