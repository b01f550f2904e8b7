// What a file is, by its content: the formats that people hand over by mistake, each with the way
// on. Whoever reads a file asks here first, so that an error names what the file is, not what it
// lacks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace astra {

enum class FileFormat : std::uint8_t {
    Unknown,
    // What astra reads, each in its place.
    ChakraTrace,  // protobuf
    ChakraJson,
    MscclAlgorithm,
    Study,
    AstraSimNetwork,
    AstraSimSystem,
    AstraSimMemory,
    // What others write.
    KinetoTrace,
    PytorchHostTrace,
    PytorchLinkedTrace,
    TextWorkload,
    SimaiWorkload,
    LogicalTopology,
    AstraSim1Network,
    Ns3Topology,
    Ns3Flows,
    Ns3Configuration,
    HtsimTopology,
    HtsimConnections,
    GoalSchedule,
    InfraGraph,
    MscclppPlan,
    NcclTopology,
    OtherXml,
    SqliteDatabase,
    TarArchive,
    ZipArchive,
    CompressedData,
    LfsPointer,
    WebPage,
    PdfDocument,
    ExecutableFile,
};

// What a place wants, for the message.
enum class FilePurpose : std::uint8_t {
    Trace,             // of a rank
    CustomCollective,  // MSCCL or Chakra
    Flows,
    Study,
    Network,  // ASTRA-sim's
    System,
    Memory,
    Settings,  // any other map of keys
};

struct FormatInfo {
    FileFormat format;
    std::string_view what;    // "a Kineto (Chrome) trace …"
    std::string_view way_on;  // what to do with it; never empty
};

// How much of a file's start is enough to know it.
inline constexpr std::size_t kFormatHead = std::size_t{1} << 16U;

// `head`: the first bytes of the file, decompressed, at least min(its size, kFormatHead). Cost:
// O(head), whatever it holds.
FileFormat format_of(std::string_view head);

// Of every format but Unknown.
std::span<const FormatInfo> format_infos();
const FormatInfo& format_info(FileFormat format);

// Whether a file of that format may be read there.
bool is_read_as(FileFormat format, FilePurpose purpose);

// "" where the file may be what is wanted; else "this is …, not …: the way on".
std::string format_refusal(std::string_view head, FilePurpose purpose);

// The same of a file by name, decompression left out: "" where it cannot be read, too.
std::string format_refusal_of_file(const std::string& file, FilePurpose purpose);

}  // namespace astra
