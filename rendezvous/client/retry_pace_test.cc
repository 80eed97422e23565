#include "rendezvous/client/retry_pace.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::rendezvous {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart = Instant(seconds(1000));

std::vector<int> Milliseconds(RetryPace* pace, Instant now, int failures) {
  std::vector<int> waits;
  for (int i = 0; i < failures; ++i) {
    waits.push_back(pace->AfterFailure(now) / milliseconds(1));
  }
  return waits;
}

TEST(RetryPaceTest, IsQuickWhileTheCoordinatorMayJustBeStarting) {
  RetryPace pace(kStart);
  EXPECT_EQ(Milliseconds(&pace, kStart, 7),
            (std::vector<int>{5, 10, 20, 40, 80, 100, 100}));
}

TEST(RetryPaceTest, SlowsDownAfterTheStart) {
  RetryPace pace(kStart);
  Milliseconds(&pace, kStart, 20);
  EXPECT_EQ(Milliseconds(&pace, kStart + seconds(10), 5),
            (std::vector<int>{200, 400, 800, 1000, 1000}));
}

TEST(RetryPaceTest, ABrokenStreamIsMadeAgainAtOnceAndThenMoreSlowly) {
  RetryPace pace(kStart);
  Milliseconds(&pace, kStart, 7);
  EXPECT_EQ(pace.AfterStream(kStart + seconds(5), seconds(4)),
            Duration::zero());
  EXPECT_EQ(Milliseconds(&pace, kStart + seconds(5), 6),
            (std::vector<int>{50, 100, 200, 400, 800, 1000}));
}

TEST(RetryPaceTest, ACoordinatorThatBreaksEveryStreamIsNotHammered) {
  RetryPace pace(kStart);
  EXPECT_EQ(pace.AfterStream(kStart, milliseconds(3)), milliseconds(50));
  EXPECT_EQ(pace.AfterStream(kStart, milliseconds(3)), milliseconds(100));
}

}  // namespace
}  // namespace muster::rendezvous
