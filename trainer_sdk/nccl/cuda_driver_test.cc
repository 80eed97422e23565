#include "trainer_sdk/nccl/cuda_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer_sdk/nccl/fake_library.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

std::string Why(const absl::Status& status) {
  return std::string(status.message());
}

TEST(CudaDriverTest, SaysWhatIsWrong) {
  EXPECT_THAT(Why(CudaDriver::Load("libno-such-cuda.so.1").status()),
              HasSubstr("there is no NVIDIA driver here"));
  EXPECT_THAT(Why(CudaDriver::Load("libm.so.6").status()),
              HasSubstr("libm.so.6 is no CUDA driver"));
  const FakeLibrary fake;
  fake.Reset();
  fake.control().init_result = 803;
  EXPECT_THAT(Why(CudaDriver::Load(kFakeNccl).status()),
              HasSubstr("cuInit says: system has unsupported display driver"));
  fake.Reset();
  fake.control().devices = 0;
  EXPECT_THAT(Why(CudaDriver::Load(kFakeNccl).status()),
              HasSubstr("CUDA_VISIBLE_DEVICES"));
  fake.Reset();
  EXPECT_THAT(Why((*CudaDriver::Load(kFakeNccl))->PrimaryContext(3).status()),
              HasSubstr("no CUDA device 3"));
}

}  // namespace
}  // namespace muster
