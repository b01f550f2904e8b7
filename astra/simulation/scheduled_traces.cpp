// Traces of a run with the schedule that its policy of transfers came to.
#include <algorithm>
#include <filesystem>
#include <numeric>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "astra/core/check.h"
#include "astra/core/error.h"
#include "astra/simulation/simulation_parts.h"
#include "workload/chakra/chakra_writer.h"
#include "workload/graph/groups.h"
#include "workload/training/schedule_trace.h"

namespace astra {

namespace {

class WriterSink final : public NodeSink {
  public:
    explicit WriterSink(ChakraWriter& writer) : writer_(writer) {}
    void add(const TraceNode& node) override { writer_.add(node); }

  private:
    ChakraWriter& writer_;
};

}  // namespace

void Simulation::write_schedule(const std::string& prefix) const {
    const Replayer& replayer = parts_->replayer;
    ASTRA_CHECK(replayer.jobs() == 1, "one job: its groups are those of the engine");
    const Workload& workload = replayer.workload_of_job(0);
    std::vector<LaunchRecord> launches = parts_->transfers.launch_records();
    std::stable_sort(launches.begin(), launches.end(), [](const auto& a, const auto& b) {
        return a.start < b.start;
    });
    const std::vector<std::vector<std::uint32_t>> started = replayer.ops_by_start();
    std::error_code error;  // the writer says what is wrong with the folder
    std::filesystem::create_directories(std::filesystem::path(prefix).parent_path(), error);
    for (std::uint32_t rank = 0; rank < workload.ranks.size(); ++rank) {
        ChakraWriter writer(prefix + "." + std::to_string(rank) + ".et");
        WriterSink sink(writer);
        emit_schedule(workload, rank, launches, started[rank], sink);
        writer.close();
    }
    write_group_file(workload.groups, prefix + ".groups.json");
}

}  // namespace astra
