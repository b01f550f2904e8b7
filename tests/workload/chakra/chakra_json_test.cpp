// Traces from protobuf to JSON and back.
#include "workload/chakra/chakra_json.h"

#include <fstream>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/core/error.h"
#include "tests/support/experiment.h"
#include "workload/chakra/chakra_writer.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

std::string content(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

class ChakraJson : public testing::Test {
  protected:
    std::string fault(const std::string& text) {
        try {
            json_to_chakra(folder_.write("bad.json", text), folder_.file("bad.et"));
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    ScratchFolder folder_;
};

// What comes back is the same byte for byte: types of attributes, names with quotes, dependencies.
TEST_F(ChakraJson, ComesBackTheSame) {
    const std::string first = folder_.file("a.et");
    ChakraWriter writer(first);
    TraceNode node;
    node.id = 7;
    node.name = "a \"quoted\" name";
    node.kind = OpKind::Collective;
    node.collective = CollectiveKind::AllReduce;
    node.comm_bytes = std::uint64_t{1} << 40U;
    node.involved_dimensions = std::vector<bool>{true, false};
    writer.add(node);
    node.clear();
    node.id = 8;
    node.kind = OpKind::Compute;
    node.parents = {7};
    node.duration_ps = 3'000'000;
    node.operations = 12;
    writer.add(node);
    writer.close();

    chakra_to_json(first, folder_.file("a.json"));
    EXPECT_THAT(content(folder_.file("a.json")), HasSubstr(R"("int64Val":"1099511627776")"));
    json_to_chakra(folder_.file("a.json"), folder_.file("b.et"));
    EXPECT_EQ(content(folder_.file("b.et")), content(first));
}

TEST_F(ChakraJson, SaysWhichDocumentIsWrong) {
    EXPECT_THAT(fault(R"({"version":"0.0.4"} {"id":"1","nane":"x"})"),
                HasSubstr("bad.json: document 2: member 'nane' is none of the message"));
    EXPECT_THAT(fault(R"({"id":"-1"})"), HasSubstr("is not a whole number within its type"));
    EXPECT_THAT(fault(R"({"id":1)"), HasSubstr("document 1: "));
    EXPECT_THAT(fault("[1]"), HasSubstr("document 1: is no object"));
    EXPECT_THAT(fault(""), HasSubstr("the file is empty"));
}

}  // namespace
}  // namespace astra::test
