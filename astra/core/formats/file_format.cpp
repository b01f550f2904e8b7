#include "astra/core/formats/file_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <vector>

#include "astra/core/formats/key_outline.h"

namespace astra {
namespace {

using Format = FileFormat;
using Purpose = FilePurpose;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::size_t kMostLines = 64;
constexpr std::size_t kTarMagicAt = 257;

constexpr std::string_view kLink =
    "link it with the other trace of the same run (chakra_trace_link --chakra-host-trace HOST "
    "--chakra-device-trace KINETO --rank R --output-file LINKED), then make it Chakra "
    "(chakra_converter PyTorch --input LINKED --output PREFIX.R.et)";
constexpr std::string_view kGraphFile =
    "write its links as a graph file of the topology `custom` (docs/topologies.md), or its tiers "
    "as `leaf_spine` or `fat_tree`";
constexpr std::string_view kFlowSet =
    "write its messages as a flow set, lines of 'id src dst bytes after [start]' (docs/study.md)";
constexpr std::string_view kUnpack = "unpack it and give what is in it";

constexpr std::array<FormatInfo, 32> kInfos = {{
    {Format::ChakraTrace,
     "a Chakra trace (protobuf)",
     "give what precedes .<rank>.et as workload.trace or --workload-configuration"},
    {Format::ChakraJson,
     "a Chakra trace in JSON",
     "give what precedes .<rank>.json as workload.trace or --workload-configuration"},
    {Format::MscclAlgorithm,
     "an MSCCL algorithm (XML)",
     "name it as the algorithm of a collective: system.collectives.<kind>: {file: FILE}, or "
     "--algorithm=FILE of astra collective (docs/collectives.md)"},
    {Format::Study, "a study of astra", "run it: astra run FILE (docs/study.md)"},
    {Format::AstraSimNetwork,
     "ASTRA-sim's network configuration",
     "give it as --network-configuration, beside --workload-configuration and "
     "--system-configuration"},
    {Format::AstraSimSystem,
     "ASTRA-sim's system configuration",
     "give it as --system-configuration, beside --workload-configuration and "
     "--network-configuration"},
    {Format::AstraSimMemory,
     "ASTRA-sim's memory configuration",
     "give it as --remote-memory-configuration"},
    {Format::KinetoTrace, "a Kineto (Chrome) trace, as PyTorch's profiler writes it", kLink},
    {Format::PytorchHostTrace, "a host trace of PyTorch's ExecutionTraceObserver", kLink},
    {Format::PytorchLinkedTrace,
     "a host and device trace of PyTorch, as chakra_trace_link writes it",
     "make it Chakra: chakra_converter PyTorch --input FILE --output PREFIX.<rank>.et"},
    {Format::TextWorkload,
     "a text workload of ASTRA-sim 1.0",
     "make it Chakra: chakra_converter Text --input FILE --output PREFIX --num-npus N "
     "--num-passes P"},
    {Format::SimaiWorkload,
     "a text workload of SimAI (AICB)",
     "describe the model to `astra generate training` instead, which writes Chakra traces"},
    {Format::LogicalTopology,
     "a logical topology of ASTRA-sim's ns-3 and htsim builds",
     "the dimensions are those of the network here: network.dimensions of a study, or the lists "
     "of --network-configuration"},
    {Format::AstraSim1Network,
     "a network of ASTRA-sim 1.0 (JSON)",
     "write it as ASTRA-sim 2 does, a YAML of lists topology, npus_count, bandwidth and latency, "
     "or as network.dimensions of a study (docs/topologies.md)"},
    {Format::Ns3Topology, "a physical topology of ns-3", kGraphFile},
    {Format::Ns3Flows, "a flow file of ns-3", kFlowSet},
    {Format::Ns3Configuration,
     "a configuration of ns-3",
     "describe the network that its TOPOLOGY_FILE holds (docs/topologies.md), and the congestion "
     "control by network.packet (docs/packet.md)"},
    {Format::HtsimTopology, "a topology of htsim", kGraphFile},
    {Format::HtsimConnections, "a connection matrix of htsim", kFlowSet},
    {Format::GoalSchedule,
     "a GOAL schedule of LogGOPSim",
     "write its sends and receives as Chakra traces (docs/formats.md), or its messages as a flow "
     "set (docs/study.md)"},
    {Format::InfraGraph,
     "an InfraGraph (ASTRA-sim 3.0)",
     "write it as network.dimensions of a study, or its edges as a graph file of the topology "
     "`custom` (docs/topologies.md)"},
    {Format::MscclppPlan,
     "an execution plan of MSCCL++ (JSON)",
     "write the collective as an MSCCL algorithm (XML; docs/collectives.md)"},
    {Format::NcclTopology,
     "a topology of NCCL (XML)",
     "machines are described by network.dimensions (docs/machines.md)"},
    {Format::OtherXml,
     "XML, but no MSCCL algorithm",
     "MSCCL's begins with <algo> (docs/formats.md)"},
    {Format::SqliteDatabase,
     "a SQLite database, as Nsight Systems exports it",
     "record the run with PyTorch's profiler and ExecutionTraceObserver, which Chakra's tools "
     "read (docs/formats.md)"},
    {Format::TarArchive, "a tar archive", kUnpack},
    {Format::ZipArchive, "a zip archive", kUnpack},
    {Format::CompressedData, "compressed data", kUnpack},
    {Format::LfsPointer,
     "a pointer of Git LFS in place of the file",
     "fetch the file: git lfs pull"},
    {Format::WebPage, "a web page (HTML)", "fetch the file itself: on GitHub, the raw one"},
    {Format::PdfDocument, "a PDF document", "docs/formats.md has what is read"},
    {Format::ExecutableFile, "a program (ELF)", "docs/formats.md has what is read"},
}};

std::string_view wanted(Purpose purpose) {
    switch (purpose) {
        case Purpose::Trace:
            return "a Chakra trace";
        case Purpose::CustomCollective:
            return "a collective in MSCCL's or Chakra's files";
        case Purpose::Flows:
            return "a flow set";
        case Purpose::Study:
            return "a study";
        case Purpose::Network:
            return "a network in ASTRA-sim's YAML";
        case Purpose::System:
            return "a system in ASTRA-sim's JSON";
        case Purpose::Memory:
            return "a memory in ASTRA-sim's JSON";
        case Purpose::Settings:
            break;
    }
    return "a map of keys in YAML or JSON";
}

std::string_view without_blanks(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlanks);
    return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// The lines of the head that hold something, each as its words; not one that may be cut off.
std::vector<std::vector<std::string_view>> lines_of(std::string_view text) {
    std::vector<std::vector<std::string_view>> lines;
    const bool cut = text.size() >= kFormatHead;
    while (!text.empty() && lines.size() < kMostLines) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos && cut) {
            break;
        }
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        std::vector<std::string_view> words;
        for (line = without_blanks(line); !line.empty(); line = without_blanks(line)) {
            words.push_back(line.substr(0, line.find_first_of(kBlanks)));
            line.remove_prefix(words.back().size());
        }
        if (!words.empty() && !words.front().starts_with('#')) {
            lines.push_back(std::move(words));
        }
    }
    return lines;
}

bool is_whole(std::string_view word) {
    return !word.empty() &&
           std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// "400Gbps", "0.001ms": a number and a unit that ends with `unit`.
bool is_quantity(std::string_view word, std::string_view unit) {
    return word.size() > unit.size() && word.ends_with(unit) && word.front() >= '0' &&
           word.front() <= '9';
}

using Lines = std::vector<std::vector<std::string_view>>;

// "nodes switches links" or more numbers, the switches, and links "from to 400Gbps 0.001ms 0".
bool is_ns3_topology(const Lines& lines) {
    if (lines.empty() || lines.front().size() < 3 || !is_whole(lines.front()[0]) ||
        !is_whole(lines.front()[1])) {
        return false;
    }
    return std::any_of(lines.begin() + 1, lines.end(), [](const auto& words) {
        return words.size() >= 4 && is_whole(words[0]) && is_whole(words[1]) &&
               is_quantity(words[2], "bps") && is_quantity(words[3], "s");
    });
}

// A number of flows, then lines "src dst priority port bytes start".
bool is_ns3_flows(const Lines& lines) {
    return lines.size() >= 2 && lines[0].size() == 1 && is_whole(lines[0][0]) &&
           lines[1].size() >= 5 && std::all_of(lines[1].begin(), lines[1].begin() + 4, is_whole);
}

// Lines "KEY value" with the keys of ASTRA-sim's and HPCC's ns-3.
bool is_ns3_configuration(const Lines& lines) {
    const auto has = [&](std::string_view key) {
        return std::any_of(lines.begin(), lines.end(), [&](const auto& words) {
            return words.size() >= 2 && words[0] == key;
        });
    };
    return has("TOPOLOGY_FILE") || has("ENABLE_QCN") ||
           (has("CC_MODE") && has("PACKET_PAYLOAD_SIZE"));
}

// A line that is "word number".
bool has_count(const Lines& lines, std::string_view word) {
    return std::any_of(lines.begin(), lines.end(), [&](const auto& words) {
        return words.size() == 2 && words[0] == word && is_whole(words[1]);
    });
}

Format workload_of(const Lines& lines) {
    constexpr std::array<std::string_view, 13> parallelisms = {"MICRO",
                                                               "DATA",
                                                               "MODEL",
                                                               "HYBRID",
                                                               "HYBRID_DATA_MODEL",
                                                               "HYBRID_MODEL_DATA",
                                                               "HYBRID_DLRM",
                                                               "HYBRID_DLRM_ENHANCED",
                                                               "HYBRID_TRANSFORMER",
                                                               "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                                               "HYBRID_CUSTOMIZED",
                                                               "TRANSFORMER",
                                                               "DLRM"};
    if (lines.empty() ||
        std::find(parallelisms.begin(), parallelisms.end(), lines[0][0]) == parallelisms.end() ||
        (lines.size() > 1 && !(lines[1].size() == 1 && is_whole(lines[1][0])))) {
        return Format::Unknown;
    }
    const bool simai = std::any_of(lines[0].begin(), lines[0].end(), [](std::string_view word) {
        return word == "ep:" || word == "pp:" || word == "all_gpus:";
    });
    return simai ? Format::SimaiWorkload : Format::TextWorkload;
}

Format plain_text_format(std::string_view text) {
    const Lines lines = lines_of(text);
    if (lines.empty()) {
        return Format::Unknown;
    }
    if (const Format workload = workload_of(lines); workload != Format::Unknown) {
        return workload;
    }
    if (is_ns3_topology(lines)) {
        return Format::Ns3Topology;
    }
    if (is_ns3_configuration(lines)) {
        return Format::Ns3Configuration;
    }
    if (is_ns3_flows(lines)) {
        return Format::Ns3Flows;
    }
    if (has_count(lines, "Nodes") && has_count(lines, "Connections")) {
        return Format::HtsimConnections;
    }
    if (has_count(lines, "Nodes") && (has_count(lines, "Tiers") || has_count(lines, "Tier"))) {
        return Format::HtsimTopology;
    }
    const bool goal = has_count(lines, "num_ranks") &&
                      std::any_of(lines.begin(), lines.end(), [](const auto& words) {
                          return words.size() >= 3 && words[0] == "rank" && words[2] == "{";
                      });
    return goal ? Format::GoalSchedule : Format::Unknown;
}

bool has_type(const KeyOutline& outline) {
    return std::any_of(outline.item_keys.begin(), outline.item_keys.end(), [](const auto& key) {
        return key == "type" || key == "Type" || key == "NodeType" || key == "nodeType" ||
               key == "node_type";
    });
}

Format trace_of(const KeyOutline& outline) {
    const auto& has = [&](std::string_view key) { return outline.has(key); };
    const auto& item = [&](std::string_view key) { return outline.has_item(key); };
    if (has("traceEvents") || (outline.is_list && item("ph") && item("name"))) {
        return Format::KinetoTrace;
    }
    if (has("nodes") && has("schema") && !has_type(outline)) {
        return item("inclusive_dur") || item("exclusive_dur") ? Format::PytorchLinkedTrace
                                                              : Format::PytorchHostTrace;
    }
    const bool typed_items = (has("nodes") || has("node") || outline.is_list) && has_type(outline);
    // A document a line, as protobuf's JSON.
    const bool documents = has("id") && has("type") && (has("attr") || has("name"));
    return has("workload_graph") || typed_items || documents ? Format::ChakraJson : Format::Unknown;
}

Format settings_of(const KeyOutline& outline) {
    const auto& has = [&](std::string_view key) { return outline.has(key); };
    if (has("gpus") && has("name") &&
        (outline.has_item("threadblocks") || outline.has_item("inputChunks") ||
         outline.has_item("input_chunks"))) {
        return Format::MscclppPlan;
    }
    if (has("logical-dims")) {
        return Format::LogicalTopology;
    }
    if (has("topologies-per-dim") || (has("dimensions-count") && has("links-count"))) {
        return Format::AstraSim1Network;
    }
    if (has("npus_count") && has("topology")) {
        return Format::AstraSimNetwork;
    }
    if (has("all-reduce-implementation") || has("scheduling-policy")) {
        return Format::AstraSimSystem;
    }
    if (has("memory-type")) {
        return Format::AstraSimMemory;
    }
    if (has("instances") && (has("devices") || has("edges"))) {
        return Format::InfraGraph;
    }
    const bool runs = has("workload") || has("jobs") || has("system") || has("sweep");
    return has("network") && runs ? Format::Study : Format::Unknown;
}

Format markup_of(std::string_view text) {
    std::array<char, 16> start{};
    const std::size_t size = std::min(text.size(), start.size());
    std::transform(
        text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), start.begin(), [](char c) {
            return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        });
    const std::string_view lower(start.data(), size);
    if (lower.starts_with("<!doctype html") || lower.starts_with("<html")) {
        return Format::WebPage;
    }
    // Behind <?xml …?> and comments.
    while (text.starts_with("<?") || text.starts_with("<!--")) {
        const std::string_view close = text.starts_with("<?") ? "?>" : "-->";
        const std::size_t end = text.find(close);
        if (end == std::string_view::npos) {
            return Format::Unknown;
        }
        text = without_blanks(text.substr(end + close.size()));
    }
    if (text.starts_with("<algo")) {
        return Format::MscclAlgorithm;
    }
    if (text.starts_with("<system") || text.starts_with("<graphs")) {
        return Format::NcclTopology;
    }
    return text.starts_with('<') ? Format::OtherXml : Format::Unknown;
}

Format binary_format(std::string_view head) {
    struct Magic {
        std::string_view bytes;
        Format format;
    };
    constexpr std::array<Magic, 7> magics = {{
        {"SQLite format 3", Format::SqliteDatabase},
        {"PK\x03\x04", Format::ZipArchive},
        {"\x1f\x8b", Format::CompressedData},
        {"\x28\xb5\x2f\xfd", Format::CompressedData},
        {"\xfd"
         "7zXZ",
         Format::CompressedData},
        {"%PDF-", Format::PdfDocument},
        {"\x7f"
         "ELF",
         Format::ExecutableFile},
    }};
    for (const Magic& magic : magics) {
        if (head.starts_with(magic.bytes)) {
            return magic.format;
        }
    }
    return head.size() > kTarMagicAt && head.substr(kTarMagicAt).starts_with("ustar")
               ? Format::TarArchive
               : Format::Unknown;
}

// A first record of GlobalMetadata or Node, among bytes that no text has.
bool looks_like_protobuf_trace(std::string_view head) {
    std::size_t i = 0;
    std::uint64_t size = 0;
    for (bool more = true; more && i < head.size() && i < 4; ++i) {
        const auto byte = static_cast<std::uint8_t>(head[i]);
        size |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
        more = (byte & 0x80U) != 0;
    }
    if (size == 0 || i >= head.size()) {
        return false;
    }
    // Field 1 or 2 as text, field 1 or 3 as a number.
    constexpr std::string_view tags = "\x0a\x12\x08\x18";
    const std::string_view start = head.substr(0, 64);
    const bool binary = std::any_of(start.begin(), start.end(), [](char c) {
        return static_cast<std::uint8_t>(c) < 0x20 && kBlanks.find(c) == std::string_view::npos;
    });
    return binary && tags.find(head[i]) != std::string_view::npos;
}

bool is_text(std::string_view head) {
    return std::none_of(head.begin(), head.end(), [](char c) {
        return static_cast<std::uint8_t>(c) < 0x20 && kBlanks.find(c) == std::string_view::npos;
    });
}

}  // namespace

std::span<const FormatInfo> format_infos() {
    return kInfos;
}

const FormatInfo& format_info(FileFormat format) {
    return *std::find_if(kInfos.begin(), kInfos.end(), [&](const FormatInfo& info) {
        return info.format == format;
    });
}

FileFormat format_of(std::string_view head) {
    head = head.substr(0, kFormatHead);
    if (const Format binary = binary_format(head); binary != Format::Unknown) {
        return binary;
    }
    if (head.starts_with(kByteOrderMark)) {
        head.remove_prefix(kByteOrderMark.size());
    }
    if (!is_text(head.substr(0, 256))) {
        return looks_like_protobuf_trace(head) ? Format::ChakraTrace : Format::Unknown;
    }
    const std::string_view text = without_blanks(head);
    if (text.starts_with("version https://git-lfs")) {
        return Format::LfsPointer;
    }
    if (text.starts_with('<')) {
        return markup_of(text);
    }
    const KeyOutline outline = key_outline(text);
    if (outline.is_json) {
        const Format trace = trace_of(outline);
        return trace != Format::Unknown ? trace : settings_of(outline);
    }
    if (const Format plain = plain_text_format(text); plain != Format::Unknown) {
        return plain;
    }
    return settings_of(outline);
}

bool is_read_as(FileFormat format, FilePurpose purpose) {
    if (format == Format::Unknown) {
        return true;
    }
    switch (purpose) {
        case Purpose::Trace:
            return format == Format::ChakraTrace || format == Format::ChakraJson;
        case Purpose::CustomCollective:
            // Of other XML its reader says more.
            return format == Format::ChakraTrace || format == Format::MscclAlgorithm ||
                   format == Format::OtherXml;
        case Purpose::Flows:
            return false;
        case Purpose::Study:
            return format == Format::Study;
        case Purpose::Network:
            return format == Format::AstraSimNetwork;
        case Purpose::System:
            return format == Format::AstraSimSystem;
        case Purpose::Memory:
            return format == Format::AstraSimMemory;
        case Purpose::Settings:
            break;
    }
    return false;
}

std::string format_refusal(std::string_view head, FilePurpose purpose) {
    const Format format = format_of(head);
    if (is_read_as(format, purpose)) {
        return "";
    }
    const FormatInfo& info = format_info(format);
    return std::string("this is ")
        .append(info.what)
        .append(", not ")
        .append(wanted(purpose))
        .append("; ")
        .append(info.way_on);
}

std::string format_refusal_of_file(const std::string& file, FilePurpose purpose) {
    const auto close = [](std::FILE* stream) { std::fclose(stream); };
    const std::unique_ptr<std::FILE, decltype(close)> stream(std::fopen(file.c_str(), "rb"), close);
    if (!stream) {
        return "";
    }
    std::string head(kFormatHead, '\0');
    head.resize(std::fread(head.data(), 1, head.size(), stream.get()));
    return format_refusal(head, purpose);
}

}  // namespace astra
