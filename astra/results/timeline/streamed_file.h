// A file that is written piece by piece and appears whole or not at all.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace astra {

// Writes under another name in the same folder; close() renames. What is not closed is removed.
// A device or a pipe is written to as it is. Throws ConfigError when the disk refuses.
class StreamedFile {
  public:
    explicit StreamedFile(std::string path);
    ~StreamedFile();
    StreamedFile(const StreamedFile&) = delete;
    StreamedFile& operator=(const StreamedFile&) = delete;

    // Memory for up to `most` bytes, of which used() says how many there are. most <= kRoom.
    char* room(std::size_t most) {
        if (buffer_.size() - filled_ < most) {
            flush();
        }
        return buffer_.data() + filled_;
    }
    void used(std::size_t bytes) { filled_ += bytes; }
    void write(std::string_view text);
    void close();

    static constexpr std::size_t kRoom = std::size_t{1} << 20;

  private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void flush();
    [[noreturn]] void refuse() const;

    std::string path_;
    std::string written_to_;  // path_ itself where there is nothing to rename
    std::unique_ptr<std::FILE, Closer> file_;
    std::vector<char> buffer_;
    std::size_t filled_ = 0;
};

}  // namespace astra
