#include "astra/app/command.h"

#include <array>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include <fmt/format.h>

#include "astra/app/options.h"
#include "astra/core/error.h"
#include "astra/core/version.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const Command k##name##Command;
#include "astra/app/builtins.def"
#undef ASTRA_BUILTIN

namespace {

constexpr int kBadInput = 2;
constexpr int kCannotFinish = 3;
constexpr int kOurBug = 4;
constexpr std::size_t kLongestLine = 2000;

void print_usage(std::FILE* out) {
    fmt::print(out, "astra {}: simulates distributed deep-learning training\n\n", version());
    fmt::print(out,
               "usage: astra <command> [options]; astra <command> --help tells all of them\n\n");
    fmt::print(out, "{}\n  --version    prints the version\n", commands().describe());
}

bool is_help(const std::string& word) {
    return word == "--help" || word == "-h";
}

int act(const Command& command, const Arguments& arguments) {
    OptionSet options(command);
    options.parse(arguments);
    if (options.wants_help()) {
        std::fputs(options.help().c_str(), stdout);
        return 0;
    }
    return command.act(options);
}

int dispatch(const Arguments& arguments, std::string_view commit) {
    if (arguments.empty()) {
        print_usage(stderr);
        throw ConfigError("no command");
    }
    const std::string& name = arguments.front();
    if (is_help(name) || (name == "help" && arguments.size() == 1)) {
        print_usage(stdout);
        return 0;
    }
    if (name == "--version") {
        fmt::print("{}\n", version_text(commit));
        return 0;
    }
    return run_command(commands(), "", arguments);
}

// Whatever an input has put into a message must not garble the terminal or flood it.
std::string printable(std::string_view text) {
    std::string result;
    std::size_t line = 0;
    for (const char c : text) {
        if (c == '\n') {
            line = 0;
        } else if (++line > kLongestLine) {
            if (line == kLongestLine + 1) {
                result += "...";
            }
            continue;
        }
        const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\n';
        result += control ? '?' : c;
    }
    return result;
}

int complain(std::string_view what, int status) {
    std::fflush(stdout);
    fmt::print(stderr, "astra: error: {}\n", printable(what));
    return status;
}

}  // namespace

const Registry<Command>& commands() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &k##name##Command,
#include "astra/app/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<Command> table("command", entries);
    return table;
}

std::string version_text(std::string_view commit) {
    return commit.empty() ? fmt::format("astra {}", version())
                          : fmt::format("astra {} ({})", version(), commit);
}

int run_command(const Registry<Command>& table,
                std::string_view group,
                const Arguments& arguments) {
    const std::string prefix = group.empty() ? "" : std::string(group) + ": ";
    if (arguments.empty()) {
        throw ConfigError(fmt::format("{}needs one of {}", prefix, table.list()));
    }
    const std::string& name = arguments.front();
    if (const Command* command = table.find(name)) {
        const Arguments rest(arguments.begin() + 1, arguments.end());
        if (command->parts == nullptr) {
            return act(*command, rest);
        }
        if (!rest.empty() && is_help(rest.front())) {
            std::fputs(OptionSet(*command).help().c_str(), stdout);
            return 0;
        }
        return run_command(command->parts(), command->name, rest);
    }
    for (const std::string& word : arguments) {
        if (table.find(word) != nullptr) {
            throw ConfigError(fmt::format(
                "{}the word '{}' goes before the options, thus before '{}'", prefix, word, name));
        }
    }
    throw ConfigError(
        fmt::format("{}unknown {} '{}'{}", prefix, table.kind(), name, table.nearest(name)));
}

int run_program(const Arguments& arguments, std::string_view commit) {
    try {
        return dispatch(arguments, commit);
    } catch (const InputError& error) {
        return complain(error.what(), kBadInput);
    } catch (const SimulationError& error) {
        return complain(error.what(), kCannotFinish);
    } catch (const std::bad_alloc&) {
        return complain("out of memory: the input asks for more than this machine has", kBadInput);
    } catch (const std::exception& error) {
        return complain(std::string("internal error, please report it: ") + error.what(), kOurBug);
    }
}

}  // namespace astra
