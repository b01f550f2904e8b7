#include "tests/support/source_folder.h"

namespace astra::test {

std::string source_file(const std::string& name) {
    return std::string(ASTRA_SOURCE_DIR) + "/" + name;
}

}  // namespace astra::test
