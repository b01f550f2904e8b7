#include "astra/app/help/names.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "astra/core/registry.h"
#include "astra/core/types.h"
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
#include "workload/generate/generator.h"

namespace astra {

namespace {

constexpr std::size_t kWidestRow = 150;  // beside the name; the line has 200 columns at most

constexpr const char* kBegin =
    "# Names\n\n"
    "What a study or an option can name, made by `astra help --names` of the tables that the "
    "program itself reads.\n"
    "A new entry is a source and a line: [adding.md](adding.md). The keys are those of "
    "[study.md](study.md).\n";

// The cells of a row, two or more; the first is a name.
using Row = std::vector<std::string>;

std::string code(std::string_view name) {
    return fmt::format("`{}`", name);
}

// Lines of words, none longer than `width` unless a single word is.
std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
    std::vector<std::string> lines(1);
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string_view word = text.substr(begin, end - begin);
        if (!lines.back().empty() && lines.back().size() + 1 + word.size() > width) {
            lines.emplace_back();
        }
        lines.back().append(lines.back().empty() ? "" : " ").append(word);
        begin = end + 1;
    }
    return lines;
}

// A row, and rows without a name for what its cells have no room for.
std::string written(const Row& row) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    const std::size_t width = kWidestRow / (row.size() - 1);
    for (const std::string& cell : row) {
        cells.push_back(wrapped(cell, width));
        height = std::max(height, cells.back().size());
    }
    std::string text;
    for (std::size_t line = 0; line < height; ++line) {
        for (const std::vector<std::string>& cell : cells) {
            text += fmt::format("| {} ", line < cell.size() ? cell[line] : "");
        }
        text += "|\n";
    }
    return text;
}

// A section: what its names are and which key chooses one, and a row an entry.
class Section {
  public:
    Section(std::string_view title, std::string_view chosen_by, const Row& columns)
        : text_(fmt::format("\n## {}\n\n{}\n\n", title, chosen_by)) {
        text_ += written(columns) + "|";
        for (std::size_t i = 0; i < columns.size(); ++i) {
            text_ += "---|";
        }
        text_ += "\n";
    }

    // A row for each entry; `more` appends its further cells.
    template <class Entry, class More>
    Section& add(const Registry<Entry>& table, More more) {
        for (const Entry* entry : table) {
            Row row = {code(entry->name), std::string(entry->summary)};
            more(*entry, row);
            text_ += written(row);
        }
        return *this;
    }
    template <class Entry>
    Section& add(const Registry<Entry>& table) {
        return add(table, [](const Entry&, Row&) {});
    }

    const std::string& text() const { return text_; }

  private:
    std::string text_;
};

std::string networks() {
    const Row columns = {"name", "what it is"};
    return Section("Network backends", "Key `network.backend`, option `--backend`.", columns)
               .add(backends())
               .text() +
           Section("Transports",
                   "Key `network.packet.transport`, option `--transport`: within the backend "
                   "`packet`.",
                   columns)
               .add(packet::transports())
               .text() +
           Section("Topologies", "Key `network.dimensions.K.topology`.", columns)
               .add(dimension_kinds())
               .text();
}

std::string kinds_of(const CollectiveAlgorithm& algorithm) {
    std::string text;
    for (const CollectiveKind kind : algorithm.kinds) {
        text += fmt::format("{}{}", text.empty() ? "" : ", ", name_of(kind));
    }
    return text;
}

std::string collectives() {
    const auto kinds = [](const CollectiveAlgorithm& algorithm, Row& row) {
        if (algorithm.takes_parameter) {
            row[0] += fmt::format(", `{}N`", algorithm.name);
        }
        row.push_back(kinds_of(algorithm));
    };
    const auto any = [](const Synthesiser&, Row& row) {
        row.emplace_back("made for the links at hand");
    };
    return Section(
               "Algorithms of collectives",
               "Keys `system.collectives.all_reduce` and so on, option `--algorithm`; N stands for "
               "a number.",
               {"name", "what it does", "kinds of collectives"})
        .add(collective_algorithms(), kinds)
        .add(synthesisers(), any)
        .text();
}

std::string orders() {
    const Row columns = {"name", "what goes first"};
    return Section("Orders of dimensions", "Key `system.dimension_order`.", columns)
               .add(dimension_orders())
               .text() +
           Section("Orders of chunks", "Key `system.chunk_order`.", columns)
               .add(chunk_orders())
               .text();
}

std::string models() {
    return Section("Compute models", "Key `system.compute_model`.", {"name", "computations take"})
               .add(compute_models())
               .text() +
           Section("Memory models", "Key `memory.kind`.", {"name", "remote memory"})
               .add(memory_models())
               .text();
}

std::string policies() {
    const auto parameters = [](const TransferPolicyInfo& policy, Row& row) {
        std::string text;
        for (const std::string_view parameter : policy.parameters) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", code(parameter));
        }
        row.push_back(text);
    };
    return Section("Transfer policies",
                   "Key `system.transfers.policy`; a parameter is a key of `system.transfers`.",
                   {"name", "when gradients are sent", "parameters"})
        .add(transfer_policies(), parameters)
        .text();
}

std::string workloads() {
    const auto parameters = [](const Generator& generator, Row& row) {
        std::string text;
        for (const GeneratorParameter& parameter : generator.parameters) {
            text += fmt::format("{}{}", text.empty() ? "" : ", ", code(parameter.name));
        }
        row.push_back(text);
    };
    return Section("Generators",
                   "Key `workload.generate.kind`, first word of `astra generate`; "
                   "`astra help generate` says what the parameters mean.",
                   {"name", "workload", "parameters"})
        .add(generators(), parameters)
        .text();
}

}  // namespace

std::string names_page() {
    return kBegin + networks() + collectives() + orders() + models() + policies() + workloads();
}

}  // namespace astra
