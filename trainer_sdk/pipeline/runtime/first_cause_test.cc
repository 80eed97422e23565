#include "trainer_sdk/pipeline/runtime/first_cause.h"

#include "gtest/gtest.h"

namespace muster {
namespace {

TEST(FirstCauseTest, IsWhatItIsWhereNobodyElseFailed) {
  EXPECT_EQ(FirstCause("rank 1 died"), "rank 1 died");
}

TEST(FirstCauseTest, StaysTheSameOnItsWay) {
  std::string message = "out of paper";
  for (int rank = 0; rank < 4; ++rank) {
    message = "group f: aborted by rank 0: " + BrokenBecause(message);
    EXPECT_EQ(FirstCause(message), "out of paper");
  }
}

}  // namespace
}  // namespace muster
