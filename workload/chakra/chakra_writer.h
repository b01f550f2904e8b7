// Writes one rank's trace as Chakra's protobuf.
#pragma once

#include <memory>
#include <string>

#include "workload/graph/graph_builder.h"

namespace astra {

class ChakraWriter {
  public:
    // Starts `file` under another name beside it. All members throw TraceError.
    explicit ChakraWriter(const std::string& file, const std::string& version = "0.0.4");
    // Without close() nothing is left behind.
    ~ChakraWriter();
    ChakraWriter(const ChakraWriter&) = delete;
    ChakraWriter& operator=(const ChakraWriter&) = delete;

    // The format holds whole microseconds; another duration is rounded to the nearest and also
    // written exactly, as an attribute `duration_ps` that our readers know.
    void add(const TraceNode& node);
    // Gives the file its name.
    void close();

  private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
};

}  // namespace astra
