#include "astra/results/timeline/trace_format.h"

#include "astra/results/timeline/chrome_trace.h"
#include "astra/results/timeline/perfetto_trace.h"

namespace astra {

std::unique_ptr<TraceFormat> open_trace(const std::string& path) {
    if (path.ends_with(".json")) {
        return std::make_unique<ChromeTrace>(path);
    }
    return std::make_unique<PerfettoTrace>(path);
}

}  // namespace astra
