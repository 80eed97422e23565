#include "models/cuda/choose_device.h"

#include "gtest/gtest.h"

namespace muster::models::cuda {
namespace {

TEST(ChooseDeviceTest, EachWorkerHasTheOneOfItsLocalRank) {
  for (int local_rank = 0; local_rank < 4; ++local_rank) {
    EXPECT_EQ(*ChooseDevice(4, local_rank, 4), local_rank);
    EXPECT_EQ(*ChooseDevice(8, local_rank, 4), local_rank);
  }
}

TEST(ChooseDeviceTest, TheOnlyOneIsEveryones) {
  EXPECT_EQ(*ChooseDevice(1, 3, 4), 0);
}

TEST(ChooseDeviceTest, WithoutAnyOpeningTheFirstSaysWhy) {
  EXPECT_EQ(*ChooseDevice(0, 1, 2), 0);
}

TEST(ChooseDeviceTest, SeveralThatAreTooFewAreRefused) {
  const auto chosen = ChooseDevice(2, 0, 3);
  EXPECT_EQ(chosen.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(chosen.status().message().find("2 GPUs for the 3 workers"),
            absl::string_view::npos)
      << chosen.status();
}

}  // namespace
}  // namespace muster::models::cuda
