#include "trainer_sdk/cuda/emulation/cuda_emulation.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "trainer_sdk/cuda/emulation/shared_array.h"

namespace muster {
namespace {

using emulation::BlockRun;
using emulation::ScopedThreadOrder;
using emulation::ThreadOrder;

constexpr uint32_t kAll = 0xffffffff;

class CudaEmulationTest : public testing::TestWithParam<ThreadOrder> {
 private:
  const ScopedThreadOrder order_{GetParam()};
};

INSTANTIATE_TEST_SUITE_P(Orders, CudaEmulationTest,
                         testing::Values(ThreadOrder::kForward,
                                         ThreadOrder::kBackward));

TEST_P(CudaEmulationTest, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> seen(3 * 2 * 5 * 7);
  BlockRun::RunGrid({3, 2}, {5, 7}, [&] {
    ASSERT_EQ(gridDim.x * 10 + gridDim.y, 32u);
    const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
    const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
    ++seen[block * blockDim.x * blockDim.y + thread];
  });
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST_P(CudaEmulationTest, ABarrierShowsWhatAllHaveWritten) {
  constexpr int kThreads = 70;
  std::vector<int> turned(kThreads);
  BlockRun::RunGrid({2}, {kThreads}, [&] {
    __shared__ SharedArray<int, kThreads> line;
    const int at = static_cast<int>(threadIdx.x);
    for (int round = 0; round < 3; ++round) {
      line[at] = at + round;
      __syncthreads();
      turned[static_cast<size_t>(at)] = line[kThreads - 1 - at];
      __syncthreads();
    }
  });
  for (int i = 0; i < kThreads; ++i) {
    EXPECT_EQ(turned[static_cast<size_t>(i)], kThreads - 1 - i + 2);
  }
}

// A kernel that lacks a barrier between a write and a read of shared memory
// gives different results in the two thread orders, so that tests notice the
// missing barrier.
TEST(CudaEmulationOrderTest, AMissingBarrierShowsInOneOfTheOrders) {
  const auto sum = [](ThreadOrder order) {
    const ScopedThreadOrder scoped(order);
    int read = 0;
    BlockRun::RunGrid({1}, {2}, [&] {
      __shared__ SharedArray<int, 1> value;
      if (threadIdx.x == 0) value[0] = 5;
      if (threadIdx.x == 1) read = value[0];
    });
    return read;
  };
  EXPECT_NE(sum(ThreadOrder::kForward), sum(ThreadOrder::kBackward));
}

// All threads of two warps read a shared value. Then thread 0 overwrites the
// value without a barrier, as soon as the warp of thread 0 has done its
// exchanges. In one of the two thread orders, the other warp reads the new
// value.
TEST(CudaEmulationOrderTest, AWarpRunsAheadOfOthersThroughItsExchanges) {
  for (const auto order : {ThreadOrder::kForward, ThreadOrder::kBackward}) {
    const ScopedThreadOrder scoped(order);
    std::vector<int> read(64);
    BlockRun::RunGrid({1}, {64}, [&] {
      __shared__ SharedArray<int, 1> value;
      if (threadIdx.x == 0) value[0] = 5;
      __syncthreads();
      read[threadIdx.x] = value[0];
      for (int step = 16; step > 0; step /= 2) __shfl_xor_sync(kAll, 1, step);
      if (threadIdx.x == 0) value[0] = 6;
    });
    // Thread 0 reads 5 and then changes the value to 6. Thread 40 is in the
    // other warp. In order kForward, the warp of thread 40 continues first
    // after the barrier, so thread 40 reads 5. In order kBackward, the warp of
    // thread 0 continues first, so thread 40 reads 6.
    EXPECT_EQ(read[0], 5);
    EXPECT_EQ(read[40], order == ThreadOrder::kForward ? 5 : 6);
  }
}

TEST_P(CudaEmulationTest, LanesExchangeWithinTheirWarp) {
  std::vector<double> sums(96);
  BlockRun::RunGrid({1}, {96}, [&] {
    double sum = threadIdx.x;
    for (int step = 16; step > 0; step /= 2) {
      sum += __shfl_xor_sync(kAll, sum, step);
    }
    sums[threadIdx.x] = sum;
  });
  for (size_t i = 0; i < sums.size(); ++i) {
    EXPECT_EQ(sums[i], 31 * 16 + 32 * 32 * static_cast<double>(i / 32));
  }
}

TEST_P(CudaEmulationTest, SharedMemoryIsNoNumberAtABlocksBegin) {
  std::vector<float> found(3);
  BlockRun::RunGrid({3}, {1}, [&] {
    __shared__ SharedArray<float, 1> value;
    found[blockIdx.x] = value[0];
    value[0] = 1;
  });
  for (const float value : found) EXPECT_TRUE(std::isnan(value));
}

using CudaEmulationDeathTest = CudaEmulationTest;

INSTANTIATE_TEST_SUITE_P(Orders, CudaEmulationDeathTest,
                         testing::Values(ThreadOrder::kForward,
                                         ThreadOrder::kBackward));

TEST_P(CudaEmulationDeathTest, ABarrierThatSomeDoNotComeTo) {
  EXPECT_DEATH(BlockRun::RunGrid({1}, {40},
                                 [] {
                                   if (threadIdx.x < 30) __syncthreads();
                                 }),
               "of 40 threads, 30 wait at the barrier of .*_test.cc:");
}

TEST_P(CudaEmulationDeathTest, BarriersInTwoPlaces) {
  const auto divergent = [] {
    if (threadIdx.x < 30) {
      __syncthreads();
    } else {
      __syncthreads();
    }
  };
  EXPECT_DEATH(BlockRun::RunGrid({1}, {40}, divergent),
               "at the barrier of .* and of ");
}

TEST_P(CudaEmulationDeathTest, AnExchangeThatSomeLanesDoNotComeTo) {
  EXPECT_DEATH(BlockRun::RunGrid({1}, {64},
                                 [] {
                                   if (threadIdx.x != 40)
                                     __shfl_xor_sync(kAll, 1, 1);
                                 }),
               "31 of warp 1 wait at the exchange of");
}

TEST_P(CudaEmulationDeathTest, AnExchangeInPartOfAWarp) {
  EXPECT_DEATH(
      BlockRun::RunGrid({1}, {20}, [] { __shfl_xor_sync(kAll, 1, 1); }),
      "without a whole warp");
}

TEST_P(CudaEmulationDeathTest, BeyondSharedMemory) {
  EXPECT_DEATH(BlockRun::RunGrid({1}, {32},
                                 [] {
                                   __shared__ SharedArray<float, 31> line;
                                   line[static_cast<int>(threadIdx.x)] = 0;
                                 }),
               "element 31 of 31 in shared memory");
}

TEST(CudaEmulationLaunchDeathTest, InvalidLaunchDies) {
  EXPECT_DEATH(BlockRun::RunGrid({1}, {1025}, [] {}), "1025 threads");
  EXPECT_DEATH(BlockRun::RunGrid({0}, {32}, [] {}), "without blocks");
  EXPECT_DEATH((void)threadIdx.x, "outside of a kernel");
}

}  // namespace
}  // namespace muster
