// Tests that any changed bit of a checkpoint is detected, and that the previous
// checkpoint is opened instead.

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/checkpoint/checkpoint_reader.h"
#include "trainer_sdk/checkpoint/checkpoint_writer.h"
#include "trainer_sdk/files/testing/memory_disk.h"
#include "trainer_sdk/process_group/testing/group_fixture.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kFolder[] = "/checkpoints";
constexpr int64_t kElements = 6;

std::vector<CheckpointSlice> Slices(std::vector<float>& values) {
  return {WholeTensor({"a", {kElements}, values})};
}

// A fixture with a disk on which two ranks have saved checkpoints of steps 1
// and 2.
class DamageTest : public testing::Test {
 protected:
  void SetUp() override {
    const absl::Status status =
        FirstFailure(RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
          auto writer = CheckpointWriter::Create(
              group, {.directory = kFolder, .file_system = &disk_});
          if (!writer.ok()) return writer.status();
          for (int64_t step = 1; step <= 2; ++step) {
            std::vector<float> values(kElements, static_cast<float>(step));
            absl::Status s = (*writer)->Save(step, Slices(values), "state");
            if (!s.ok()) return s;
          }
          return (*writer)->Wait();
        }));
    ASSERT_TRUE(status.ok()) << status;
  }

  // Expects that the damaged checkpoint of step 2 is skipped for `reason` and
  // that step 1 is opened.
  void ExpectFallback(MemoryDisk& disk, const std::string& reason) {
    const auto reader = CheckpointReader::OpenNewest(kFolder, &disk);
    ASSERT_TRUE(reader.ok()) << reader.status();
    EXPECT_EQ((*reader)->step(), 1);
    ASSERT_EQ((*reader)->skipped().size(), 1u);
    EXPECT_EQ((*reader)->skipped()[0].folder, "/checkpoints/step-00000002");
    EXPECT_THAT((*reader)->skipped()[0].reason, HasSubstr(reason));
    std::vector<float> values(kElements);
    ASSERT_TRUE((*reader)->Read(Slices(values)).ok());
    EXPECT_EQ(values, std::vector<float>(kElements, 1));
  }

  MemoryDisk disk_;
};

TEST_F(DamageTest, AnUndamagedOneIsOpened) {
  const auto reader = CheckpointReader::OpenNewest(kFolder, &disk_);
  ASSERT_TRUE(reader.ok()) << reader.status();
  EXPECT_EQ((*reader)->step(), 2);
}

TEST_F(DamageTest, EveryBitOfEveryFileCounts) {
  int bits = 0;
  for (const auto& [path, content] : disk_.Contents()) {
    if (path.find("step-00000002") == std::string::npos) continue;
    for (size_t bit = 0; bit < content.size() * 8; ++bit) {
      std::string damaged = content;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      disk_.Overwrite(path, damaged);
      const auto reader = CheckpointReader::OpenNewest(kFolder, &disk_);
      ASSERT_TRUE(reader.ok()) << path << " bit " << bit << reader.status();
      ASSERT_EQ((*reader)->step(), 1) << path << " bit " << bit;
      ASSERT_EQ((*reader)->skipped().size(), 1u);
      ++bits;
    }
    disk_.Overwrite(path, content);
  }
  EXPECT_GT(bits, 4000);
}

TEST_F(DamageTest, EveryFilesEndCounts) {
  for (const auto& [path, content] : disk_.Contents()) {
    if (path.find("step-00000002") == std::string::npos) continue;
    for (const std::string& damaged :
         {content.substr(0, content.size() - 1), content + " ", std::string(),
          content.substr(0, content.size() / 2)}) {
      disk_.Overwrite(path, damaged);
      ExpectFallback(disk_, "");
    }
    disk_.Overwrite(path, content);
  }
}

TEST_F(DamageTest, ReasonNamesFileAndDamage) {
  const std::string shard = "/checkpoints/step-00000002/rank-00001.safetensors";
  const std::string content = disk_.Contents()[shard];
  disk_.Overwrite(shard, content.substr(1));
  ExpectFallback(disk_, absl::StrCat(shard, " has ", content.size() - 1,
                                     " bytes, not the ", content.size()));
  disk_.Overwrite(shard, content.substr(1) + "?");
  ExpectFallback(disk_, absl::StrCat(shard, " has the checksum "));
  ASSERT_TRUE(disk_.Remove(shard).ok());
  ExpectFallback(disk_, shard);
  ASSERT_TRUE(disk_.Remove("/checkpoints/step-00000002/manifest.json").ok());
  ExpectFallback(disk_, "manifest.json");
}

TEST_F(DamageTest, RequestedStepFailsWithItsDamage) {
  const auto open = [&](int64_t step) {
    return CheckpointReader::Open(kFolder, step, &disk_).status();
  };
  EXPECT_TRUE(open(2).ok()) << open(2);
  EXPECT_EQ(open(3).code(), absl::StatusCode::kNotFound);
  const std::string manifest = "/checkpoints/step-00000002/manifest.json";
  const std::string content = disk_.Contents()[manifest];
  for (const std::string& damaged :
       {content.substr(1), content + "x", std::string()}) {
    disk_.Overwrite(manifest, damaged);
    EXPECT_EQ(open(2).code(), absl::StatusCode::kDataLoss) << open(2);
    EXPECT_THAT(open(2).message(), HasSubstr(manifest));
  }
  ASSERT_TRUE(disk_.Remove(manifest).ok());
  EXPECT_EQ(open(2).code(), absl::StatusCode::kDataLoss) << open(2);
  EXPECT_THAT(open(2).message(), HasSubstr(manifest));
  EXPECT_TRUE(open(1).ok()) << open(1);
}

TEST_F(DamageTest, AllRanksTurnToTheSameOne) {
  const std::string shard = "/checkpoints/step-00000002/rank-00001.safetensors";
  disk_.Overwrite(shard, "short");
  const auto statuses = RunWorld(3, [&](ProcessGroup& group) -> absl::Status {
    const auto reader = OpenNewestTogether(group, kFolder, &disk_);
    if (!reader.ok()) return reader.status();
    if ((*reader)->step() != 1 || (*reader)->skipped().size() != 1) {
      return absl::InternalError("another one");
    }
    return absl::InternalError((*reader)->skipped()[0].reason);
  });
  for (const absl::Status& status : statuses) {
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("rank 1: "), HasSubstr(shard)));
  }
}

// A damaged checkpoint is not one of the `keep` checkpoints that a save
// retains. Otherwise the next save would remove the only intact checkpoint.
TEST_F(DamageTest, ADamagedNewestDoesNotCountTowardsThoseThatAreKept) {
  disk_.Overwrite("/checkpoints/step-00000002/rank-00001.safetensors", "short");
  const absl::Status status =
      FirstFailure(RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
        auto writer = CheckpointWriter::Create(
            group, {.directory = kFolder, .file_system = &disk_});
        if (!writer.ok()) return writer.status();
        std::vector<float> values(kElements, 3);
        absl::Status s = (*writer)->Save(3, Slices(values), "state");
        return s.ok() ? (*writer)->Wait() : s;
      }));
  ASSERT_TRUE(status.ok()) << status;
  EXPECT_TRUE(CheckpointReader::Open(kFolder, 1, &disk_).ok());
  EXPECT_TRUE(CheckpointReader::Open(kFolder, 3, &disk_).ok());
  EXPECT_FALSE(CheckpointReader::Open(kFolder, 2, &disk_).ok());
}

// A save fails if the replicas of two DDP ranks differ. Otherwise the
// checkpoint would contain one half of each replica.
TEST_F(DamageTest, ReplicasThatDifferAreNotSaved) {
  const auto statuses = RunWorld(2, [&](ProcessGroup& group) -> absl::Status {
    auto writer = CheckpointWriter::Create(
        group, {.directory = kFolder, .file_system = &disk_});
    if (!writer.ok()) return writer.status();
    std::vector<float> values(kElements, 3);
    if (group.rank() == 1) values[0] = 4;
    absl::Status s = (*writer)->Save(3, Slices(values), "state");
    const absl::Status told = s.ok() ? (*writer)->Wait() : s;
    // Make the replicas equal again. After the failed save, a save of equal
    // replicas must succeed.
    values[0] = 3;
    s = (*writer)->Save(4, Slices(values), "state");
    if (s.ok()) s = (*writer)->Wait();
    return s.ok() ? told : s;
  });
  for (const absl::Status& status : statuses) {
    EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("step 3 was not saved"),
                      HasSubstr("tensor 'a' (float32 [6]) is not the same on "
                                "ranks 0 and 1")));
  }
  EXPECT_FALSE(CheckpointReader::Open(kFolder, 3, &disk_).ok());
  EXPECT_TRUE(CheckpointReader::Open(kFolder, 4, &disk_).ok());
}

TEST_F(DamageTest, WhereNoneIsWholeEachIsNamed) {
  for (const char* step : {"1", "2"}) {
    disk_.Overwrite(absl::StrCat("/checkpoints/step-0000000", step, "/state"),
                    "another");
  }
  const auto expect = [](const absl::Status& status) {
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(status.message(),
                AllOf(HasSubstr("no checkpoint in /checkpoints is whole"),
                      HasSubstr("step-00000001"), HasSubstr("step-00000002")));
  };
  expect(CheckpointReader::OpenNewest(kFolder, &disk_).status());
  for (const absl::Status& status : RunWorld(2, [&](ProcessGroup& group) {
         return OpenNewestTogether(group, kFolder, &disk_).status();
       })) {
    expect(status);
  }
  EXPECT_TRUE(
      absl::IsDataLoss(CheckpointReader::Open(kFolder, 2, &disk_).status()));
}

}  // namespace
}  // namespace muster
