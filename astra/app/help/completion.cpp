#include "astra/app/help/completion.h"

#include <fmt/format.h>

#include "astra/app/command.h"
#include "astra/app/options.h"

namespace astra {

namespace {

// The words behind `path`, and the values of its options: cases of the script.
struct Cases {
    std::string words;    // "run) words='--help …' ;;"
    std::string options;  // options with a list of values: "'run --backend') words='…' ;;"
    std::string files;    // options with any value: "'run --output') return ;;"
};

std::string joined_names(const std::vector<std::string>& names) {
    return fmt::format("{}", fmt::join(names, " "));
}

void add_options(const std::string& path, const OptionSet& options, Cases& cases) {
    std::vector<std::string> names;
    for (const Option& option : options.declared()) {
        names.push_back("--" + option.name);
        if (option.is_flag()) {
            continue;
        }
        std::string pattern = fmt::format("'{} --{}'", path, option.name);
        if (option.letter != '\0') {
            pattern += fmt::format(" | '{} -{}'", path, option.letter);
        }
        if (option.choices.empty()) {
            cases.files += fmt::format("        {}) return ;;\n", pattern);
        } else {
            cases.options +=
                fmt::format("        {}) words='{}' ;;\n", pattern, joined_names(option.choices));
        }
    }
    cases.words += fmt::format("        '{}') options='{}' ;;\n", path, joined_names(names));
}

void add_commands(const std::string& path, const Registry<Command>& table, Cases& cases) {
    std::vector<std::string> names = table.names();
    cases.words +=
        fmt::format("        '{}') options='--help' words='{}' ;;\n", path, joined_names(names));
    for (const Command* command : table) {
        const std::string name =
            path.empty() ? std::string(command->name) : path + " " + std::string(command->name);
        if (command->parts != nullptr) {
            add_commands(name, command->parts(), cases);
        } else {
            add_options(name, OptionSet(*command), cases);
        }
    }
}

std::string groups() {
    std::vector<std::string> names;
    for (const Command* command : commands()) {
        if (command->parts != nullptr) {
            names.emplace_back(command->name);
        }
    }
    return fmt::format("{}", fmt::join(names, " | "));
}

}  // namespace

std::string bash_completion() {
    Cases cases;
    add_commands("", commands(), cases);
    // Bash makes three words of --option=value. With no reply it completes names of files.
    return fmt::format(R"(# bash completion of astra; made by: astra help --bash-completion
_astra() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}}
    local path= option= options= words=
    if [[ $word == '=' ]]; then
        option=$before word=
    elif [[ $before == '=' ]]; then
        option=${{COMP_WORDS[COMP_CWORD - 2]}}
    elif [[ $before == -* ]]; then
        option=$before
    fi
    if ((COMP_CWORD > 1)); then
        path=${{COMP_WORDS[1]}}
    fi
    case $path in
        {}) if ((COMP_CWORD > 2)); then path+=" ${{COMP_WORDS[2]}}"; fi ;;
    esac
    COMPREPLY=()
    case "$path $option" in
{}{}    esac
    if [[ -z $words ]]; then
        case $path in
{}        esac
        if [[ $word == -* ]]; then words=$options; fi
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _astra astra
)",
                       groups(),
                       cases.options,
                       cases.files,
                       cases.words);
}

}  // namespace astra
