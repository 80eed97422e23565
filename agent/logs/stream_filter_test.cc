#include "agent/logs/stream_filter.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

TEST(StreamFilterTest, OneTextThatIsContainedIsEnough) {
  StreamFilter filter({"loss", "Error"});
  EXPECT_TRUE(filter.Matches("step 3 loss 2.1"));
  EXPECT_TRUE(filter.Matches("RuntimeError: boom"));
  EXPECT_FALSE(filter.Matches("step 3"));
  EXPECT_FALSE(filter.Matches("LOSS"));
  EXPECT_FALSE(filter.Matches(""));
}

TEST(StreamFilterTest, NothingToLookForMatchesNothing) {
  EXPECT_TRUE(StreamFilter({}).empty());
  EXPECT_FALSE(StreamFilter({}).Matches("text"));
  EXPECT_TRUE(StreamFilter({""}).empty());
  EXPECT_FALSE(StreamFilter({"", "x"}).Matches("abc"));
}

}  // namespace
}  // namespace muster::agent
