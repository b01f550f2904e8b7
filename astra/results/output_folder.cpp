#include "astra/results/output_folder.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

#include "astra/core/error.h"

namespace astra {

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& reason) {
    throw ConfigError(fmt::format("output: cannot write to '{}': {}", path, reason));
}

}  // namespace

OutputFolder::OutputFolder(std::string path) : path_(std::move(path)) {
    std::error_code error;
    std::filesystem::create_directories(path_, error);
    if (error) {
        refuse(path_, error.message());
    }
    const std::string probe = fmt::format("{}/.astra-{}", path_, getpid());
    std::ofstream file(probe);
    if (!file) {
        refuse(path_, std::strerror(errno));
    }
    file.close();
    std::filesystem::remove(probe, error);
}

void OutputFolder::write(const std::string& name, std::string_view content) {
    const std::string target = path_ + "/" + name;
    std::error_code unknown;
    if (std::filesystem::is_directory(target, unknown)) {
        refuse(target, "it is a folder");
    }
    // A device or a pipe is written to; only a file may be replaced.
    const bool replace = !std::filesystem::exists(target, unknown) ||
                         std::filesystem::is_regular_file(target, unknown);
    const std::string temporary =
        replace ? fmt::format("{}/.{}.{}", path_, name, getpid()) : target;
    {
        std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
        file.write(content.data(), static_cast<std::streamsize>(content.size()));
        file.flush();
        if (!file) {
            const std::string reason = std::strerror(errno);
            std::error_code ignored;
            if (replace) {
                std::filesystem::remove(temporary, ignored);
            }
            refuse(target, reason);
        }
    }
    std::error_code error;
    if (replace) {
        std::filesystem::rename(temporary, target, error);
    }
    if (error) {
        refuse(target, error.message());
    }
    written_.push_back(name);
}

void OutputFolder::remove(const std::string& name) {
    std::error_code error;
    std::filesystem::remove(path_ + "/" + name, error);
    if (error) {
        refuse(path_ + "/" + name, error.message());
    }
}

}  // namespace astra
