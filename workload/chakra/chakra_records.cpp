#include "workload/chakra/chakra_records.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "astra/core/error.h"

namespace astra {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr std::uint64_t kMostRecord = std::uint64_t{64} << 20U;
constexpr std::size_t kMostVarint = 10;

// Whether a first record is a Node: it has field 1 as a number or a field above 2.
bool looks_like_node(std::string_view record) {
    CodedInputStream input(reinterpret_cast<const std::uint8_t*>(record.data()),
                           static_cast<int>(record.size()));
    while (const std::uint32_t tag = input.ReadTag()) {
        const int field = WireFormatLite::GetTagFieldNumber(tag);
        const auto type = WireFormatLite::GetTagWireType(tag);
        if (field > 2 || (field == 1 && type == WireFormatLite::WIRETYPE_VARINT)) {
            return true;
        }
        if (!WireFormatLite::SkipField(&input, tag)) {
            break;
        }
    }
    return false;
}

}  // namespace

void ChakraRecords::fail(const std::string& what) const {
    throw TraceError(source_.file() + ": record " + std::to_string(number_) + " at byte " +
                     std::to_string(start_) + ": " + what);
}

bool ChakraRecords::is_metadata() const {
    return number_ == 1 && !looks_like_node(record());
}

bool ChakraRecords::next() {
    source_.consume(size_);
    size_ = 0;
    if (!source_.ensure(1)) {
        if (number_ == 0) {
            throw TraceError(source_.file() + ": the file is empty");
        }
        return false;
    }
    ++number_;
    start_ = source_.offset();
    source_.ensure(kMostVarint);
    const std::string_view head = source_.window();
    std::uint64_t size = 0;
    std::size_t i = 0;
    bool more = true;
    for (; more && i < head.size() && i < kMostVarint; ++i) {
        const auto byte = static_cast<std::uint8_t>(head[i]);
        size |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
        more = (byte & 0x80U) != 0;
    }
    if (more) {
        fail(i < kMostVarint ? "the file ends within the record's length"
                             : "no record's length; not a Chakra trace or a damaged one");
    }
    if (size > kMostRecord) {
        fail("claims " + std::to_string(size) +
             " bytes, at most 64 MiB are allowed; not a Chakra trace or a damaged one");
    }
    source_.consume(i);
    size_ = static_cast<std::size_t>(size);
    if (!source_.ensure(size_)) {
        fail("claims " + std::to_string(size) + " bytes, but the file ends after " +
             std::to_string(source_.window().size()));
    }
    return true;
}

void write_chakra_file(const std::string& file, const std::string& bytes) {
    std::error_code unknown;
    if (std::filesystem::exists(file, unknown) &&
        !std::filesystem::is_regular_file(file, unknown)) {
        throw TraceError(file + ": cannot be written: it is not a regular file");
    }
    const std::string temporary = file + ".part";
    std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out || std::rename(temporary.c_str(), file.c_str()) != 0) {
        const int reason = errno;
        std::remove(temporary.c_str());
        throw TraceError(file + ": cannot be written: " + std::strerror(reason));
    }
}

void append_chakra_record(std::string_view message, std::string& bytes) {
    std::uint64_t size = message.size();
    while (size >= 0x80U) {
        bytes += static_cast<char>(static_cast<std::uint8_t>(size | 0x80U));
        size >>= 7U;
    }
    bytes += static_cast<char>(size);
    bytes += message;
}

}  // namespace astra
