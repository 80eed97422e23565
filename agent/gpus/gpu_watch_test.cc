#include "agent/gpus/gpu_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster::agent {
namespace {

using std::chrono::milliseconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr char kFake[] = "agent/gpus/libfake_nvml.so";
constexpr Duration kTimeout = std::chrono::seconds(30);

class GpuWatchTest : public ::testing::Test {
 protected:
  ~GpuWatchTest() override {
    for (const char* name : {"FAKE_NVML_GPUS", "FAKE_NVML_INIT",
                             "FAKE_NVML_SET", "FAKE_NVML_HANG"}) {
      unsetenv(name);
    }
  }
  void Set(const char* name, const char* value) { setenv(name, value, 1); }

  GpuWatch::Options OptionsOf() {
    return {.library = kFake, .interval = milliseconds(20)};
  }

  void Follow(GpuWatch& watch) {
    watch.Follow([this](const XidSeen& xid) {
      std::lock_guard<std::mutex> lock(mutex_);
      xids_.push_back(xid);
      changed_.notify_all();
    });
  }

  // Waits until `count` Xids were reported, or kTimeout has passed. Returns all
  // Xids that were reported.
  std::vector<XidSeen> AwaitXids(size_t count) {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait_until(lock, ToSteady(MonotonicNow() + kTimeout),
                        [&] { return xids_.size() >= count; });
    return xids_;
  }

  // Calls Look until the condition `holds` accepts the snapshot, or kTimeout
  // has passed. Returns the newest snapshot.
  template <typename Condition>
  GpuSnapshot LookUntil(GpuWatch& watch, Condition holds) {
    const Instant deadline = MonotonicNow() + kTimeout;
    GpuSnapshot snapshot = watch.Look();
    while (!holds(snapshot) && MonotonicNow() < deadline) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait_for(lock, milliseconds(5));
      snapshot = watch.Look();
    }
    return snapshot;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<XidSeen> xids_;  // guarded by mutex_
};

TEST_F(GpuWatchTest, ANodeWithoutADriverHasNoReading) {
  GpuWatch::Options options = OptionsOf();
  options.library = "libno-such-library.so.1";
  GpuWatch watch(options);
  const GpuSnapshot snapshot = LookUntil(
      watch, [](const GpuSnapshot& seen) { return !seen.age.has_value(); });
  EXPECT_FALSE(snapshot.age.has_value());
  EXPECT_THAT(snapshot.gpus, IsEmpty());
}

TEST_F(GpuWatchTest, ValuesAreReadAgainWhileSomebodyLooks) {
  Set("FAKE_NVML_GPUS", "2");
  GpuWatch watch(OptionsOf());
  const GpuSnapshot first = LookUntil(
      watch, [](const GpuSnapshot& seen) { return !seen.gpus.empty(); });
  ASSERT_THAT(first.gpus, SizeIs(2));
  EXPECT_EQ(first.gpus[1].uuid, "GPU-1");
  const Instant read_at = MonotonicNow() - *first.age;
  const GpuSnapshot later = LookUntil(watch, [&](const GpuSnapshot& seen) {
    return MonotonicNow() - *seen.age > read_at + milliseconds(15);
  });
  EXPECT_GT(MonotonicNow() - *later.age, read_at + milliseconds(15));
}

TEST_F(GpuWatchTest, ReadingsStopWhileNobodyLooks) {
  Set("FAKE_NVML_GPUS", "1");
  GpuWatch::Options options = OptionsOf();
  options.interval = milliseconds(1);
  // With an idle time of zero, the watch must read the GPUs only once. The
  // later calls of Look must not start another reading.
  options.idle_after = Duration::zero();
  GpuWatch watch(options);
  const GpuSnapshot first = LookUntil(
      watch, [](const GpuSnapshot& seen) { return !seen.gpus.empty(); });
  const Instant read_at = MonotonicNow() - *first.age;
  const GpuSnapshot later = LookUntil(watch, [](const GpuSnapshot& seen) {
    return *seen.age > milliseconds(200);
  });
  EXPECT_LT(MonotonicNow() - *later.age, read_at + milliseconds(50));
}

TEST_F(GpuWatchTest, EachXidIsReportedAndCounted) {
  Set("FAKE_NVML_GPUS", "3");
  Set("FAKE_NVML_SET", "1.xid=79,2.unsupported=1");
  GpuWatch watch(OptionsOf());
  Follow(watch);
  const std::vector<XidSeen> seen = AwaitXids(1);
  ASSERT_THAT(seen, SizeIs(1));
  EXPECT_EQ(seen[0].xid, 79);
  EXPECT_EQ(seen[0].gpu, 1);
  EXPECT_EQ(seen[0].uuid, "GPU-1");
  const GpuSnapshot snapshot = watch.Look();
  // The driver reports no Xids for GPU 2. So the snapshot must have entries for
  // GPU 0 and GPU 1 only.
  ASSERT_THAT(snapshot.xids, SizeIs(2));
  EXPECT_EQ(snapshot.xids[0].counts, XidCounts());
  EXPECT_EQ(snapshot.xids[1].index, 1);
  EXPECT_EQ(snapshot.xids[1].counts.last, 79);
  EXPECT_EQ(snapshot.xids[1].counts.by_kind[0], 1);
}

TEST_F(GpuWatchTest, XidsThatNobodyHasFollowedAreToldLater) {
  Set("FAKE_NVML_GPUS", "2");
  Set("FAKE_NVML_SET", "xid=48");
  GpuWatch watch(OptionsOf());
  LookUntil(watch, [](const GpuSnapshot& seen) {
    return seen.xids.size() == 2 && seen.xids[0].counts.last == 48 &&
           seen.xids[1].counts.last == 48;
  });
  Follow(watch);
  EXPECT_THAT(AwaitXids(2), SizeIs(2));
  // Sets the callback again. The watch has already reported both Xids, so it
  // must not report them to the new callback: AwaitXids must find two, not
  // four.
  Follow(watch);
  EXPECT_THAT(AwaitXids(2), SizeIs(2));
}

TEST_F(GpuWatchTest, ALibraryThatFailsMakesTheReadingOld) {
  Set("FAKE_NVML_INIT", "18");
  GpuWatch watch(OptionsOf());
  const GpuSnapshot snapshot = LookUntil(watch, [](const GpuSnapshot& seen) {
    return seen.age > milliseconds(100);
  });
  EXPECT_GT(snapshot.age, milliseconds(100));
  EXPECT_THAT(snapshot.gpus, IsEmpty());
}

// The driver hangs, so the threads of its calls cannot end. The test leaves
// them behind, and they end with this process.
TEST_F(GpuWatchTest, NeitherLookNorDestructionWaitsForADriverThatHangs) {
  Set("FAKE_NVML_GPUS", "1");
  for (const char* where : {"1", "2"}) {
    Set("FAKE_NVML_HANG", where);
    std::optional<GpuWatch> watch(OptionsOf());
    const GpuSnapshot snapshot = LookUntil(*watch, [](const GpuSnapshot& seen) {
      return seen.age > milliseconds(100);
    });
    EXPECT_GT(snapshot.age, milliseconds(100));
    EXPECT_THAT(snapshot.gpus, IsEmpty());
    const Instant begin = MonotonicNow();
    watch.reset();
    EXPECT_LT(MonotonicNow() - begin, std::chrono::seconds(10));
  }
}

}  // namespace
}  // namespace muster::agent
