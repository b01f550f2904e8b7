// The names of groups, as the files and ASTRA-sim's reader of numbers have them.
#include "workload/graph/groups.h"

#include <gmock/gmock.h>

#include "tests/workload/trace_maker.h"

namespace astra::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GroupTable table() {
    return GroupTable(4, {{"1", {0, 1}}, {"2", {2, 3}}, {"1.5", {0, 2}}, {"tp", {1, 2}}}, "g.json");
}

// ASTRA-sim makes a number of a name with std::stoi. A name that is defined as it stands stays
// that.
TEST(Groups, NamesAreReadAsNumbersWhereNothingIsCalledSo) {
    for (const char* name : {"1", "1.0", "1.", "01", "+1", " 1", "1.7", "1e3", "1 of 2", "1_tp"}) {
        GroupTable groups = table();
        const auto number = groups.resolve(0, name);
        ASSERT_TRUE(number) << name;
        EXPECT_EQ(groups.resolve(1, "1"), number) << name << ": one group, whatever it is called";
        EXPECT_THAT(groups.take(), ElementsAre(GroupDefinition{"1", {0, 1}})) << name;
    }
    GroupTable groups = table();
    ASSERT_TRUE(groups.resolve(0, "1.5"));
    EXPECT_THAT(groups.take(), ElementsAre(GroupDefinition{"1.5", {0, 2}}));
    for (const char* name : {"3", "3.0", "tp1", "x", "-1", ".1", "++1", "+-1", "99999999999.0"}) {
        EXPECT_FALSE(table().resolve(0, name)) << name;
    }
    GroupTable everyone = table();
    EXPECT_EQ(everyone.resolve(0, "0.0"), everyone.resolve(0, ""));
}

// Only what is not a number to its end may be a mistake.
TEST(Groups, SaysWhatItTakesForANumber) {
    GroupTable groups = table();
    groups.resolve(0, "1.0");
    groups.resolve(0, " 2");
    groups.resolve(0, "tp");
    EXPECT_THAT(groups.read_by_number(), IsEmpty());
    groups.resolve(0, "1_tp");
    groups.resolve(1, "1_tp");
    EXPECT_THAT(groups.read_by_number(), ElementsAre(testing::Pair("1_tp", "1")));

    const Folder folder;
    folder.write("g.json", R"({"1": [0, 1]})");
    for (const char* rank : {"0", "1"}) {
        folder.write(std::string("t.") + rank + ".et",
                     metadata("0.0.4") + all_reduce(1, text_attribute("pg_name", "1_tp")));
    }
    Warnings warnings;
    load(folder, 2, warnings, folder.file("g.json"));
    EXPECT_THAT(warnings.texts(),
                ElementsAre(HasSubstr("pg_name '1_tp' is read as group '1', as ASTRA-sim reads")));
}

}  // namespace
}  // namespace astra::test
