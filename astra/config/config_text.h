// From a file to text that the YAML parser can be trusted with.
#pragma once

#include <string>
#include <string_view>

#include "astra/core/formats/file_format.h"

namespace astra {

// Throws ConfigError if the file cannot be read, is too large or not a regular one, or of another
// format than `purpose` wants.
std::string read_config_file(const std::string& file, FilePurpose purpose);

// Refuses what is not text (yaml-cpp stops silently at some control bytes) and rewrites what JSON
// allows and YAML does not: tabs between values and escaped surrogate pairs. Throws ConfigError.
std::string prepared_text(std::string_view text, const std::string& name);

}  // namespace astra
