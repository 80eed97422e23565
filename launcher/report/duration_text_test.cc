#include "launcher/report/duration_text.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

TEST(DurationTextTest, HasTheTwoUnitsThatFit) {
  struct {
    Duration duration;
    const char* text;
  } const kCases[] = {
      {Duration::zero(), "0.00s"},
      {milliseconds(40), "0.04s"},
      {milliseconds(999), "0.99s"},
      {milliseconds(1000), "1.0s"},
      {milliseconds(7590), "7.5s"},
      {milliseconds(59999), "59.9s"},
      {seconds(60), "1m 00s"},
      {seconds(123), "2m 03s"},
      {seconds(3599), "59m 59s"},
      {hours(1), "1h 00m"},
      {hours(5) + minutes(7), "5h 07m"},
      {hours(24), "1d 00h"},
      {hours(76), "3d 04h"},
      {hours(24 * 365 * 100), "36500d 00h"},
      {-seconds(5), "0.00s"},
  };
  for (const auto& c : kCases) EXPECT_EQ(DurationText(c.duration), c.text);
}

}  // namespace
}  // namespace muster::launcher
