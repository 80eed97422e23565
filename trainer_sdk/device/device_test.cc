#include "trainer_sdk/device/device.h"

#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/device/testing/stream_device.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

// All-reduces `count` int32 values (rank, rank + 1, and so on) and checks the
// sums.
absl::Status Sum(Device& device, ProcessGroup& world, int count) {
  std::vector<int32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), world.rank());
  absl::Status status = RunFromHost(
      device, world,
      AllReduce(numbers.data(), numbers.data(), count, DType::kInt32));
  for (int i = 0; i < count && status.ok(); ++i) {
    EXPECT_EQ(numbers[static_cast<size_t>(i)], 2 * i + 1);
  }
  return status;
}

TEST(RunFromHostTest, KeepsTheMemoryOfTheLargestOperation) {
  const auto statuses = RunWorld(
      2,
      [](ProcessGroup& world) {
        // RunFromHost allocates an input and an output buffer, and keeps them
        // for later calls. The device has memory for such buffers of 2 elements
        // and then of 10. The device has no memory for buffers of 11 elements,
        // so a call with 11 must fail.
        StreamDevice device((2 + 10) * 2 * sizeof(int32_t));
        absl::Status status;
        for (const int count : {2, 1, 10, 0, 3, 10}) {
          status.Update(Sum(device, world, count));
        }
        EXPECT_EQ(Sum(device, world, 11).code(),
                  absl::StatusCode::kResourceExhausted);
        return status;
      },
      OnStreams(ReferenceTransports()));
  for (const absl::Status& status : statuses)
    EXPECT_TRUE(status.ok()) << status;
}

}  // namespace
}  // namespace muster
