#include "models/gpt_cuda/contiguous_buckets.h"

#include <tuple>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::cuda {
namespace {

using Tuples = std::vector<std::tuple<int, int, int64_t, int64_t>>;

Tuples Cut(const std::vector<int64_t>& offsets, int64_t total,
           int64_t first_count, int64_t count) {
  Tuples all;
  for (const ContiguousBucket& bucket :
       BucketsFromTheEnd(offsets, total, first_count, count)) {
    all.emplace_back(bucket.first, bucket.last, bucket.begin, bucket.end);
  }
  return all;
}

TEST(ContiguousBucketsTest, ASmallOneFirstAndTheRestLast) {
  EXPECT_EQ(Cut({0, 5, 10, 20, 25}, 30, 4, 12),
            (Tuples{{4, 5, 25, 30}, {2, 4, 10, 25}, {0, 2, 0, 10}}));
}

TEST(ContiguousBucketsTest, ALargeTensorIsOneBucket) {
  EXPECT_EQ(Cut({0, 1, 100}, 101, 1, 10),
            (Tuples{{2, 3, 100, 101}, {1, 2, 1, 100}, {0, 1, 0, 1}}));
  EXPECT_EQ(Cut({0}, 7, 10, 10), (Tuples{{0, 1, 0, 7}}));
  EXPECT_EQ(Cut({}, 0, 10, 10), Tuples{});
}

TEST(BucketTrackerTest, BucketsAreFullInTheirOrderWhateverComesFirst) {
  BucketTracker tracker(BucketsFromTheEnd({0, 5, 10, 20, 25}, 30, 4, 12));
  for (int pass = 0; pass < 2; ++pass) {
    tracker.Begin();
    EXPECT_EQ(tracker.MarkReady(2), 0);
    EXPECT_EQ(tracker.MarkReady(3), 0);
    EXPECT_EQ(tracker.MarkReady(0), 0);
    // The first bucket is full, and the second, which waited for it.
    EXPECT_EQ(tracker.MarkReady(4), 2);
    EXPECT_EQ(tracker.full(), 2);
    EXPECT_EQ(tracker.MarkReady(1), 1);
    EXPECT_EQ(tracker.full(), 3);
  }
}

TEST(BucketTrackerDeathTest, TwiceInOnePass) {
  BucketTracker tracker(BucketsFromTheEnd({0, 5}, 10, 100, 100));
  tracker.MarkReady(1);
  EXPECT_DEATH(tracker.MarkReady(1), "a second time");
  EXPECT_DEATH(tracker.MarkReady(2), "or is none");
}

}  // namespace
}  // namespace muster::cuda
