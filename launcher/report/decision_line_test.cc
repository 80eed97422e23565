#include "launcher/report/decision_line.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

constexpr double kTime = 1771337471.25;

rendezvous::Decision Break() {
  return {"break", 2, "host-b", "rank 3 was killed by SIGKILL"};
}

TEST(DecisionLineTest, ShowsTimeRoundDecisionAndReason) {
  EXPECT_EQ(DecisionLine(Break(), kTime, TextStyle::kPlain),
            "2026-02-17 14:11:11 UTC  round 2  break    host-b: rank 3 was "
            "killed by SIGKILL\n");
  EXPECT_EQ(DecisionLine({"finish", 3, "", "all workers\nsucceeded"}, kTime,
                         TextStyle::kPlain),
            "2026-02-17 14:11:11 UTC  round 3  finish   all workers "
            "succeeded\n");
}

}  // namespace
}  // namespace muster::launcher
