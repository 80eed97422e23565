#include "store/server/tick_timer.h"

#include <gtest/gtest.h>

namespace muster::store {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(TickTimerTest, IsDueOnceAPeriod) {
  const Instant start = Instant() + milliseconds(5000);
  TickTimer timer(milliseconds(100));
  EXPECT_EQ(timer.Left(start), milliseconds(0)) << "the first at any moment";
  EXPECT_TRUE(timer.Take(start));
  EXPECT_FALSE(timer.Take(start));
  EXPECT_EQ(timer.Left(start), milliseconds(100));
  EXPECT_EQ(timer.Left(start + microseconds(98'100)), milliseconds(2));
  EXPECT_FALSE(timer.Take(start + microseconds(99'999)));
  EXPECT_EQ(timer.Left(start + milliseconds(150)), milliseconds(0));
  // A late tick does not shorten the next period.
  EXPECT_TRUE(timer.Take(start + milliseconds(150)));
  EXPECT_EQ(timer.Left(start + milliseconds(150)), milliseconds(100));
}

}  // namespace
}  // namespace muster::store
