#include "trainer_sdk/store/store_barrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "trainer_sdk/store/in_process_store.h"

namespace muster {
namespace {

using testing::HasSubstr;

Instant Soon() { return MonotonicNow() + std::chrono::milliseconds(20); }
Instant Late() { return MonotonicNow() + std::chrono::seconds(30); }

template <typename Run>
void OnEachRank(int size, Run run) {
  std::vector<std::thread> threads;
  threads.reserve(size);
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([run, rank] { run(rank); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(StoreBarrier, NoRankPassesBeforeAllArrive) {
  constexpr int kSize = 5, kTimes = 20;
  InProcessStore store;
  std::atomic<int> came = 0;
  OnEachRank(kSize, [&](int rank) {
    // The barrier must work if all ranks use the same name again without a
    // pause.
    for (int time = 1; time <= kTimes; ++time) {
      ++came;
      absl::Status passed = StoreBarrier(store, "b", rank, kSize, Late());
      EXPECT_TRUE(passed.ok()) << passed;
      EXPECT_GE(came, time * kSize);
    }
  });
  EXPECT_EQ(came, kSize * kTimes);
}

TEST(StoreBarrier, ATimeoutNamesTheAbsent) {
  InProcessStore store;
  absl::Status late = StoreBarrier(store, "start", 2, 8, Soon());
  EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
  EXPECT_THAT(std::string(late.message()),
              HasSubstr("barrier 'start': rank 2 waited"));
  EXPECT_THAT(std::string(late.message()), HasSubstr("ranks 0-1, 3-7 of 8"));
}

TEST(StoreBarrier, RetryAfterATimeoutIsCountedOnce) {
  InProcessStore store;
  EXPECT_FALSE(StoreBarrier(store, "b", 0, 2, Soon()).ok());
  // This second call of rank 0, after its first call timed out, must not count
  // as the arrival of a second rank.
  absl::Status late = StoreBarrier(store, "b", 0, 2, Soon());
  EXPECT_THAT(std::string(late.message()), HasSubstr("rank 1 of 2"));

  std::thread other(
      [&store] { EXPECT_TRUE(StoreBarrier(store, "b", 1, 2, Late()).ok()); });
  EXPECT_TRUE(StoreBarrier(store, "b", 0, 2, Late()).ok());
  other.join();
  // The first use of the barrier is over. So this further call, of rank 1
  // alone, must time out.
  EXPECT_FALSE(StoreBarrier(store, "b", 1, 2, Soon()).ok());
}

TEST(StoreBarrier, NamesDoNotMeet) {
  InProcessStore store;
  EXPECT_FALSE(StoreBarrier(store, "a", 0, 2, Soon()).ok());
  EXPECT_FALSE(StoreBarrier(store, "b", 1, 2, Soon()).ok());
}

TEST(StoreBarrier, AloneOneIsComplete) {
  InProcessStore store;
  EXPECT_TRUE(StoreBarrier(store, "b", 0, 1, MonotonicNow()).ok());
}

TEST(StoreBarrier, ARankThatCannotBeIsRefused) {
  InProcessStore store;
  for (auto [rank, size] : {std::pair(2, 2), {-1, 2}, {0, 0}}) {
    absl::Status refused = StoreBarrier(store, "b", rank, size, Late());
    EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  }
}

}  // namespace
}  // namespace muster
