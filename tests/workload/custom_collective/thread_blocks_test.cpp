// MSCCL files: what is wrong in them is said by name, and hostile ones cost nothing.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "astra/config/config_tree.h"
#include "astra/core/error.h"
#include "tests/support/experiment.h"
#include "workload/custom_collective/chakra_collective.h"
#include "workload/custom_collective/msccl_xml.h"
#include "workload/custom_collective/program_files.h"

namespace astra::test {
namespace {

using testing::HasSubstr;

// An all_reduce of two: each sends its chunk into the scratch memory of the other, another thread
// block adds it up.
constexpr const char* kExchange = R"(<algo name="exchange" nchunksperloop="2" ngpus="2"
  coll="allreduce" inplace="1">
<gpu id="0" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="1" recv="1" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" cnt="2" depid="-1" deps="-1"/>
<step s="1" type="r" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1"/>
</tb>
<tb id="5" send="-1" recv="-1" chan="0">
<step s="0" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="0" deps="1"/>
</tb>
</gpu>
<gpu id="1" i_chunks="2" o_chunks="2" s_chunks="2">
<tb id="0" send="0" recv="0" chan="0">
<step s="0" type="s" srcbuf="i" srcoff="0" cnt="2" depid="-1" deps="-1"/>
<step s="1" type="rrc" srcbuf="i" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1"/>
</tb>
</gpu>
</algo>
)";

class ThreadBlockFiles : public testing::Test {
  protected:
    // What is said of a file; "" if it is proved.
    std::string fault(const std::string& text) {
        const std::string file = folder_.write("a.xml", text);
        const ConfigTree tree = ConfigTree::parse_text("file: " + file, "test");
        try {
            ProgramFiles().open(tree.root());
        } catch (const InputError& error) {
            return error.what();
        }
        return "";
    }
    static std::string changed(const std::string& from, const std::string& to) {
        std::string text = kExchange;
        const std::size_t at = text.find(from);
        EXPECT_NE(at, std::string::npos) << from;
        return text.replace(at, from.size(), to);
    }
    ScratchFolder folder_;
};

constexpr const char* kFirstSend =
    R"(<step s="0" type="s" srcbuf="i" srcoff="0" cnt="2" depid="-1" deps="-1"/>)";
constexpr const char* kFirstReceive =
    R"(<step s="1" type="r" dstbuf="s" dstoff="0" cnt="2" depid="-1" deps="-1"/>)";
constexpr const char* kAdd =
    R"(<step s="0" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="0" deps="1"/>)";

TEST_F(ThreadBlockFiles, ProvesAProgramWithScratchAndWaits) {
    EXPECT_EQ(fault(kExchange), "");
}

TEST_F(ThreadBlockFiles, FindsADroppedStep) {
    EXPECT_THAT(
        fault(changed(kFirstSend, R"(<step s="0" type="nop"/>)")),
        HasSubstr("member 1, thread block 0, step 1: a receive without its send at member 0"));
    EXPECT_THAT(fault(changed(kAdd, R"(<step s="0" type="nop"/>)")),
                HasSubstr("at the end: member 0, block 0: lacks the contribution of member 1"));
}

TEST_F(ThreadBlockFiles, FindsAMissingReceive) {
    EXPECT_THAT(
        fault(changed(kFirstReceive, R"(<step s="1" type="nop"/>)")),
        HasSubstr("member 1, thread block 0, step 0: a send without its receive at member 0"));
}

TEST_F(ThreadBlockFiles, FindsWhatIsReducedTwice) {
    const std::string again =
        R"(<step s="1" type="re" srcbuf="s" srcoff="0" dstbuf="i" dstoff="0" cnt="2" depid="-1" deps="-1"/>)";
    EXPECT_THAT(
        fault(changed(kAdd, std::string(kAdd) + "\n" + again)),
        HasSubstr("member 0, thread block 5, step 1: the contribution of member 1 to block 0 is "
                  "reduced twice"));
}

TEST_F(ThreadBlockFiles, FindsASwappedChunk) {
    const std::string swapped =
        R"(<step s="0" type="re" srcbuf="s" srcoff="1" dstbuf="i" dstoff="0" cnt="1" depid="0" deps="1"/>)";
    EXPECT_THAT(
        fault(changed(kAdd, swapped)),
        HasSubstr("member 0, thread block 5, step 0: block 0: adds data of block 1 to data of "
                  "block 0"));
}

// Without its wait the addition may come before what it adds has come, or what is sent may be
// changed before.
TEST_F(ThreadBlockFiles, FindsARace) {
    std::string text = changed(R"(depid="0" deps="1")", R"(depid="-1" deps="-1")");
    EXPECT_THAT(fault(text), HasSubstr("adds position 2, which holds nothing"));
    text = changed(R"(depid="0" deps="1")", R"(depid="0" deps="0")");
    EXPECT_THAT(
        fault(text),
        testing::AnyOf(HasSubstr("holds nothing"), HasSubstr("nothing puts the two in order")));
    // A copy of the input, read while the other thread block changes it.
    const std::string third =
        std::string("</tb>\n<tb id=\"7\" send=\"-1\" recv=\"-1\" chan=\"0\">") +
        R"(<step s="0" type="cpy" srcbuf="i" srcoff="0" dstbuf="s" )" +
        R"(dstoff="3" cnt="1" depid="-1" deps="-1"/></tb></gpu>)";
    text = changed("</tb>\n</gpu>", third);
    text.replace(text.find("s_chunks=\"2\""), 12, "s_chunks=\"4\"");
    EXPECT_THAT(fault(text),
                HasSubstr("member 0, thread block 5, step 0: changes block 0, which thread block "
                          "7, step 0 reads, and "
                          "nothing puts the two in order"));
}

TEST_F(ThreadBlockFiles, FindsADanglingDependency) {
    EXPECT_THAT(fault(changed(R"(depid="0" deps="1")", R"(depid="3" deps="1")")),
                HasSubstr("a.xml:9: gpu 0, thread block 5, step 0 (re): depends on thread block 3, "
                          "which is not there"));
    EXPECT_THAT(fault(changed(R"(depid="0" deps="1")", R"(depid="0" deps="2")")),
                HasSubstr("depends on step 2 of thread block 0, which has the steps 0 to 1"));
}

TEST_F(ThreadBlockFiles, FindsACycleOfDependencies) {
    std::string text = changed(kFirstSend,
                               R"(<step s="0" type="s" srcbuf="i" srcoff="0" cnt="2" depid="5" )"
                               R"(deps="0"/>)");
    EXPECT_THAT(
        fault(text),
        HasSubstr(
            "deadlock: member 0, thread block 0, step 0: waits for step 0 of thread block 5, which "
            "waits in step 0"));
}

TEST_F(ThreadBlockFiles, NamesBuffersAndPeersThatAreNotThere) {
    EXPECT_THAT(
        fault(changed(R"(dstbuf="s" dstoff="0" cnt="2")", R"(dstbuf="s" dstoff="1" cnt="2")")),
        HasSubstr("uses chunks 1 to 2 of buffer s, which has 2"));
    EXPECT_THAT(fault(changed(R"(send="1" recv="1")", R"(send="2" recv="1")")),
                HasSubstr("its thread block sends to gpu 2; the others are 0 to 1 without 0"));
    EXPECT_THAT(fault(changed(R"(type="re")", R"(type="ree")")),
                HasSubstr(R"(a.xml:9: type="ree" is no step)"));
    EXPECT_THAT(fault(changed(R"(coll="allreduce")", R"(coll="allreduced")")),
                HasSubstr("allreduce"));
}

TEST_F(ThreadBlockFiles, RefusesHostileFiles) {
    EXPECT_THAT(
        fault("<!DOCTYPE a [<!ENTITY b \"bb\"><!ENTITY c \"&b;&b;\">]>" + std::string(kExchange)),
        HasSubstr("a document type is not allowed here"));
    EXPECT_THAT(fault(changed(R"(nchunksperloop="2")", R"(nchunksperloop="2147483648")")),
                HasSubstr(R"(nchunksperloop="2147483648" is not a number from 1 to 1048576)"));
    EXPECT_THAT(fault(changed(R"(ngpus="2")", R"(ngpus="4294967295")")),
                HasSubstr("is not a number from 1 to 65536"));
    EXPECT_THAT(fault(changed(R"(srcoff="0")", R"(srcoff="-1")")),
                HasSubstr(R"(srcoff="-1" is not a number from 0)"));
    EXPECT_THAT(fault(std::string(kExchange).substr(0, 300)), HasSubstr("not well-formed XML"));
    std::string deep;
    for (int i = 0; i < 1'000'000; ++i) {
        deep += "<a>";
    }
    EXPECT_THAT(fault(deep), HasSubstr("element 'a'; 'algo' is expected here"));
    EXPECT_THAT(fault("<algo name=\"" + std::string(3U << 20U, 'x')),
                HasSubstr("no tag for a MiB"));
    EXPECT_THAT(fault("<algo" + std::string(3U << 20U, ' ')), HasSubstr("no tag for a MiB"));
    EXPECT_THAT(fault(changed("<gpu id=\"1\"", "<gpu id=\"0\"")),
                HasSubstr("gpu 0 is there twice"));
    EXPECT_THAT(fault("text"), HasSubstr("is no MSCCL file"));
}

// Everything that a file says comes back: fused steps, waits, buffers.
TEST_F(ThreadBlockFiles, ReadsWhatItWrites) {
    const std::string file = folder_.write("b.xml", kExchange);
    const ThreadBlockAlgorithm algorithm = read_thread_block_algorithm(file);
    EXPECT_EQ(read_thread_block_algorithm(folder_.write("c.xml", msccl_text(algorithm))),
              algorithm);
    EXPECT_EQ(write_chakra_collective(algorithm, folder_.file("p")), 2U);
    const ChakraCollective back = read_chakra_collective(folder_.file("p"));
    ASSERT_TRUE(back.blocks.has_value());
    EXPECT_EQ(*back.blocks, algorithm);
}

// SCCL, TACCL and TE-CCL: an input chunk that is its own output is copied before the thread blocks.
std::string with_copies(const std::string& copy0, const std::string& rest0 = "") {
    const auto gpu = [&](int id, const std::string& copy, const std::string& rest) {
        const std::string own = std::to_string(id);
        const std::string other = std::to_string(1 - id);
        return "<gpu id=\"" + own + "\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">" + copy +
               "<tb id=\"0\" send=\"" + other + "\" recv=\"" + other + "\" chan=\"0\">" +
               R"(<step s="0" type="s" srcbuf="i" srcoff="0" cnt="1" depid="-1" deps="-1"/>)" +
               R"(<step s="1" type="r" dstbuf="o" dstoff=")" + other +
               R"(" cnt="1" depid="-1" deps="-1"/>)" + rest + "</tb></gpu>";
    };
    return "<algo name=\"pair\" nchunksperloop=\"2\" ngpus=\"2\" coll=\"allgather\" "
           "inplace=\"0\">" +
           gpu(0, copy0, rest0) + gpu(1, "<copy i_off=\"0\" o_off=\"1\"/>", "") + "</algo>";
}

TEST_F(ThreadBlockFiles, CopiesComeBeforeTheThreadBlocks) {
    EXPECT_EQ(fault(with_copies("<copy i_off=\"0\" o_off=\"0\"/>")), "");
    EXPECT_EQ(fault(with_copies("<copy i_off=\"0\" o_off=\"0\" cnt=\"1\"></copy>")), "");
    EXPECT_THAT(fault(with_copies("")), HasSubstr("member 0, block 0: holds nothing"));
    EXPECT_THAT(fault(with_copies("<copy i_off=\"0\" o_off=\"1\"/>")), testing::Not(""));
    EXPECT_THAT(fault(with_copies("<copy i_off=\"1\" o_off=\"0\"/>")),
                HasSubstr("uses chunks 1 to 1 of buffer i, which has 1"));
    EXPECT_THAT(fault(with_copies("<copy i_off=\"x\" o_off=\"0\"/>")),
                HasSubstr("i_off=\"x\" is not a number"));
    EXPECT_THAT(fault(with_copies("<copy i_off=\"0\" o_off=\"0\"><step/></copy>")),
                HasSubstr("element 'step'"));
}

// Whoever reads what is copied waits for it: here the output goes back and forth once more, by a
// step that waits for another thread block already.
TEST_F(ThreadBlockFiles, StepsThatReadACopyWaitForIt) {
    const std::string again = R"(<step s="2" type="cpy" srcbuf="o" srcoff="0" dstbuf="o" )"
                              R"(dstoff="0" cnt="1" depid="-1" deps="-1"/>)";
    EXPECT_EQ(fault(with_copies("<copy i_off=\"0\" o_off=\"0\"/>", again)), "");
    const std::string waiting =
        R"(</tb><tb id="4" send="-1" recv="-1" chan="0">)"
        R"(<step s="0" type="nop" depid="0" deps="0"/>)"
        R"(<step s="1" type="cpy" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="0" deps="1"/>)"
        R"(</tb><tb id="6" send="-1" recv="-1" chan="0">)"
        R"(<step s="0" type="cpy" srcbuf="o" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="4" deps="1"/>)";
    const std::string text = with_copies("<copy i_off=\"0\" o_off=\"0\"/>", waiting);
    EXPECT_EQ(fault(text), "");
    const ThreadBlockAlgorithm algorithm =
        read_thread_block_algorithm(folder_.write("b.xml", text));
    const std::vector<ThreadBlock>& blocks = algorithm.gpus[0].blocks;
    ASSERT_EQ(blocks.size(), 4U);
    EXPECT_EQ(blocks[3].id, 7U);
    ASSERT_EQ(blocks[1].steps.size(), 3U) << "a nop that waits for the copy came in";
    EXPECT_EQ(blocks[1].steps[1].wait, (ThreadBlocks::Wait{7, 0}));
    EXPECT_EQ(blocks[1].steps[2].wait, (ThreadBlocks::Wait{0, 1}));
    EXPECT_EQ(blocks[2].steps[0].type, StepType::Nop);
    EXPECT_EQ(blocks[2].steps[1].wait, (ThreadBlocks::Wait{4, 2})) << "the step moved on by one";
    EXPECT_FALSE(blocks[0].steps[0].wait) << "what touches no copy waits for none";
}

}  // namespace
}  // namespace astra::test
