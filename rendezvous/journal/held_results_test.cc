#include "rendezvous/journal/held_results.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::rendezvous {
namespace {

using Names = std::vector<std::string>;

class HeldResultsTest : public ::testing::Test {
 protected:
  // Passes the result of a step. Returns whether it is held.
  bool Hold(std::string name) { return held_.Hold(name); }
  bool HoldChange(std::string name) {
    held_.CountChange();
    return held_.Hold(name);
  }

  HeldResults<std::string> held_;
};

TEST_F(HeldResultsTest, AResultWithoutAChangeIsSentAtOnce) {
  EXPECT_FALSE(Hold("a"));
  EXPECT_FALSE(held_.BeginWrite()) << "nothing has changed";
}

TEST_F(HeldResultsTest, AChangeIsSentOnceItIsDurable) {
  EXPECT_TRUE(HoldChange("a"));
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_FALSE(held_.BeginWrite()) << "nothing else has changed";
  EXPECT_LT(held_.durable(), held_.changes());
  EXPECT_EQ(held_.EndWrite(), Names{"a"});
  EXPECT_EQ(held_.durable(), held_.changes());
  EXPECT_FALSE(Hold("b"));
}

TEST_F(HeldResultsTest, AResultAfterAHeldOneWaitsForTheSameWrite) {
  EXPECT_TRUE(HoldChange("a"));
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_TRUE(Hold("b"));
  EXPECT_EQ(held_.EndWrite(), (Names{"a", "b"}));
}

TEST_F(HeldResultsTest, AChangeDuringAWriteWaitsForTheNextOne) {
  EXPECT_TRUE(HoldChange("a"));
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_TRUE(HoldChange("b"));
  EXPECT_TRUE(Hold("c"));
  EXPECT_FALSE(held_.BeginWrite()) << "a write runs";
  EXPECT_EQ(held_.EndWrite(), Names{"a"});
  EXPECT_TRUE(Hold("d")) << "b is not durable";
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_EQ(held_.EndWrite(), (Names{"b", "c", "d"}));
}

TEST_F(HeldResultsTest, DroppedResultsAreNotSentLater) {
  EXPECT_TRUE(HoldChange("a"));
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_TRUE(HoldChange("b"));
  EXPECT_EQ(held_.Drop(), (Names{"a", "b"}));
  EXPECT_EQ(held_.EndWrite(), Names());
  EXPECT_TRUE(held_.BeginWrite());
  EXPECT_EQ(held_.EndWrite(), Names());
}

}  // namespace
}  // namespace muster::rendezvous
