#include "trainer_sdk/flight_recorder/flight_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/monotonic_clock.h"
#include "base/testing/rounding.h"
#include "trainer_sdk/flight_recorder/flight_files.h"
#include "trainer_sdk/process_group/operation.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

OperationSignature Sum(uint64_t sequence) {
  return SignatureOf(AllReduce(nullptr, nullptr, 4, DType::kFloat32), sequence);
}

Instant At(int64_t milliseconds) {
  return Instant(std::chrono::milliseconds(milliseconds));
}

// Returns the largest rounding error of the difference between two times in
// `log`. A time is in seconds since 1970, converted from nanoseconds to a
// double.
double Rounding(const FlightLog& log) {
  return RoundingBound<double>(2, log.groups[0].made);
}

class FlightRecorderTest : public testing::Test {
 protected:
  FlightRecorderTest() {
    std::string pattern = testing::TempDir() + "/flightXXXXXX";
    directory_ = mkdtemp(pattern.data());
  }
  ~FlightRecorderTest() override { std::filesystem::remove_all(directory_); }

  FlightRecorder::Options Options() const {
    FlightRecorder::Options options;
    options.rank = 1;
    options.world_size = 2;
    options.directory = directory_;
    return options;
  }
  std::vector<FlightLog> Logs() const {
    const auto logs = ReadFlight({directory_});
    EXPECT_TRUE(logs.ok()) << logs.status();
    return logs.ok() ? logs->logs : std::vector<FlightLog>();
  }

  std::string directory_;
};

TEST_F(FlightRecorderTest, HoldsWhatWasRecorded) {
  FlightRecorder recorder({});
  const int world = recorder.AddGroup("world", 0, 2, {0, 1}, 0, At(1));
  const uint64_t done = recorder.QueueAndStart(world, Sum(1), 16, At(1000));
  recorder.End(done, At(1500), absl::StatusCode::kOk);
  const uint64_t failed = recorder.Queue(world, Sum(2), 16, At(2000));
  recorder.Start(failed, At(2100));
  recorder.End(failed, At(2500), absl::StatusCode::kUnavailable);
  recorder.Queue(world, Sum(3), 16, At(3000));

  const FlightLog log = recorder.Snapshot();
  EXPECT_EQ(log.pid, getpid());
  ASSERT_THAT(log.groups, SizeIs(1));
  EXPECT_EQ(log.groups[0].name, "world");
  EXPECT_THAT(log.groups[0].members, ElementsAre(0, 1));
  ASSERT_THAT(log.records, SizeIs(3));
  EXPECT_EQ(log.records[0].signature, Sum(1));
  EXPECT_EQ(log.records[0].bytes, 16);
  EXPECT_NEAR(log.records[0].ended - log.records[0].started, 0.5,
              Rounding(log));
  EXPECT_EQ(log.records[1].status, absl::StatusCode::kUnavailable);
  EXPECT_NEAR(log.records[1].started - log.records[1].queued, 0.1,
              Rounding(log));
  EXPECT_EQ(log.records[2].started, 0);
  EXPECT_EQ(log.records[2].ended, 0);
  EXPECT_EQ(log.written, log.records[2].queued);
}

TEST_F(FlightRecorderTest, ReadersSeeWhetherItsProcessLives) {
  const auto runs = [this] {
    const auto flight = ReadFlight({directory_});
    EXPECT_TRUE(flight.ok()) << flight.status();
    return flight.ok() && flight->running;
  };
  const pid_t child = fork();
  if (child == 0) {
    FlightRecorder recorder(Options());
    if (!runs()) _exit(1);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << status;
  EXPECT_FALSE(runs()) << "killed";
  {
    FlightRecorder recorder(Options());
    EXPECT_TRUE(runs()) << "another in its place";
    std::filesystem::rename(directory_ + "/rank_1.ring", directory_ + "/r");
    std::filesystem::copy_file(directory_ + "/r", directory_ + "/rank_1.ring");
    EXPECT_FALSE(runs()) << "a copy";
    std::filesystem::rename(directory_ + "/r", directory_ + "/rank_1.ring");
  }
  EXPECT_FALSE(runs()) << "closed";
}

TEST_F(FlightRecorderTest, ABatchOfSeveralTypesComesBack) {
  FlightRecorder recorder(Options());
  const int world = recorder.AddGroup("world", 1, 2, {0, 1}, 0, At(1));
  const Operation batch =
      Batch({BatchSend(nullptr, 1000, DType::kFloat64, 0),
             BatchReceive(nullptr, 1000, DType::kFloat32, 300000),
             BatchReceive(nullptr, 0, DType::kFloat32, 7)});
  const OperationSignature signature = SignatureOf(batch, 7);
  const uint64_t number = recorder.QueueAndStart(world, signature, 12000, At(1),
                                                 BatchPeersOf(batch));
  recorder.End(number, At(2), absl::StatusCode::kUnavailable);
  ASSERT_TRUE(recorder.Dump("").ok());
  for (const char* file : {"/rank_1.ring", "/rank_1.json"}) {
    const auto flight = ReadFlight({directory_ + file});
    ASSERT_TRUE(flight.ok()) << flight.status();
    EXPECT_EQ(flight->logs[0].records[0].signature, signature) << file;
    EXPECT_THAT(flight->logs[0].records[0].peers, ElementsAre(0, 300000, 7));
    EXPECT_EQ(flight->logs[0].records[0].status,
              absl::StatusCode::kUnavailable);
  }
}

TEST_F(FlightRecorderTest, ASplitComesBack) {
  FlightRecorder recorder(Options());
  const int world = recorder.AddGroup("world", 1, 2, {0, 1}, 0, At(1));
  OperationSignature signature;
  signature.kind = OperationKind::kSplit;
  signature.sequence = 3;
  recorder.QueueAndStart(world, signature, 0, At(1));
  ASSERT_TRUE(recorder.Dump("").ok());
  for (const char* file : {"/rank_1.ring", "/rank_1.json"}) {
    const auto flight = ReadFlight({directory_ + file});
    ASSERT_TRUE(flight.ok()) << flight.status();
    ASSERT_THAT(flight->logs[0].records, SizeIs(1)) << file;
    EXPECT_EQ(flight->logs[0].records[0].signature, signature) << file;
  }
}

TEST_F(FlightRecorderTest, KeepsTheLastOnes) {
  FlightRecorder recorder({});
  const int world = recorder.AddGroup("world", 0, 1, {0}, 0, At(1));
  const uint64_t first = recorder.QueueAndStart(world, Sum(1), 16, At(1));
  for (uint64_t i = 2; i <= kRingSlots + 10; i++) {
    recorder.QueueAndStart(world, Sum(i), 16, At(1));
  }
  // The slot of the record `first` has been reused for a newer record, so End
  // must not change the slot.
  recorder.End(first, At(2), absl::StatusCode::kAborted);
  const FlightLog log = recorder.Snapshot();
  ASSERT_THAT(log.records, SizeIs(kRingSlots));
  EXPECT_EQ(log.records.front().signature.sequence, 11u);
  EXPECT_EQ(log.records.back().signature.sequence, kRingSlots + 10u);
  EXPECT_EQ(log.records.back().ended, 0);
}

TEST_F(FlightRecorderTest, EveryGroupHasAPlaceOfItsOwn) {
  FlightRecorder recorder({});
  const int first = recorder.AddGroup("world", 0, 1, {0}, 1, At(1000));
  const int second = recorder.AddGroup("world", 0, 1, {0}, 2, At(2500));
  recorder.QueueAndStart(first, Sum(1), 16, At(2000));
  recorder.QueueAndStart(second, Sum(1), 16, At(3000));
  const FlightLog log = recorder.Snapshot();
  ASSERT_THAT(log.groups, SizeIs(2));
  EXPECT_EQ(log.groups[0].birth, 1u);
  EXPECT_EQ(log.groups[1].birth, 2u);
  EXPECT_NEAR(log.groups[1].made - log.groups[0].made, 1.5, Rounding(log));
  ASSERT_THAT(log.records, SizeIs(2));
  EXPECT_EQ(log.records[0].group, 0);
  EXPECT_EQ(log.records[1].group, 1);
}

TEST_F(FlightRecorderTest, GroupsBeyondTheTableShareTheLastPlace) {
  FlightRecorder recorder({});
  int last = 0;
  for (int i = 0; i < 2 * kRingGroups; i++) {
    last = recorder.AddGroup("g" + std::to_string(i), 0, 1, {0}, 0, At(i + 1));
  }
  recorder.QueueAndStart(last, Sum(1), 16, At(1000));
  const FlightLog log = recorder.Snapshot();
  ASSERT_THAT(log.groups, SizeIs(kRingGroups));
  EXPECT_EQ(log.groups.front().name, "g0");
  EXPECT_EQ(log.groups.back().name, "(further groups)");
  ASSERT_THAT(log.records, SizeIs(1));
  EXPECT_EQ(log.records[0].group, kRingGroups - 1);
}

TEST_F(FlightRecorderTest, RemovedGroupsMakeRoomTheOldestFirst) {
  FlightRecorder recorder({});
  const int world = recorder.AddGroup("world", 0, 1, {0}, 0, At(1));
  std::vector<int> made;
  for (int i = 0; i < 3 * kRingGroups; i++) {
    made.push_back(recorder.AddGroup("again", 0, 1, {0}, i, At(i + 2)));
    recorder.QueueAndStart(made.back(), Sum(1), i, At(i + 2));
    recorder.RemoveGroup(made.back());
  }
  recorder.QueueAndStart(world, Sum(7), 16, At(5000));
  const FlightLog log = recorder.Snapshot();
  // One of the kRingGroups entries is reserved for all groups that get no entry
  // of their own.
  ASSERT_THAT(log.groups, SizeIs(kRingGroups - 1));
  EXPECT_EQ(log.groups.front().name, "world");
  EXPECT_EQ(log.groups.back().birth, 3u * kRingGroups - 1);
  // The entries of removed groups were reused for later groups. The records of
  // a removed group must be dropped, not attributed to the later group.
  ASSERT_THAT(log.records, SizeIs(kRingGroups - 1));
  for (const FlightRecord& record : log.records) {
    if (record.group == 0) continue;
    EXPECT_EQ(static_cast<uint64_t>(record.bytes),
              log.groups[record.group].birth);
  }
  EXPECT_EQ(log.records.back().group, 0);
}

TEST_F(FlightRecorderTest, WholeRecordsAreReadBesideTheWriters) {
  FlightRecorder recorder({});
  const int world = recorder.AddGroup("world", 0, 1, {0}, 0, At(1));
  std::atomic<bool> stop{false};
  std::vector<std::thread> writers;
  writers.reserve(2);
  for (int writer = 0; writer < 2; writer++) {
    writers.emplace_back([&] {
      for (uint64_t i = 1; !stop; i++) {
        OperationSignature signature = Sum(i);
        signature.count = static_cast<int64_t>(i);
        recorder.QueueAndStart(world, signature, static_cast<int64_t>(i),
                               At(static_cast<int64_t>(i)));
      }
    });
  }
  for (int i = 0; i < 20; i++) {
    for (const FlightRecord& record : recorder.Snapshot().records) {
      ASSERT_EQ(record.signature.sequence,
                static_cast<uint64_t>(record.signature.count));
      ASSERT_EQ(record.bytes, record.signature.count);
    }
  }
  stop = true;
  for (std::thread& writer : writers) writer.join();
}

TEST_F(FlightRecorderTest, DumpsWithTheFirstReason) {
  FlightRecorder recorder(Options());
  const int world = recorder.AddGroup("world", 1, 2, {0, 1}, 0, At(1));
  recorder.QueueAndStart(world, Sum(1), 16, At(1000));
  ASSERT_TRUE(recorder.Fail("world", "rank 0 died").ok());
  ASSERT_TRUE(recorder.Fail("world/dp:0", "everything broke").ok());
  EXPECT_TRUE(std::filesystem::exists(directory_ + "/rank_1.json"));
  std::filesystem::remove(directory_ + "/rank_1.ring");
  const std::vector<FlightLog> logs = Logs();
  ASSERT_THAT(logs, SizeIs(1));
  EXPECT_EQ(logs[0].rank, 1);
  EXPECT_EQ(logs[0].reason, "rank 0 died");
  ASSERT_THAT(logs[0].records, SizeIs(1));
  EXPECT_EQ(logs[0].records[0].signature, Sum(1));
  EXPECT_THAT(logs[0].groups[0].members, ElementsAre(0, 1));
}

TEST_F(FlightRecorderTest, AFailureIsOverWhenItsGroupIsMadeAgain) {
  FlightRecorder recorder(Options());
  const auto make = [&](const std::string& name) {
    recorder.AddGroup(name, 1, 2, {0, 1}, 0, MonotonicNow());
  };
  const auto reason = [&] {
    EXPECT_EQ(Logs()[0].reason, recorder.Snapshot().reason);
    return recorder.Snapshot().reason;
  };
  make("world");
  ASSERT_TRUE(recorder.Fail("world/dp:0", "rank 0 died").ok());
  make("world/dp");
  make("w");
  EXPECT_EQ(reason(), "rank 0 died") << "it is neither's part";
  // A new group with the name of the failed one: the recorder forgets the
  // reason of the failure. A dump that is already on the disk keeps the reason.
  make("world/dp:0");
  EXPECT_EQ(reason(), "");
  ASSERT_TRUE(recorder.Fail("world/dp:0", "rank 0 died again").ok());
  EXPECT_EQ(reason(), "rank 0 died again");
  make("world");
  EXPECT_EQ(reason(), "");
}

TEST_F(FlightRecorderTest, ADumpThatIsAskedForIsNoFailure) {
  FlightRecorder recorder(Options());
  ASSERT_TRUE(recorder.Dump("a look").ok());
  std::filesystem::remove(directory_ + "/rank_1.ring");
  ASSERT_THAT(Logs(), SizeIs(1));
  EXPECT_EQ(Logs()[0].reason, "");
  EXPECT_EQ(Logs()[0].request, "a look");
  ASSERT_TRUE(recorder.Fail("world", "rank 0 died").ok());
  ASSERT_TRUE(recorder.Dump("another look").ok());
  EXPECT_EQ(Logs()[0].reason, "rank 0 died");
  EXPECT_EQ(Logs()[0].request, "another look");
}

TEST_F(FlightRecorderTest, AKilledProcessLeavesItsRing) {
  const pid_t child = fork();
  if (child == 0) {
    FlightRecorder recorder(Options());
    const int world = recorder.AddGroup("world", 1, 2, {0, 1}, 0, At(1));
    recorder.QueueAndStart(world, Sum(7), 16, At(1000));
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  const std::vector<FlightLog> logs = Logs();
  ASSERT_THAT(logs, SizeIs(1));
  EXPECT_EQ(logs[0].pid, child);
  EXPECT_EQ(logs[0].reason, "");
  EXPECT_FALSE(logs[0].closed);
  ASSERT_THAT(logs[0].records, SizeIs(1));
  EXPECT_TRUE(logs[0].records[0].in_progress());
}

TEST_F(FlightRecorderTest, AnOrderlyEndIsSeen) {
  { FlightRecorder recorder(Options()); }
  ASSERT_THAT(Logs(), SizeIs(1));
  EXPECT_TRUE(Logs()[0].closed);
}

TEST_F(FlightRecorderTest, GoesOnWithoutADirectoryThatItCannotWrite) {
  FlightRecorder::Options options = Options();
  options.directory = "/proc/nowhere";
  FlightRecorder recorder(options);
  const int world = recorder.AddGroup("world", 0, 1, {0}, 0, At(1));
  recorder.QueueAndStart(world, Sum(1), 16, At(1));
  EXPECT_THAT(recorder.Snapshot().records, SizeIs(1));
  EXPECT_THAT(std::string(recorder.Dump("x").message()),
              HasSubstr("/proc/nowhere"));
}

TEST_F(FlightRecorderTest, MembersComeBackFromTheirText) {
  EXPECT_EQ(EncodeMembers({0, 1, 2, 3, 8, 6, 7}), "0-3,8,6-7");
  EXPECT_THAT(DecodeMembers("0-3,8,6-7"), ElementsAre(0, 1, 2, 3, 8, 6, 7));
  for (const char* text : {"", "x", "3-1", "1-2-3", "0-99999999", "-1", "1,"}) {
    EXPECT_THAT(DecodeMembers(text), IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace muster
