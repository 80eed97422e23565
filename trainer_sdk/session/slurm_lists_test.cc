#include "trainer_sdk/session/slurm_lists.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(FirstHost, OfEveryKindOfList) {
  EXPECT_EQ(FirstHost("n1"), "n1");
  EXPECT_EQ(FirstHost("n1,n2"), "n1");
  EXPECT_EQ(FirstHost("gpu[007-011,20],x"), "gpu007");
  EXPECT_EQ(FirstHost("gpu[9]"), "gpu9");
  EXPECT_EQ(FirstHost("rack[0-1]node[1-3].site"), "rack0node1.site");
  EXPECT_EQ(FirstHost("10.0.0.7"), "10.0.0.7");
}

TEST(FirstHost, OfWhatIsNone) {
  for (const char* list :
       {"", ",a", "a[", "a[1", "a[]", "a[-3]", "a[x]", "a b", "a;b", "[,]"}) {
    EXPECT_EQ(FirstHost(list), std::nullopt) << list;
  }
}

TEST(TasksOnNode, CountsThroughTheEntries) {
  EXPECT_EQ(TasksOnNode("4", 0), 4);
  EXPECT_EQ(TasksOnNode("4(x3),2", 0), 4);
  EXPECT_EQ(TasksOnNode("4(x3),2", 2), 4);
  EXPECT_EQ(TasksOnNode("4(x3),2", 3), 2);
  EXPECT_EQ(TasksOnNode("4(x3),2", 4), std::nullopt);
}

TEST(TasksOnNode, OfWhatIsNone) {
  for (const char* text :
       {"", "x", "4(x", "4(x)", "4(x2", "4(x0)", "0", "-1", "4(x2)(x3)"}) {
    EXPECT_EQ(TasksOnNode(text, 0), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace muster
