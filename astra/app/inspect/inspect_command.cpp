// `astra inspect`: what is in an input, and what is wrong with it.
#include <array>

#include "astra/app/command.h"

namespace astra {

#define ASTRA_BUILTIN(name) extern const Command kInspect##name;
#include "astra/app/inspect/builtins.def"
#undef ASTRA_BUILTIN

namespace {

constexpr const char* kUsage =
    "usage: astra inspect trace PREFIX [options]\n"
    "       astra inspect network STUDY.yml [options]\n"
    "       astra inspect collective MACHINE.yml [options]\n"
    "       astra inspect windows STUDY.yml [options]\n\n"
    "Says what is in an input and what is wrong with it; astra inspect network --help tells the "
    "options of that.";

const Registry<Command>& inspections() {
    static constexpr std::array entries = {
#define ASTRA_BUILTIN(name) &kInspect##name,
#include "astra/app/inspect/builtins.def"
#undef ASTRA_BUILTIN
    };
    static constexpr Registry<Command> table("word", entries);
    return table;
}

}  // namespace

extern const Command kInspectCommand;
const Command kInspectCommand = {
    .name = "inspect",
    .summary =
        "says what is in traces, or what a network, a collective or the windows of gradients "
        "are like, and what is wrong with them",
    .usage = kUsage,
    .parts = inspections};

}  // namespace astra
