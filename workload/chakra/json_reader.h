// Reads Chakra traces written as JSON: a node's members by either spelling of their names, or
// protobuf's own JSON form of the messages; one document or several one after the other.
#pragma once

#include <string>

#include "workload/chakra/byte_source.h"
#include "workload/nodes/node_assembler.h"

namespace astra {

// Whether the data starts like JSON and not like a protobuf trace.
bool looks_like_json(ByteSource& source);

// Whether the name says JSON; such a file is never taken for protobuf.
bool is_named_json(const std::string& file);

// One node is in memory at a time; a token and the blanks before it take at most 64 MiB. Throws
// TraceError "file:line:column: …" on bad syntax or shape and whatever the assembler throws.
void read_json(ByteSource& source, NodeAssembler& nodes);

}  // namespace astra
