// Where the files of the repository are, for tests that read them.
#pragma once

#include <string>

namespace astra::test {

std::string source_file(const std::string& name);

}  // namespace astra::test
