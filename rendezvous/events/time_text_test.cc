#include "rendezvous/events/time_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace muster::rendezvous {
namespace {

TEST(TimeTextTest, UtcForPeopleAndPrograms) {
  EXPECT_EQ(UtcText(1771337471.25), "2026-02-17 14:11:11 UTC");
  EXPECT_EQ(IsoText(1771337471.25), "2026-02-17T14:11:11.250Z");
  EXPECT_EQ(IsoText(1), "1970-01-01T00:00:01.000Z");
  EXPECT_EQ(UtcText(951782400), "2000-02-29 00:00:00 UTC");
}

TEST(TimeTextTest, WhatIsNoDateIsUnknown) {
  for (double time : {0.0, -1.0, 1e18, std::nan(""),
                      std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(UtcText(time), "unknown") << time;
    EXPECT_EQ(IsoText(time), "unknown") << time;
  }
}

}  // namespace
}  // namespace muster::rendezvous
