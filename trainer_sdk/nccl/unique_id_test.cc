#include "trainer_sdk/nccl/unique_id.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "base/monotonic_clock.h"
#include "nccl/nccl_library.h"
#include "trainer_sdk/nccl/fake_library.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

GroupPlace PlaceOf(int rank, std::shared_ptr<Store> store) {
  return {.rank = rank, .size = 2, .store = std::move(store), .name = "dp"};
}

TEST(WorldNcclIdTest, IsGivenOnce) {
  EXPECT_EQ(TakeWorldNcclId(), "") << "the environment has none";
  setenv("MUSTER_NCCL_ID", "abc", 1);
  EXPECT_EQ(TakeWorldNcclId(), "abc");
  EXPECT_EQ(TakeWorldNcclId(), "");
  unsetenv("MUSTER_NCCL_ID");
}

class AgreeOnNcclIdTest : public ::testing::Test {
 protected:
  AgreeOnNcclIdTest() { fake_.Reset(); }
  const FakeLibrary fake_;
  const std::shared_ptr<const nccl::NcclLibrary> nccl_ =
      *nccl::NcclLibrary::Load(kFakeNccl);
  const std::shared_ptr<Store> store_ = std::make_shared<InProcessStore>();
  const Instant soon_ = MonotonicNow() + std::chrono::seconds(30);
};

TEST_F(AgreeOnNcclIdTest, RankZerosIsEveryones) {
  const auto made = AgreeOnNcclId(*nccl_, PlaceOf(0, store_), soon_);
  const auto found = AgreeOnNcclId(*nccl_, PlaceOf(1, store_), soon_);
  ASSERT_TRUE(made.ok() && found.ok());
  EXPECT_EQ(nccl::HexOf(*made), nccl::HexOf(*found));
}

TEST_F(AgreeOnNcclIdTest, RankZerosFailureIsEveryones) {
  fake_.control().unique_id_result = 2;
  const auto made = AgreeOnNcclId(*nccl_, PlaceOf(0, store_), soon_);
  const auto found = AgreeOnNcclId(*nccl_, PlaceOf(1, store_), soon_);
  EXPECT_THAT(made.status().message(),
              HasSubstr("NCCL 2.28.9 makes no id: unhandled system error"));
  EXPECT_TRUE(absl::IsUnavailable(found.status()));
  EXPECT_THAT(found.status().message(), HasSubstr("unhandled system error"));
}

TEST_F(AgreeOnNcclIdTest, RankZeroIsNamedWhereItDoesNotCome) {
  const auto found = AgreeOnNcclId(*nccl_, PlaceOf(1, store_), MonotonicNow());
  EXPECT_TRUE(absl::IsDeadlineExceeded(found.status()));
  EXPECT_THAT(found.status().message(), HasSubstr("rank 0 of group \"dp\""));
}

}  // namespace
}  // namespace muster
