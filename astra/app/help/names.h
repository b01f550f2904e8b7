// What keys, options and words can name, as Markdown: docs/names.md.
#pragma once

#include <string>

namespace astra {

// A table for each Registry of the layers, from the network to the workload: the name of each entry
// and what it is. No line is longer than 200 columns.
std::string names_page();

}  // namespace astra
