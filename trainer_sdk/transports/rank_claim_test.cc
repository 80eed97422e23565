#include "trainer_sdk/transports/rank_claim.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(RankClaimTest, SameProcessMayClaimItsRankAgain) {
  InProcessStore store;
  for (int times = 0; times < 3; ++times) {
    EXPECT_TRUE(ClaimRank(store, 0, ProcessIdentity()).ok());
  }
  EXPECT_TRUE(ClaimRank(store, 1, "pid 7 on b (1)").ok());
}

TEST(RankClaimTest, SecondProcessIsRefusedAndTheFirstNamed) {
  InProcessStore store;
  ASSERT_TRUE(ClaimRank(store, 1, "pid 7 on b (1)").ok());
  const absl::Status second = ClaimRank(store, 1, "pid 7 on b (2)");
  EXPECT_TRUE(absl::IsInvalidArgument(second)) << second;
  EXPECT_THAT(std::string(second.message()),
              AllOf(HasSubstr("rank 1 is another process already, pid 7 on b:"),
                    HasSubstr("different names")));
}

}  // namespace
}  // namespace muster
