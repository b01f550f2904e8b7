#include "astra/results/schedule_files.h"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "astra/simulation/run_schedule.h"
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

void write_schedule(const RunSchedule& schedule, const std::string& prefix) {
    std::error_code error;  // the writer says what is wrong with the folder
    std::filesystem::create_directories(std::filesystem::path(prefix).parent_path(), error);
    for (std::uint32_t rank = 0; rank < schedule.workload.ranks.size(); ++rank) {
        ChakraWriter writer(prefix + "." + std::to_string(rank) + ".et");
        WriterSink sink(writer);
        emit_schedule(
            schedule.workload, rank, schedule.launches, schedule.ops_by_start[rank], sink);
        writer.close();
    }
    write_group_file(schedule.workload.groups, prefix + ".groups.json");
}

}  // namespace astra
