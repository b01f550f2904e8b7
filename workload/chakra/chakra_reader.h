// Reads Chakra's protobuf traces: records of a varint length and a message.
#pragma once

#include <string_view>

#include "workload/chakra/byte_source.h"
#include "workload/nodes/node_assembler.h"

namespace astra {

// Throws TraceError "file: record n at byte b: …" on a damaged file and whatever the assembler
// throws.
void read_chakra(ByteSource& source, NodeAssembler& nodes);

// Throws TraceError for the schema that is not supported; warns of one that is not known.
void check_schema_version(std::string_view version, NodeAssembler& nodes);

}  // namespace astra
