#include "astra/results/timeline/streamed_file.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "astra/core/error.h"

namespace astra {

StreamedFile::StreamedFile(std::string path) : path_(std::move(path)), buffer_(kRoom) {
    std::error_code unknown;
    const std::filesystem::path target(path_);
    if (path_.empty() || std::filesystem::is_directory(target, unknown)) {
        throw ConfigError(fmt::format("output: cannot write to '{}': it is a folder", path_));
    }
    const bool replaces = !std::filesystem::exists(target, unknown) ||
                          std::filesystem::is_regular_file(target, unknown);
    written_to_ = path_;
    if (replaces) {
        const std::string name = fmt::format(".{}.{}", target.filename().string(), getpid());
        written_to_ = (target.parent_path() / name).string();
    }
    file_.reset(std::fopen(written_to_.c_str(), "wb"));
    if (file_ == nullptr) {
        refuse();
    }
    std::setvbuf(file_.get(), nullptr, _IONBF, 0);  // it has a buffer already
}

StreamedFile::~StreamedFile() {
    if (file_ != nullptr && written_to_ != path_) {
        std::error_code ignored;
        std::filesystem::remove(written_to_, ignored);
    }
}

void StreamedFile::refuse() const {
    throw ConfigError(fmt::format("output: cannot write to '{}': {}", path_, std::strerror(errno)));
}

void StreamedFile::flush() {
    if (std::fwrite(buffer_.data(), 1, filled_, file_.get()) != filled_) {
        refuse();
    }
    filled_ = 0;
}

void StreamedFile::write(std::string_view text) {
    while (!text.empty()) {
        const std::string_view part = text.substr(0, kRoom);
        std::memcpy(room(part.size()), part.data(), part.size());
        used(part.size());
        text.remove_prefix(part.size());
    }
}

void StreamedFile::close() {
    flush();
    if (std::fclose(file_.release()) != 0) {
        refuse();
    }
    if (written_to_ == path_) {
        return;
    }
    std::error_code error;
    std::filesystem::rename(written_to_, path_, error);
    if (error) {
        std::error_code ignored;
        std::filesystem::remove(written_to_, ignored);
        throw ConfigError(fmt::format("output: cannot write to '{}': {}", path_, error.message()));
    }
}

}  // namespace astra
