// Writes one rank's trace as Chakra's protobuf.
#pragma once

#include <memory>
#include <string>

#include "workload/graph_builder.h"

namespace astra {

class ChakraWriter {
  public:
    // Starts `file` under another name beside it. All members throw TraceError.
    explicit ChakraWriter(const std::string& file, const std::string& version = "0.0.4");
    // Without close() nothing is left behind.
    ~ChakraWriter();
    ChakraWriter(const ChakraWriter&) = delete;
    ChakraWriter& operator=(const ChakraWriter&) = delete;

    // The duration must be whole microseconds: that is what the format can hold.
    void add(const TraceNode& node);
    // Gives the file its name.
    void close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
