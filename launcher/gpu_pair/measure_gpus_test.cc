#include "launcher/gpu_pair/measure_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "base/monotonic_clock.h"
#include "trainer_sdk/nccl/fake_library.h"

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;

using Result = absl::StatusOr<GpuValues>;

constexpr int kGpus = 2;

// Two nodes with two GPUs each, simulated in one process by a fake of the
// library NCCL (FakeLibrary).
class MeasureGpusTest : public testing::Test {
 protected:
  MeasureGpusTest() {
    fake_.Reset();
    fake_.control().devices = kGpus;
    cuda_ = *CudaDriver::Load(kFakeNccl);
    nccl_ = *nccl::NcclLibrary::Load(kFakeNccl);
    EXPECT_EQ(nccl_->GetUniqueId(&id_), nccl::kNcclSuccess);
  }

  std::future<Result> Start(int first, Duration limit = seconds(60)) const {
    return std::async(std::launch::async, [=, this] {
      return MeasureGpus(cuda_, nccl_, id_,
                         {.first = first,
                          .count = kGpus,
                          .size = 2 * kGpus,
                          .reduced_bytes = 64 << 10},
                         MonotonicNow() + limit);
    });
  }

  const FakeLibrary fake_;
  std::shared_ptr<const CudaDriver> cuda_;
  std::shared_ptr<const nccl::NcclLibrary> nccl_;
  nccl::NcclUniqueId id_;
};

TEST_F(MeasureGpusTest, BothNodesMeasureAllTheirGpus) {
  const int launches = fake_.control().launches;
  auto one = Start(0);
  auto other = Start(kGpus);
  for (auto* node : {&one, &other}) {
    const Result result = node->get();
    ASSERT_TRUE(result.ok()) << result.status();
    EXPECT_THAT(result->bytes_per_s, AllOf(Gt(1e3), Lt(1e13)));
    EXPECT_THAT(result->compute_s, AllOf(Gt(0), Lt(60)));
  }
  // Each of the 2 * kGpus GPUs of the two nodes runs the kernel five times:
  // twice to warm up, and three times for the measurement.
  EXPECT_EQ(fake_.control().launches - launches, 5 * 2 * kGpus);
  EXPECT_EQ(fake_.control().live_communicators, 0);
  EXPECT_EQ(fake_.control().live_events, 0);
  EXPECT_EQ(fake_.control().live_allocations, 0);
}

TEST_F(MeasureGpusTest, AnAbsentNodeIsATimeOut) {
  const Result result = Start(0, milliseconds(200)).get();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(result.status().message()),
              HasSubstr("GPU 0: connecting the GPUs"));
  EXPECT_EQ(fake_.control().live_communicators, 0);
}

// One GPU fails, and the other GPUs wait for it until the deadline. The error
// of the failing GPU's node must name this GPU, not one that waits.
TEST_F(MeasureGpusTest, AGpuThatFailsIsNamed) {
  fake_.control().rank_that_fails_to_join = 1;
  auto one = Start(0, milliseconds(500));
  auto other = Start(kGpus, milliseconds(500));
  const Result result = one.get();
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(result.status().message()), HasSubstr("GPU 1: "));
  EXPECT_EQ(other.get().status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace muster::launcher
