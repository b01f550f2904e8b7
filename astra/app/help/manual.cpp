#include "astra/app/help/manual.h"

#include <string_view>

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"
#include "astra/core/version.h"

namespace astra {

namespace {

// Text in which troff finds no requests: hyphens stay hyphens, and no line begins with a dot.
std::string escaped(std::string_view text) {
    std::string result;
    for (const char c : text) {
        if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n')) {
            result += "\\&";
        }
        if (c == '-') {
            result += "\\-";
        } else if (c == '\\') {
            result += "\\e";
        } else {
            result += c;
        }
    }
    return result;
}

std::string entry(const Option& option) {
    std::string text = ".TP\n";
    if (option.letter != '\0') {
        text += fmt::format("\\fB\\-{}\\fR, ", option.letter);
    }
    text += "\\fB\\-\\-" + escaped(option.name) + "\\fR";
    if (!option.is_flag()) {
        text += "=\\fI" + escaped(option.value_name) + "\\fR";
    }
    return text + "\n" + escaped(option.doc) + "\n";
}

// A section a command, those of groups behind their group.
std::string sections(const Registry<Command>& table, const std::string& prefix) {
    std::string text;
    for (const Command* command : table) {
        const std::string name = prefix + std::string(command->name);
        const OptionSet options(*command);
        text += fmt::format(".SH \"{}\"\n{}.\n", escaped(name), escaped(command->summary));
        text += ".PP\n.nf\n" + escaped(options.usage()) + "\n.fi\n";
        if (command->parts != nullptr) {
            text += sections(command->parts(), name + " ");
            continue;
        }
        for (const Option& option : options.declared()) {
            text += entry(option);
        }
    }
    return text;
}

constexpr const char* kStatus =
    ".SH \"EXIT STATUS\"\n"
    ".TP\n0\nevery op of every rank completed\n"
    ".TP\n2\nthe input is wrong, or output cannot be written\n"
    ".TP\n3\nthe run cannot finish, or a limit is reached\n"
    ".TP\n4\na bug of the program\n"
    ".TP\n130\ninterrupted; what was simulated so far is written, marked unfinished\n";

}  // namespace

std::string manual_page() {
    return fmt::format(
               ".TH ASTRA 1 \"\" \"astra {}\" \"User Commands\"\n"
               ".SH NAME\nastra \\- simulates distributed deep\\-learning training\n"
               ".SH SYNOPSIS\n\\fBastra\\fR \\fIcommand\\fR [\\fIoptions\\fR]\n",
               version()) +
           sections(commands(), "astra ") + kStatus;
}

}  // namespace astra
