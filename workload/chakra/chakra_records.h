// The records of a Chakra protobuf file: a varint length, then a message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "workload/chakra/byte_source.h"

namespace astra {

class ChakraRecords {
  public:
    explicit ChakraRecords(ByteSource& source) : source_(source) {}

    // Goes to the next record; false at the end of the file. Throws TraceError on a damaged or
    // empty file.
    bool next();
    // Valid until the next call of next().
    std::string_view record() const { return source_.window().substr(0, size_); }
    // The number of the record, from 1.
    std::uint64_t number() const { return number_; }
    // Whether the record is GlobalMetadata: a first record without the fields of a Node.
    bool is_metadata() const;
    // Throws TraceError "file: record n at byte b: what".
    [[noreturn]] void fail(const std::string& what) const;

  private:
    ByteSource& source_;
    std::uint64_t number_ = 0;
    std::uint64_t start_ = 0;
    std::size_t size_ = 0;
};

// Writes a file under another name and renames it. Throws TraceError.
void write_chakra_file(const std::string& file, const std::string& bytes);

// Appends a record with that message.
void append_chakra_record(std::string_view message, std::string& bytes);

}  // namespace astra
