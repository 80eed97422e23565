#include "trainer_sdk/checkpoint/checkpoint_writer.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/testing/sharded_state.h"
#include "trainer_sdk/files/testing/memory_disk.h"
#include "trainer_sdk/process_group/operations.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kFolder[] = "/checkpoints";

CheckpointOptions In(FileSystem& disk, int keep = 2) {
  return {.directory = kFolder, .keep = keep, .file_system = &disk};
}

std::vector<CheckpointSlice> Slices(std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  return {WholeTensor({"a", {count}, values})};
}

// Saves a checkpoint of `step` and waits for the result.
absl::Status Save(CheckpointWriter& writer, int64_t step) {
  std::vector<float> values(6, static_cast<float>(step));
  const absl::Status status = writer.Save(step, Slices(values), "state");
  return status.ok() ? writer.Wait() : status;
}

std::set<std::string> Folders(MemoryDisk& disk) {
  const auto names = disk.List(kFolder);
  return {names->begin(), names->end()};
}

TEST(CheckpointWriterTest, KeepsTheLastOnes) {
  MemoryDisk disk;
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk, 3));
    if (!writer.ok()) return writer.status();
    for (int64_t step = 10; step <= 50; step += 10) {
      if (absl::Status s = Save(**writer, step); !s.ok()) return s;
    }
    EXPECT_EQ((*writer)->times().saves, 5);
    EXPECT_EQ((*writer)->times().bytes, 5 * 6 * 4 / 2);
    EXPECT_GE((*writer)->times().blocked, (*writer)->times().copied +
                                              (*writer)->times().compared +
                                              (*writer)->times().waited);
    EXPECT_GT((*writer)->times().compared, Duration::zero());
    EXPECT_GT((*writer)->times().written, Duration::zero());
    return absl::OkStatus();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  EXPECT_THAT(Folders(disk),
              ElementsAre("step-00000030", "step-00000040", "step-00000050"));
}

TEST(CheckpointWriterTest, AShapeThatItsMemoryDoesNotFillIsRefused) {
  MemoryDisk disk;
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    std::vector<float> values(6);
    return (*writer)->Save(1, {WholeTensor({"a", {7}, values})}, "");
  });
  EXPECT_TRUE(absl::IsInvalidArgument(statuses[0])) << statuses[0];
  EXPECT_THAT(std::string(statuses[0].message()),
              HasSubstr("tensor 'a' (float32 [7]) has elements, but nowhere"));
}

TEST(CheckpointWriterTest, TheNewestIsTheOneSavedLast) {
  MemoryDisk disk;
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk, 4));
    if (!writer.ok()) return writer.status();
    for (const int64_t step : {20, 30, 20, 10}) {
      if (absl::Status s = Save(**writer, step); !s.ok()) return s;
      const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
      if (!reader.ok()) return reader.status();
      EXPECT_EQ((*reader)->step(), step);
    }
    const auto again = CheckpointReader::Open(kFolder, 20, &disk);
    if (!again.ok()) return again.status();
    EXPECT_EQ((*again)->folder(), "/checkpoints/step-00000020.2");
    return absl::OkStatus();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  EXPECT_THAT(Folders(disk), ElementsAre("step-00000010", "step-00000020",
                                         "step-00000020.2", "step-00000030"));
}

TEST(CheckpointWriterTest, ARanksFailureIsEverybodysAtTheNextCall) {
  MemoryDisk disk;
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    if (absl::Status s = Save(**writer, 1); !s.ok()) return s;
    if (group.rank() == 0) disk.FillUp(disk.operations(), 1 << 20);
    if (auto s = group.Run(Barrier()); !s.ok()) return s;
    std::vector<float> values(6);
    absl::Status status = (*writer)->Save(2, Slices(values), "");
    EXPECT_TRUE(status.ok()) << status;
    // Only rank 1 calls Wait, which returns the error of the failed save. The
    // next Save returns this error on all ranks.
    if (group.rank() == 1) {
      status = (*writer)->Wait();
      EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
      EXPECT_THAT(status.message(),
                  AllOf(HasSubstr("the checkpoint of step 2 was not saved"),
                        HasSubstr("rank 0: cannot create /checkpoints/"),
                        HasSubstr("No space left")));
    }
    status = (*writer)->Save(3, Slices(values), "");
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_THAT(status.message(), HasSubstr("step 2 was not saved"));
    if (group.rank() == 0) disk.FillUp(0, 0);
    if (auto s = group.Run(Barrier()); !s.ok()) return s;
    return Save(**writer, 4);
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  EXPECT_THAT(Folders(disk), ElementsAre("step-00000001", "step-00000004"));
}

TEST(CheckpointWriterTest, MismatchOfRanksFailsOnAllAndBreaksNothing) {
  MemoryDisk disk;
  const struct {
    const char* reason;
    void (*spoil)(int64_t* step, std::vector<CheckpointSlice>* slices);
  } kCases[] = {
      {"rank 0 saves step 7, and rank 2 saves step 8",
       [](int64_t* step, auto*) { *step = 8; }},
      {"a checkpoint of step -1", [](int64_t* step, auto*) { *step = -1; }},
      {"rank 0 has tensor 'a' (float32 [6]), and rank 2 has tensor 'a' "
       "(float32 [2,3])",
       [](int64_t*, auto* slices) {
         (*slices)[0].tensor.shape = {2, 3};
       }},
      {"has no elements 0 to 7 of 6",
       [](int64_t*, auto* slices) { (*slices)[0].end = 7; }},
      {"has elements, but nowhere",
       [](int64_t*, auto* slices) { (*slices)[0].data = nullptr; }},
      {"has a name of 0 bytes",
       [](int64_t*, auto* slices) { (*slices)[0].tensor.name = ""; }},
      {"no tensor can have the name '\\xff'",
       [](int64_t*, auto* slices) { (*slices)[0].tensor.name = "\xff"; }},
      {"no tensor can have the name '__metadata__'",
       [](int64_t*, auto* slices) {
         (*slices)[0].tensor.name = "__metadata__";
       }},
      {"no rank has the elements 0 to 2 of tensor 'b' (float32 [6])",
       [](int64_t*, auto* slices) {
         slices->push_back((*slices)[0]);
         slices->back().tensor.name = "b";
         slices->back().begin = 2;
       }},
  };
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    for (const auto& [reason, spoil] : kCases) {
      std::vector<float> values(6);
      std::vector<CheckpointSlice> slices = Slices(values);
      int64_t step = 7;
      if (group.rank() == 2) spoil(&step, &slices);
      const absl::Status status = (*writer)->Save(step, slices, "");
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
      EXPECT_THAT(status.message(), HasSubstr(reason));
    }
    return Save(**writer, 9);
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  EXPECT_THAT(Folders(disk), ElementsAre("step-00000009"));
}

TEST(CheckpointWriterTest, ShardingMayChangeBetweenSaves) {
  MemoryDisk disk;
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    int64_t step = 0;
    for (const Sharding sharding : kShardings) {
      for (int again = 0; again < 2; ++again) {
        ShardedState state(sharding, group.rank(), group.size());
        state.Fill(++step);
        absl::Status s = (*writer)->Save(step, state.slices(), "");
        if (s.ok()) s = (*writer)->Wait();
        if (s.ok()) s = group.Run(Barrier());
        if (!s.ok()) return s;
        const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
        if (!reader.ok()) return reader.status();
        ShardedState all(Sharding::kReplicated, 0, 1);
        s = (*reader)->Read(all.slices());
        if (s.ok()) s = all.Check(step);
        if (s.ok()) s = group.Run(Barrier());
        if (!s.ok()) return s;
      }
    }
    return absl::OkStatus();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

TEST(CheckpointWriterTest, AbsentRankIsNamed) {
  MemoryDisk disk;
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    CheckpointOptions options = In(disk);
    auto writer = CheckpointWriter::Create(group, options);
    if (!writer.ok()) return writer.status();
    if (absl::Status s = Save(**writer, 1); !s.ok()) return s;
    writer->reset();
    options.timeout = std::chrono::seconds(5);
    if (group.rank() == 2) {
      // Rank 2 creates its writer but never calls Save. So Save must fail on
      // the other ranks and name rank 2.
      writer = CheckpointWriter::Create(group, options);
      return writer.status();
    }
    writer = CheckpointWriter::Create(group, options);
    if (!writer.ok()) return writer.status();
    return Save(**writer, 2);
  });
  for (int rank = 0; rank < 2; ++rank) {
    const absl::Status& status = statuses[static_cast<size_t>(rank)];
    EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
    EXPECT_THAT(status.message(), HasSubstr("rank 2")) << status;
  }
  EXPECT_THAT(Folders(disk), ElementsAre("step-00000001"));
}

TEST(CheckpointWriterTest, AllRanksMustReachOneFolder) {
  MemoryDisk first;
  MemoryDisk second;
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
    return CheckpointWriter::Create(group,
                                    In(group.rank() == 0 ? first : second))
        .status();
  });
  for (const absl::Status& status : statuses) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(status.message(),
                HasSubstr("rank 1: does not see what rank 0 writes in "
                          "/checkpoints"));
  }
  EXPECT_TRUE(Folders(first).empty());
}

TEST(CheckpointWriterTest, TwoJobsDoNotShareAFolder) {
  std::string path = testing::TempDir() + "/checkpoint-XXXXXX";
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  const auto statuses = RunWorld(1, [&](ProcessGroup& group) -> absl::Status {
    const CheckpointOptions options = {
        .directory = path, .timeout = std::chrono::milliseconds(50)};
    auto writer = CheckpointWriter::Create(group, options);
    if (!writer.ok()) return writer.status();
    const auto other = CheckpointWriter::Create(group, options);
    EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(other.status().message(),
                AllOf(HasSubstr("another job writes in " + path),
                      HasSubstr(absl::StrCat("process ", getpid()))));
    writer->reset();
    return CheckpointWriter::Create(group, options).status();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
}

// A disk that records the deadlines passed to Lock.
class TimeoutDisk : public MemoryDisk {
 public:
  absl::StatusOr<std::unique_ptr<FolderLock>> Lock(
      const std::string& folder, LockDeadlines deadlines) override {
    deadlines_ = deadlines;
    return MemoryDisk::Lock(folder, deadlines);
  }
  LockDeadlines deadlines() const { return deadlines_; }

 private:
  LockDeadlines deadlines_{};
};

TEST(CheckpointWriterTest, TheLockOfALostNodeIsWaitedForToItsEnd) {
  TimeoutDisk disk;
  CheckpointOptions options = In(disk);
  const auto create = [&](ProcessGroup& group) {
    return CheckpointWriter::Create(group, options).status();
  };
  const Instant before = MonotonicNow();
  ASSERT_TRUE(FirstFailure(RunWorld(2, create)).ok());
  // If the lock's owner is on another host, rank 0 waits longer than the lease
  // of an NFS server, 90 s.
  EXPECT_GE(disk.deadlines().elsewhere - before, std::chrono::seconds(120));
  EXPECT_LE(disk.deadlines().here - MonotonicNow(), std::chrono::seconds(10));
  // Rank 0 waits for the lock for at most half of a short timeout, so that it
  // can report the owner before the other ranks time out.
  options.timeout = std::chrono::seconds(16);
  ASSERT_TRUE(FirstFailure(RunWorld(2, create)).ok());
  EXPECT_LE(disk.deadlines().elsewhere - MonotonicNow(),
            std::chrono::seconds(8));
  EXPECT_LE(disk.deadlines().here - MonotonicNow(), std::chrono::seconds(8));
}

TEST(CheckpointWriterTest, LeftoverThatCannotBeClearedBlocksNoSave) {
  MemoryDisk disk;
  const std::string stuck = absl::StrCat(kFolder, "/.removing-step-00000001");
  ASSERT_TRUE(disk.CreateFolders(stuck).ok());
  disk.KeepBusy(stuck);
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    if (group.rank() == 0) {
      EXPECT_THAT((*writer)->left_over(),
                  ElementsAre(AllOf(HasSubstr(stuck), HasSubstr("busy"))));
      disk.KeepBusy("");
    } else {
      EXPECT_THAT((*writer)->left_over(), ElementsAre());
    }
    return Save(**writer, 7);
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  EXPECT_THAT(Folders(disk), ElementsAre("step-00000007"));
}

TEST(CheckpointWriterTest, OptionsAreChecked) {
  MemoryDisk disk;
  for (const auto& wrong :
       {std::pair("", 1), std::pair("/a", 0), std::pair("/a", -1)}) {
    const auto statuses = RunWorld(2, [&](ProcessGroup& group) {
      CheckpointOptions options = In(disk);
      if (group.rank() == 1) {
        options.directory = wrong.first;
        options.keep = wrong.second;
      }
      return CheckpointWriter::Create(group, options).status();
    });
    for (const absl::Status& status : statuses) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    }
  }
}

// A disk on which creating a shard file blocks until the test calls Open.
class GatedDisk : public MemoryDisk {
 public:
  absl::StatusOr<std::unique_ptr<OutputFile>> CreateFile(
      const std::string& path) override {
    std::unique_lock lock(mutex_);
    if (path.find(".safetensors") != std::string::npos) {
      opened_.wait(lock, [&] { return open_; });
    }
    lock.unlock();
    return MemoryDisk::CreateFile(path);
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;
};

TEST(CheckpointWriterTest, TrainingGoesOnWhileItIsWritten) {
  GatedDisk disk;
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    ShardedState state(Sharding::kMixed, group.rank(), group.size());
    state.Fill(1);
    std::string text = "after 1";
    absl::Status status = (*writer)->Save(1, state.slices(), text);
    if (!status.ok()) return status;
    // Save has returned although the disk blocks. From here on, changes of the
    // caller's data must not reach the checkpoint.
    text = "changed";
    for (int64_t step = 2; step < 20; ++step) state.Fill(step);
    disk.Open();
    state.Fill(20);
    return (*writer)->Wait();
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->state(), "after 1");
  ShardedState all(Sharding::kReplicated, 0, 1);
  ASSERT_TRUE((*reader)->Read(all.slices()).ok());
  EXPECT_TRUE(all.Check(1).ok()) << all.Check(1);
}

TEST(CheckpointWriterTest, ItsEndFinishesWhatIsUnderWay) {
  MemoryDisk disk;
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(group, In(disk));
    if (!writer.ok()) return writer.status();
    std::vector<float> values(6);
    return (*writer)->Save(5, Slices(values), std::string("\0\xff", 2));
  });
  EXPECT_TRUE(FirstFailure(statuses).ok()) << FirstFailure(statuses);
  const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->state(), std::string("\0\xff", 2));
}

}  // namespace
}  // namespace muster
