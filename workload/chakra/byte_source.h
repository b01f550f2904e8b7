// A file as a stream of bytes, decompressed on the way: gzip and zstd are known by their first
// bytes, whatever the file is called.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "astra/core/formats/file_format.h"
#include "workload/graph/content_hash.h"

namespace astra {

class ByteSource {
  public:
    // Throws TraceError "file: why" when the file cannot be opened or is not a regular one; all
    // readers below throw TraceError when it cannot be read or its compressed data is damaged.
    explicit ByteSource(const std::string& file);
    ~ByteSource();
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;

    // Reads until the window holds `size` bytes; false if the data ends before. The memory grows
    // with the data that is there, not with `size`.
    bool ensure(std::size_t size);
    // The bytes read but not consumed; valid until the next ensure().
    std::string_view window() const;
    void consume(std::size_t size);

    // The position of the first byte of the window in the decompressed data.
    std::uint64_t offset() const { return offset_; }
    const std::string& file() const { return file_; }

    // The hash of the file as stored; reads what is left of it.
    ContentHash stored_hash();

  private:
    class Decoder;

    std::string file_;
    std::unique_ptr<Decoder> decoder_;
    std::string buffer_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::uint64_t offset_ = 0;
};

// Throws TraceError that names the file's format where that is known and not what `purpose` wants.
void refuse_other_formats(ByteSource& source, FilePurpose purpose);

}  // namespace astra
