// Chakra traces from protobuf to JSON and back: protobuf's own JSON form of the messages, one
// document a record, GlobalMetadata first.
#pragma once

#include <string>

namespace astra {

// Throws TraceError on a damaged file, on text that is not UTF-8 and on attributes of bytes, which
// have no place in such a file.
void chakra_to_json(const std::string& chakra, const std::string& json);

// Member names in either of protobuf's spellings. Throws TraceError "file: document n: …" on what
// is no such message.
void json_to_chakra(const std::string& json, const std::string& chakra);

}  // namespace astra
