#include "astra/results/training_files.h"

#include <iterator>

#include <fmt/format.h>

#include "astra/config/units.h"
#include "astra/core/text/json_text.h"
#include "astra/results/csv_field.h"

namespace astra {

namespace {

using Out = std::back_insert_iterator<std::string>;

// The fields of a job, each line after `indent`.
std::string fields(const TrainingResult& training, const std::string& indent) {
    std::string text = indent + "\"iterations\": [";
    for (std::size_t i = 0; i < training.iterations.size(); ++i) {
        const IterationTimes& times = training.iterations[i];
        fmt::format_to(Out(text),
                       "{}{{\"start_ps\": {}, \"end_ps\": {}}}",
                       i == 0 ? "" : ", ",
                       times.start.ps,
                       times.end.ps);
    }
    fmt::format_to(Out(text), "],\n{}\"steady_iteration_ps\": {}", indent, training.steady.ps);
    if (training.transfers > 0) {
        fmt::format_to(Out(text),
                       ",\n{}\"scheduling\": {{\"makespan_ps\": {}, \"communication_ps\": {}, "
                       "\"computation_ps\": {}, \"rho\": {:.6f}, \"overlap\": {:.6f}, "
                       "\"speedup_left\": {:.6f}, \"lower_bound_ps\": {}, \"transfers\": {}, "
                       "\"least_transfer_bytes\": {}, \"median_transfer_bytes\": {}, "
                       "\"most_transfer_bytes\": {}, \"load_peak_to_mean\": {:.6f}}}",
                       indent,
                       training.steady.ps,
                       training.communication.ps,
                       training.computation.ps,
                       training.ratio,
                       training.overlap,
                       training.speedup_left,
                       training.lower_bound.ps,
                       training.transfers,
                       training.least.count,
                       training.median.count,
                       training.most.count,
                       training.load_peak_to_mean);
    }
    return text;
}

std::string communicators_json(const RunResult& result) {
    std::string text = "  \"communicators\": [";
    const char* separator = "\n";
    for (const CommunicatorRecord& c : result.communicators) {
        fmt::format_to(Out(text),
                       "{}    {{\"group\": {}, \"ranks\": {}, \"tensors\": {}, \"bytes\": {}, "
                       "\"alpha_ps\": {}, \"beta_ps_per_byte\": {:.6f}, \"plan\": {}}}",
                       separator,
                       json_text(c.group),
                       c.ranks,
                       c.tensors,
                       c.bytes.count,
                       c.alpha.ps,
                       c.beta_ps,
                       json_text(c.plan));
        separator = ",\n";
    }
    return text + "\n  ],\n";
}

void summarise(const RunResult& result, std::size_t job, std::string& text) {
    const TrainingResult& training = result.training[job];
    const std::string name = training.job.empty() ? "" : training.job + ": ";
    fmt::format_to(Out(text),
                   "iterations       {}{}, steady {} each\n",
                   name,
                   training.iterations.size(),
                   to_text(training.steady));
    if (training.transfers == 0) {
        return;
    }
    const Duration exposed{training.steady.ps - std::min(training.steady, training.computation).ps};
    fmt::format_to(Out(text),
                   "transfers        {}{} an iteration, of {} … {}, median {}; load peak to mean "
                   "{:.2f}\n"
                   "scheduling       {}communication M {}, computation P {}, rho {:.2f}, overlap "
                   "{:.2f}, speed-up left {:.2f}; exposed {}; lower bound {} ({:.1f} % below)\n",
                   name,
                   training.transfers,
                   to_text(training.least),
                   to_text(training.most),
                   to_text(training.median),
                   training.load_peak_to_mean,
                   name,
                   to_text(training.communication),
                   to_text(training.computation),
                   training.ratio,
                   training.overlap,
                   training.speedup_left,
                   to_text(exposed),
                   to_text(training.lower_bound),
                   100.0 * (1 - static_cast<double>(training.lower_bound.ps) /
                                    static_cast<double>(training.steady.ps)));
}

}  // namespace

std::string training_json(const RunResult& result) {
    if (result.training.empty()) {
        return "";
    }
    std::string text;
    if (result.training.size() == 1) {
        text = fields(result.training.front(), "  ") + ",\n";
    } else {
        text = "  \"training\": [";
        const char* separator = "\n";
        for (const TrainingResult& training : result.training) {
            fmt::format_to(Out(text),
                           "{}    {{\n      \"job\": {},\n{}\n    }}",
                           separator,
                           json_text(training.job),
                           fields(training, "      "));
            separator = ",\n";
        }
        text += "\n  ],\n";
    }
    return result.communicators.empty() ? text : text + communicators_json(result);
}

std::string transfers_csv(const RunResult& result) {
    std::string text = "group,iteration,start_ps,end_ps,bytes,tensors\n";
    for (const TransferRecord& transfer : result.transfers) {
        fmt::format_to(Out(text),
                       "{},{},{},{},{},{}\n",
                       csv_field(result.communicators[transfer.communicator].group),
                       transfer.iteration,
                       transfer.start.ps,
                       transfer.end.ps,
                       transfer.bytes.count,
                       transfer.tensors);
    }
    return text;
}

std::string training_summary(const RunResult& result) {
    std::string text;
    for (std::size_t job = 0; job < result.training.size(); ++job) {
        summarise(result, job, text);
    }
    for (std::size_t i = 0; i < result.communicators.size(); ++i) {
        const CommunicatorRecord& c = result.communicators[i];
        if (!c.plan.empty() && i == 0) {
            fmt::format_to(Out(text), "plan             group '{}': {}\n", c.group, c.plan);
        }
    }
    return text;
}

}  // namespace astra
