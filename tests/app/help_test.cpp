// Help, manual and completion come from the same declarations: what one names, all name.
#include <cstdio>
#include <sstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/app/command.h"
#include "astra/core/kind_names.h"
#include "network/backend/backend.h"
#include "network/backend/packet/transport.h"
#include "network/topology/dimension.h"
#include "system/algorithms/algorithm.h"
#include "system/engine/chunk_order.h"
#include "system/model/compute_model.h"
#include "system/model/memory_model.h"
#include "system/plan/dimension_order.h"
#include "system/synthesis/synthesiser.h"
#include "system/transfer/policy.h"
#include "tests/support/experiment.h"
#include "workload/generate/generator.h"

namespace astra::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Help, OfACommandThreeSpellings) {
    const ProgramRun run = run_captured({"run", "--help"});
    EXPECT_EQ(run.status, 0);
    EXPECT_THAT(run.out, HasSubstr("-o [ --output ] DIR"));
    EXPECT_EQ(run_captured({"run", "-h"}).out, run.out);
    EXPECT_EQ(run_captured({"help", "run"}).out, run.out);
    EXPECT_EQ(run_captured({"help", "inspect", "network"}).out,
              run_captured({"inspect", "network", "--help"}).out);
    EXPECT_THAT(run_captured({"help", "inspect"}).out, HasSubstr("inspect windows STUDY.yml"));
    EXPECT_EQ(run_captured({"help", "rum"}).status, 2);
}

TEST(Help, ListsWhatTheTablesHold) {
    const std::string text = run_captured({"run", "--help"}).out;
    const std::string manual = run_captured({"help", "--man"}).out;
    const std::string completion = run_captured({"help", "--bash-completion"}).out;
    for (const std::vector<std::string>& names :
         {backends().names(), packet::transports().names()}) {
        for (const std::string& name : names) {
            EXPECT_THAT(text, HasSubstr(name));
            EXPECT_THAT(manual, HasSubstr(name));
            EXPECT_THAT(completion, HasSubstr(name));
        }
    }
    const std::string collective = run_captured({"collective", "--help"}).out;
    const std::string inspect = run_captured({"inspect", "collective", "--help"}).out;
    for (const std::vector<std::string>& names :
         {collective_algorithms().names(), synthesisers().names(), collective_kind_names()}) {
        for (const std::string& name : names) {
            EXPECT_THAT(collective, HasSubstr(name));
            EXPECT_THAT(inspect, HasSubstr(name));
        }
    }
    for (const std::string& name : commands().names()) {
        EXPECT_THAT(manual, HasSubstr(".SH \"astra " + name + "\""));
        EXPECT_THAT(completion, HasSubstr(name));
    }
    EXPECT_THAT(manual, HasSubstr("\\fB\\-o\\fR, \\fB\\-\\-output\\fR=\\fIDIR\\fR"));
}

// Every entry has a row with its summary, and its parameters if it has some.
TEST(Help, NamesHaveARowForEachEntry) {
    const std::string page = run_captured({"help", "--names"}).out;
    std::size_t section = 0;
    const auto expect_row = [&](std::string_view name, std::string_view summary) {
        const std::size_t row = page.find("\n| `" + std::string(name) + "`", section);
        ASSERT_NE(row, std::string::npos) << name;
        // Long cells go on in the rows below: up to the next entry all words are there.
        const std::string rows = page.substr(row + 1, page.find("\n| `", row + 1) - row);
        std::istringstream words{std::string(summary)};
        for (std::string word; words >> word;) {
            EXPECT_THAT(rows, HasSubstr(word)) << name;
        }
    };
    const auto begin = [&](const std::string& title) {
        section = page.find("\n## " + title + "\n");
        ASSERT_NE(section, std::string::npos) << title;
    };
    const auto expect_rows = [&](const std::string& title, const auto& table) {
        begin(title);
        for (const auto* entry : table) {
            expect_row(entry->name, entry->summary);
        }
    };
    expect_rows("Network backends", backends());
    expect_rows("Transports", packet::transports());
    expect_rows("Topologies", dimension_kinds());
    expect_rows("Algorithms of collectives", collective_algorithms());
    expect_rows("Algorithms of collectives", synthesisers());
    expect_rows("Orders of dimensions", dimension_orders());
    expect_rows("Orders of chunks", chunk_orders());
    expect_rows("Compute models", compute_models());
    expect_rows("Memory models", memory_models());
    expect_rows("Generators", generators());
    begin("Transfer policies");
    for (const TransferPolicyInfo* policy : transfer_policies()) {
        std::string words(policy->summary);
        for (const std::string_view parameter : policy->parameters) {
            words.append(" `").append(parameter).append("`");
        }
        expect_row(policy->name, words);
    }
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 200U) << line;
    }
}

TEST(Help, TheVersionNamesTheCommit) {
    EXPECT_EQ(version_text("abc1234-dirty"), "astra 0.1.0 (abc1234-dirty)");
    EXPECT_EQ(version_text(""), "astra 0.1.0");
    EXPECT_EQ(run_captured({"--version"}).out, "astra 0.1.0\n");
}

class Completion : public testing::Test {
  protected:
    // What bash offers for the last of `words`, which are those behind `astra`.
    std::string complete(const std::string& words) const {
        const std::string command = "bash -c 'source " + script_ + "; COMP_WORDS=(astra " + words +
                                    "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _astra; "
                                    "echo \"${COMPREPLY[@]}\"'";
        std::FILE* pipe = popen(command.c_str(), "r");
        if (pipe == nullptr) {
            return "no bash";
        }
        std::string text(4096, '\0');
        text.resize(std::fread(text.data(), 1, text.size(), pipe));
        EXPECT_EQ(pclose(pipe), 0);
        return text;
    }

    static std::string transport_names() {
        std::string names;
        for (const std::string& name : packet::transports().names()) {
            names += (names.empty() ? "" : " ") + name;
        }
        return names + "\n";
    }

  private:
    ScratchFolder folder_;
    std::string script_ =
        folder_.write("astra.bash", run_captured({"help", "--bash-completion"}).out);
};

TEST_F(Completion, OfCommandsOptionsAndValues) {
    EXPECT_EQ(complete("ins"), "inspect\n");
    EXPECT_EQ(complete("inspect net"), "network\n");
    EXPECT_EQ(complete("inspect network --gr"), "--graphviz\n");
    EXPECT_EQ(complete("run --outp"), "--output\n");
    EXPECT_EQ(complete("run --transport \"\""), transport_names());
    EXPECT_EQ(complete("run --transport = n"), "ndp none\n");
    EXPECT_EQ(complete("run --transport ="), transport_names());
    // Files are left to bash.
    EXPECT_EQ(complete("run -o \"\""), "\n");
    EXPECT_EQ(complete("run st"), "\n");
    EXPECT_THAT(complete("run --quiet --"), HasSubstr("--until"));
    EXPECT_THAT(complete("convert --"), Not(HasSubstr("--until")));
}

}  // namespace
}  // namespace astra::test
