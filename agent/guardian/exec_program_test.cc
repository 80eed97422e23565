#include "agent/guardian/exec_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;

TEST(MergeEnvironment, ReplacesUnsetsAndAdds) {
  EXPECT_THAT(MergeEnvironment({"A=1", "B=2", "C=3"},
                               {{"B", "two"}, {"D", "x=y"}}, {"C", "NONE"}),
              ElementsAre("A=1", "B=two", "D=x=y"));
}

TEST(MergeEnvironment, TheLastOfANameCountsAndSetBeatsUnset) {
  EXPECT_THAT(MergeEnvironment({"A=1", "A=2"}, {{"A", "3"}, {"A", "4"}}, {"A"}),
              ElementsAre("A=4"));
}

TEST(MergeEnvironment, DoesNotTakeABeginningForAName) {
  EXPECT_THAT(MergeEnvironment({"RANKS=1", "RANK=2"}, {}, {"RANK"}),
              ElementsAre("RANKS=1"));
}

TEST(MergeEnvironment, KeepsEntriesWithoutAValue) {
  EXPECT_THAT(MergeEnvironment({"ODD", "=X"}, {}, {}),
              ElementsAre("ODD", "=X"));
}

TEST(FindInEnvironment, FindsTheWholeNameOnly) {
  const std::vector<std::string> environment = {"PATHS=a", "PATH=b=c", "E="};
  EXPECT_STREQ(FindInEnvironment(environment, "PATH"), "b=c");
  EXPECT_STREQ(FindInEnvironment(environment, "E"), "");
  EXPECT_EQ(FindInEnvironment(environment, "PAT"), nullptr);
}

}  // namespace
}  // namespace muster::agent
