// Checks that Bazel's rule for CUDA sources builds a library that runs.

#include <gtest/gtest.h>

#include "tests/gpu/device_probe.h"

namespace muster {
namespace {

TEST(CudaBuild, AKernelRuns) {
  if (DeviceCount() == 0) GTEST_SKIP() << "this machine has no CUDA device";
  std::vector<float> values(1000, 1.5f);
  EXPECT_EQ(DoubleOnDevice(values), "");
  EXPECT_EQ(values, std::vector<float>(1000, 3.0f));
}

}  // namespace
}  // namespace muster
