// ASTRA_CHECK states what must hold if our own code is right. It stays on in every build; an input
// must never reach it.
#pragma once

#include <string_view>

namespace astra {

[[noreturn]] void check_failed(const char* expression,
                               const char* file,
                               int line,
                               std::string_view details);

}  // namespace astra

// Throws InternalError unless `condition` holds; `details` (any string) is evaluated only then.
#define ASTRA_CHECK(condition, details)                                     \
    do {                                                                    \
        if (!(condition)) [[unlikely]] {                                    \
            ::astra::check_failed(#condition, __FILE__, __LINE__, details); \
        }                                                                   \
    } while (false)
