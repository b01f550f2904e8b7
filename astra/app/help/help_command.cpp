// `astra help`: the options of a command, and what is made of those of all.
#include <cstdio>

#include "astra/app/command.h"
#include "astra/app/help/completion.h"
#include "astra/app/help/manual.h"
#include "astra/app/help/names.h"
#include "astra/app/options.h"

namespace astra {

namespace {

constexpr const char* kUsage =
    "usage: astra help COMMAND\n"
    "       astra help --names | --man | --bash-completion\n\n"
    "Prints what astra COMMAND --help prints.";

void declare(OptionSet& options) {
    options.add_flag("names", "prints what studies and options can name, as Markdown");
    options.add_flag("man", "prints the manual page, for man -l");
    options.add_flag("bash-completion", "prints a script for bash: source <(astra help …)");
}

int help(const OptionSet& options) {
    if (options.flag("names")) {
        std::fputs(names_page().c_str(), stdout);
        return 0;
    }
    if (options.flag("man")) {
        std::fputs(manual_page().c_str(), stdout);
        return 0;
    }
    if (options.flag("bash-completion")) {
        std::fputs(bash_completion().c_str(), stdout);
        return 0;
    }
    Arguments words = options.positional();
    words.emplace_back("--help");
    return run_command(commands(), "", words);
}

}  // namespace

extern const Command kHelpCommand;
const Command kHelpCommand = {.name = "help",
                              .summary = "prints the options of a command, or what can be named",
                              .usage = kUsage,
                              .declare = declare,
                              .act = help};

}  // namespace astra
