#include "astra/app/run/progress_line.h"

#include <cstdio>

#include <fmt/format.h>
#include <unistd.h>

#include "astra/config/units.h"

namespace astra {

ProgressLine::ProgressLine(bool quiet)
    : enabled_(!quiet && isatty(STDERR_FILENO) != 0), start_(Clock::now()), last_(start_) {}

ProgressLine::~ProgressLine() {
    if (shown_) {
        std::fputs("\r\033[K", stderr);
    }
}

void ProgressLine::show(const RunProgress& progress) {
    const auto now = Clock::now();
    if (!enabled_ || now - last_ < std::chrono::milliseconds(100)) {
        return;
    }
    last_ = now;
    shown_ = true;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr,
               "\r\033[K{} of {} ranks done, {} simulated, {:.1f} million events a second",
               progress.finished_ranks,
               progress.ranks,
               to_text(Duration{progress.now.ps}),
               static_cast<double>(progress.events) / seconds / 1e6);
    std::fflush(stderr);
}

}  // namespace astra
