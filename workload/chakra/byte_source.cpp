#include "workload/chakra/byte_source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "astra/core/error.h"

namespace astra {
namespace {

constexpr std::size_t kStoredBlock = std::size_t{1} << 16U;
constexpr std::size_t kFirstWindow = std::size_t{1} << 16U;
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr int kGzipWindowBits = 15 + 16;  // zlib: 16 added means a gzip header

}  // namespace

class ByteSource::Decoder {
  public:
    explicit Decoder(const std::string& file);
    ~Decoder();
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;

    // Writes up to `size` > 0 decoded bytes; 0 only at the end of the data.
    std::size_t decode(char* out, std::size_t size);
    ContentHash stored_hash();

  private:
    enum class Format { Plain, Gzip, Zstd };

    [[noreturn]] void fail(const std::string& what) const { throw TraceError(file_ + ": " + what); }
    void open();
    bool refill();
    std::string_view rest() const { return {block_.data() + begin_, end_ - begin_}; }
    std::size_t decode_plain(char* out, std::size_t size);
    std::size_t decode_gzip(char* out, std::size_t size);
    std::size_t decode_zstd(char* out, std::size_t size);

    std::string file_;
    int descriptor_ = -1;
    Format format_ = Format::Plain;
    std::vector<char> block_ = std::vector<char>(kStoredBlock);
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    bool between_frames_ = true;
    ContentHash hash_;
    z_stream gzip_{};
    ZSTD_DStream* zstd_ = nullptr;
};

ByteSource::Decoder::Decoder(const std::string& file) : file_(file) {
    open();
    try {
        refill();
        if (rest().starts_with(kGzipMagic)) {
            if (inflateInit2(&gzip_, kGzipWindowBits) != Z_OK) {
                fail("not enough memory to read gzip data");
            }
            format_ = Format::Gzip;
        } else if (rest().starts_with(kZstdMagic)) {
            zstd_ = ZSTD_createDStream();
            if (zstd_ == nullptr) {
                fail("not enough memory to read zstd data");
            }
            format_ = Format::Zstd;
        }
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

ByteSource::Decoder::~Decoder() {
    if (format_ == Format::Gzip) {
        inflateEnd(&gzip_);
    }
    ZSTD_freeDStream(zstd_);
    ::close(descriptor_);
}

// To open a pipe would wait for its writer, and to open a device may do anything.
void ByteSource::Decoder::open() {
    struct stat status {};
    if (::stat(file_.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        fail(S_ISDIR(status.st_mode) ? "is a directory; a file is expected"
                                     : "is not a regular file");
    }
    do {
        descriptor_ = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC);
    } while (descriptor_ < 0 && errno == EINTR);
    if (descriptor_ < 0) {
        fail(std::string("cannot be opened: ") + std::strerror(errno));
    }
}

// Fills the whole block unless the file ends, so that the hash sees the same cuts in equal files.
bool ByteSource::Decoder::refill() {
    begin_ = 0;
    end_ = 0;
    while (end_ < block_.size()) {
        const ssize_t count = ::read(descriptor_, block_.data() + end_, block_.size() - end_);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            fail(std::string("cannot be read: ") + std::strerror(errno));
        }
        if (count == 0) {
            break;
        }
        end_ += static_cast<std::size_t>(count);
    }
    if (end_ > 0) {
        hash_.add(block_.data(), end_);
    }
    return end_ > 0;
}

std::size_t ByteSource::Decoder::decode(char* out, std::size_t size) {
    switch (format_) {
        case Format::Gzip:
            return decode_gzip(out, size);
        case Format::Zstd:
            return decode_zstd(out, size);
        case Format::Plain:
            break;
    }
    return decode_plain(out, size);
}

std::size_t ByteSource::Decoder::decode_plain(char* out, std::size_t size) {
    if (begin_ == end_ && !refill()) {
        return 0;
    }
    const std::size_t count = std::min(size, end_ - begin_);
    std::memcpy(out, block_.data() + begin_, count);
    begin_ += count;
    return count;
}

std::size_t ByteSource::Decoder::decode_gzip(char* out, std::size_t size) {
    gzip_.next_out = reinterpret_cast<Bytef*>(out);
    gzip_.avail_out = static_cast<uInt>(std::min<std::size_t>(size, kStoredBlock));
    const uInt wanted = gzip_.avail_out;
    while (gzip_.avail_out == wanted) {
        if (begin_ == end_ && !refill()) {
            if (!between_frames_) {
                fail("truncated gzip data");
            }
            return 0;
        }
        between_frames_ = false;
        gzip_.next_in = reinterpret_cast<Bytef*>(block_.data() + begin_);
        gzip_.avail_in = static_cast<uInt>(end_ - begin_);
        const int status = inflate(&gzip_, Z_NO_FLUSH);
        begin_ = end_ - gzip_.avail_in;
        if (status == Z_STREAM_END) {
            between_frames_ = true;
            inflateReset(&gzip_);
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            fail(std::string("damaged gzip data") +
                 (gzip_.msg == nullptr ? "" : std::string(" (") + gzip_.msg + ")"));
        }
    }
    return wanted - gzip_.avail_out;
}

std::size_t ByteSource::Decoder::decode_zstd(char* out, std::size_t size) {
    ZSTD_outBuffer output{out, size, 0};
    while (output.pos == 0) {
        const bool ended = begin_ == end_ && !refill();
        if (ended && between_frames_) {
            return 0;
        }
        ZSTD_inBuffer input{block_.data() + begin_, end_ - begin_, 0};
        const std::size_t status = ZSTD_decompressStream(zstd_, &output, &input);
        begin_ += input.pos;
        if (ZSTD_isError(status) != 0U) {
            fail(std::string("damaged zstd data (") + ZSTD_getErrorName(status) + ")");
        }
        between_frames_ = status == 0;
        if (ended && output.pos == 0 && !between_frames_) {
            fail("truncated zstd data");
        }
    }
    return output.pos;
}

ContentHash ByteSource::Decoder::stored_hash() {
    while (refill()) {
    }
    return hash_;
}

ByteSource::ByteSource(const std::string& file)
    : file_(file), decoder_(std::make_unique<Decoder>(file)) {}

ByteSource::~ByteSource() = default;

bool ByteSource::ensure(std::size_t size) {
    while (end_ - begin_ < size) {
        if (begin_ > 0 && (begin_ == end_ || end_ == buffer_.size())) {
            std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
        }
        if (end_ == buffer_.size()) {
            buffer_.resize(std::max(kFirstWindow, buffer_.size() * 2));
        }
        const std::size_t count = decoder_->decode(buffer_.data() + end_, buffer_.size() - end_);
        if (count == 0) {
            return false;
        }
        end_ += count;
    }
    return true;
}

std::string_view ByteSource::window() const {
    return {buffer_.data() + begin_, end_ - begin_};
}

void ByteSource::consume(std::size_t size) {
    begin_ += size;
    offset_ += size;
}

ContentHash ByteSource::stored_hash() {
    return decoder_->stored_hash();
}

void refuse_other_formats(ByteSource& source, FilePurpose purpose) {
    source.ensure(kFormatHead);
    const std::string refusal = format_refusal(source.window().substr(0, kFormatHead), purpose);
    if (!refusal.empty()) {
        throw TraceError(source.file() + ": " + refusal);
    }
}

}  // namespace astra
