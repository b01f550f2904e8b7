#include "astra/app/options.h"

#include <charconv>
#include <cmath>
#include <sstream>
#include <utility>

#include <boost/program_options.hpp>
#include <fmt/format.h>

#include "astra/core/error.h"
#include "astra/core/nearest.h"

namespace po = boost::program_options;

namespace astra {

struct OptionSet::Parts {
    std::string usage;
    po::options_description visible{"options", 100};
    std::vector<std::string> names{"--help"};
    po::variables_map values;
    std::vector<std::string> positional;
};

OptionSet::OptionSet(std::string usage) : parts_(std::make_unique<Parts>()) {
    parts_->usage = std::move(usage);
    parts_->visible.add_options()("help", "prints this");
}

OptionSet::~OptionSet() = default;

void OptionSet::add_value(const std::string& name,
                          const std::string& value_name,
                          const std::string& doc) {
    parts_->visible.add_options()(
        name.c_str(), po::value<std::string>()->value_name(value_name), doc.c_str());
    parts_->names.push_back("--" + name);
}

void OptionSet::add_list(const std::string& name,
                         const std::string& value_name,
                         const std::string& doc) {
    parts_->visible.add_options()(
        name.c_str(),
        po::value<std::vector<std::string>>()->value_name(value_name)->composing(),
        doc.c_str());
    parts_->names.push_back("--" + name);
}

void OptionSet::add_flag(const std::string& name, const std::string& doc) {
    parts_->visible.add_options()(name.c_str(), po::bool_switch(), doc.c_str());
    parts_->names.push_back("--" + name);
}

void OptionSet::parse(const Arguments& arguments) {
    po::options_description all;
    all.add(parts_->visible);
    all.add_options()("positional", po::value<std::vector<std::string>>());
    po::positional_options_description places;
    places.add("positional", -1);
    namespace style = po::command_line_style;
    try {
        po::store(po::command_line_parser(arguments)
                      .options(all)
                      .positional(places)
                      .style(style::unix_style & ~style::allow_guessing)
                      .run(),
                  parts_->values);
        po::notify(parts_->values);
    } catch (const po::unknown_option& error) {
        const std::string name = error.get_option_name();
        throw ConfigError(
            fmt::format("unknown option '{}'{}", name, suggestion(name, parts_->names)));
    } catch (const po::error& error) {
        throw ConfigError(fmt::format("command line: {}", error.what()));
    }
    if (parts_->values.count("positional") > 0) {
        parts_->positional = parts_->values["positional"].as<std::vector<std::string>>();
    }
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
