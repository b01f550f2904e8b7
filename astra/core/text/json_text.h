// Text as JSON writes it.
#pragma once

#include <string>
#include <string_view>

namespace astra {

// `text` in quotes, with what must be escaped; bytes that are not UTF-8 become U+FFFD (RFC 8259,
// section 7).
std::string json_text(std::string_view text);

}  // namespace astra
