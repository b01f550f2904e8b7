// Names in CSV files.
#pragma once

#include <string>

namespace astra {

// `text` as a field: quoted only where it must be.
inline std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\n\r") == std::string::npos) {
        return text;
    }
    std::string result = "\"";
    for (const char c : text) {
        result += c == '"' ? std::string("\"\"") : std::string(1, c);
    }
    return result + "\"";
}

}  // namespace astra
