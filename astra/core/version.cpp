#include "astra/core/version.h"

namespace astra {

const char* version() {
    return ASTRA_VERSION;
}

}  // namespace astra
