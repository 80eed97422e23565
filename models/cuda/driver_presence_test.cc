#include "models/cuda/driver_presence.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::models::cuda {
namespace {

using ::testing::HasSubstr;

TEST(DriverPresenceTest, NoDriverIsSaidToBeNone) {
  const absl::Status status = CheckDriverIsThere("libno-such-cuda.so.1");
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(status.ToString(),
              HasSubstr("no NVIDIA driver: libno-such-cuda.so.1 cannot be "
                        "loaded: libno-such-cuda.so.1: cannot open"));
}

TEST(DriverPresenceTest, WhatCanBeLoadedIsThere) {
  EXPECT_TRUE(CheckDriverIsThere("libm.so.6").ok());
}

}  // namespace
}  // namespace muster::models::cuda
