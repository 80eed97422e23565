#include "base/seconds_text.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(SecondsTextTest, HasThreeDigits) {
  using std::chrono::nanoseconds;
  EXPECT_EQ(SecondsText(nanoseconds(13'468'400)), "0.0135 s");
  EXPECT_EQ(SecondsText(nanoseconds(4'987'654'321)), "4.99 s");
  EXPECT_EQ(SecondsText(std::chrono::seconds(5)), "5 s");
  EXPECT_EQ(SecondsText(Duration()), "0 s");
}

TEST(SecondsTextTest, HasWholeSecondsWhereTheyAreMany) {
  EXPECT_EQ(SecondsText(std::chrono::milliseconds(600'300)), "600 s");
  EXPECT_EQ(SecondsText(std::chrono::hours(2)), "7200 s");
}

}  // namespace
}  // namespace muster
