#include "astra/core/check.h"

#include <string>

#include "astra/core/error.h"

namespace astra {

void check_failed(const char* expression, const char* file, int line, std::string_view details) {
    std::string_view base = file;
    if (const auto slash = base.rfind('/'); slash != std::string_view::npos) {
        base.remove_prefix(slash + 1);
    }
    std::string message;
    message.append(base).append(":").append(std::to_string(line));
    message.append(": '").append(expression).append("' does not hold");
    if (!details.empty()) {
        message.append(": ").append(details);
    }
    throw InternalError(message);
}

}  // namespace astra
