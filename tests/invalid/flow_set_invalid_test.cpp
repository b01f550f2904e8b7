// Wrong flow sets and background traffic through the program: the exit status, and what the message
// says.
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "tests/support/flow_text.h"
#include "tests/validation/case_check.h"

namespace astra::test {
namespace {

constexpr const char* kNetwork =
    "network:\n  dimensions:\n"
    "    - {topology: switch, ranks: 8, bandwidth: 400Gbps, latency: 500ns}\n";

ProgramRun run_flows(const std::string& text, const Arguments& more = {}) {
    const ScratchFolder folder;
    Arguments arguments = {"run",
                           folder.write("study.yml", kNetwork),
                           "--flows=" + folder.write("set.flows", text),
                           "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_captured(arguments);
}

ProgramRun run_study_text(const std::string& study, const Arguments& more = {}) {
    const ScratchFolder folder;
    folder.write("set.flows", "1 0 1 8 0\n");
    Arguments arguments = {"run", folder.write("study.yml", study), "--quiet"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_captured(arguments);
}

TEST(FlowSetInvalid, LinesAreNamed) {
    expect_failure(
        run_flows("1 0 1 8 0\n2 0 1 8\n"), 2, {"set.flows:2:", "4 columns", "id src dst"});
    expect_failure(run_flows("1 0 1 8 0\n2 0 8 8 0\n"), 2, {"set.flows:2:", "no rank 8", "0 to 7"});
    expect_failure(run_flows("1 0 1 8 2\n2 1 2 8 1\n"), 2, {"set.flows:1:", "1 after 2 after 1"});
    expect_failure(run_flows("1 0 1 8 0\n1 1 2 8 0\n"), 2, {"set.flows:2:", "id 1", "line 1"});
    expect_failure(run_flows("1 0 1 8 5\n"), 2, {"set.flows:1:", "no flow 5"});
    expect_failure(run_flows("1 3 3 8 0\n"), 2, {"set.flows:1:", "rank 3 to itself"});
    expect_failure(run_flows(""), 2, {"set.flows: holds no flow"});
    expect_failure(run_flows("1 0 1 8 x\n", {"--check"}), 2, {"set.flows:1: after: 'x'"});
}

TEST(FlowSetInvalid, FilesThatAreNone) {
    const ScratchFolder folder;
    const std::string study = folder.write("study.yml", kNetwork);
    expect_failure(run_captured({"run", study, "--flows=" + folder.path()}), 2, {"is a directory"});
    expect_failure(run_captured({"run", study, "--flows=" + folder.file("none")}),
                   2,
                   {"--flows: workload.flows: no file"});
    ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
    expect_failure(
        run_captured({"run", study, "--flows=" + folder.file("fifo")}), 2, {"not a regular file"});
}

TEST(FlowSetInvalid, Studies) {
    const std::string network = kNetwork;
    expect_failure(run_study_text("workload: {flows: set.flows, trace: x}\n" + network),
                   2,
                   {"study.yml:1:", "workload.flows", "trace already"});
    expect_failure(run_study_text("workload: {flows: set.flows, element_bytes: 2}\n" + network),
                   2,
                   {"study.yml:1:", "unknown key 'element_bytes'"});
    expect_failure(
        run_study_text("workload: {flow: set.flows}\n" + network), 2, {"study.yml:1:", "'trace'"});
    expect_failure(
        run_study_text("jobs:\n  - {ranks: [0, 1], workload: {flows: set.flows}}\n" + network,
                       {"--flows=set.flows"}),
        2,
        {"--flows: the study has jobs"});
    expect_failure(
        run_study_text("jobs:\n  - {ranks: [0], workload: {flows: set.flows}}\n" + network),
        2,
        {"set.flows:1: dst: there is no rank 1; the ranks are 0 to 0"});
    expect_failure(
        run_study_text("workload: {flows: set.flows}\nbackground: {rate: 0}\n" + network),
        2,
        {"study.yml:2:", "background.rate", "above 0"});
    expect_failure(
        run_study_text("workload: {flows: set.flows}\nbackground: {rat: 1Gbps}\n" + network),
        2,
        {"study.yml:2:", "'rate' is missing"});
    expect_failure(run_study_text("workload: {flows: set.flows}\n" + network, {"--record=flow"}),
                   2,
                   {"--record", "'flow'", "did you mean 'flows'?"});
}

TEST(FlowSetInvalid, LimitsSayWhoWaits) {
    const std::string chain = "1 0 1 8 0\n2 1 2 8 1\n";
    expect_failure(run_flows(chain, {"--until=100ns"}),
                   3,
                   {"cannot finish: the limit of simulated time",
                    "3 of 3 ranks",
                    "flow 1 (rank 0 -> rank 1, 8 B) has been on its way since 0 ps",
                    "flow 2 (rank 1 -> rank 2, 8 B) waits for flow 1"});
    expect_failure(run_flows(chain, {"--max-events=2"}), 3, {"the limit of events", "flow 2"});
}

}  // namespace
}  // namespace astra::test
