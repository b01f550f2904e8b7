// The folder that results go to. Files appear whole or not at all: they are written under another
// name and renamed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace astra {

class OutputFolder {
  public:
    // Creates the folder and makes sure that files can be written there. Throws ConfigError with
    // the path.
    explicit OutputFolder(std::string path);

    // Throws ConfigError when the disk refuses.
    void write(const std::string& name, std::string_view content);

    // Removes a file that an earlier run has left, if there is one.
    void remove(const std::string& name);

    const std::string& path() const { return path_; }
    const std::vector<std::string>& written() const { return written_; }

  private:
    std::string path_;
    std::vector<std::string> written_;
};

}  // namespace astra
