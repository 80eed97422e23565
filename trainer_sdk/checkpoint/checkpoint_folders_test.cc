#include "trainer_sdk/checkpoint/checkpoint_folders.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/files/testing/memory_disk.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(StepFolderTest, HasOneNameAndTheNameOneStep) {
  for (const StepFolder folder :
       {StepFolder{0}, StepFolder{100}, StepFolder{123456789012},
        StepFolder{7, 2}, StepFolder{7, 31}}) {
    EXPECT_EQ(StepFolderOf(NameOf(folder)), folder) << NameOf(folder);
  }
  EXPECT_EQ(NameOf({.step = 100}), "step-00000100");
  EXPECT_EQ(NameOf({.step = 100, .attempt = 2}), "step-00000100.2");
  for (const char* name :
       {"", "step-", "step-7", "step-0000000007", "step-00000007.",
        "step-00000007.1", "step-00000007.02", "step-00000007.-1",
        "step-00000007x", "step--0000007", "Step-00000007", "step-00000007.2.2",
        ".writing-step-00000007-a", "step-99999999999999999999"}) {
    EXPECT_EQ(StepFolderOf(name), std::nullopt) << name;
  }
}

// Makes a checkpoint that contains a state string but no tensors. Returns the
// path of the checkpoint.
absl::StatusOr<std::string> Make(MemoryDisk& disk, int64_t step) {
  const auto path = BeginCheckpoint(disk, "/d", step, "nonce");
  if (!path.ok()) return path;
  const auto state = WriteRecordedFile(disk, *path, kStateFile, {"abc"});
  if (!state.ok()) return state.status();
  return CommitCheckpoint(disk, "/d", *path,
                          {.step = step, .ranks = 1, .files = {*state}});
}

class FoldersTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(disk_.CreateFolders("/d").ok()); }
  std::vector<std::string> Names() { return *disk_.List("/d"); }
  MemoryDisk disk_;
  WholeCheckpoints whole_;
};

TEST_F(FoldersTest, UnknownFilesAreKept) {
  ASSERT_TRUE(disk_.CreateFile("/d/notes").ok());
  ASSERT_TRUE(disk_.CreateFolders("/d/step-x/y").ok());
  ASSERT_TRUE(disk_.CreateFolders("/d/.writing-step-00000001-old/y").ok());
  ASSERT_TRUE(disk_.CreateFolders("/d/.removing-step-00000001").ok());
  ASSERT_TRUE(disk_.CreateFile("/d/.seen-old").ok());
  const auto left = ClearLeftovers(disk_, "/d");
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(*left, IsEmpty());
  EXPECT_THAT(Names(), ElementsAre("notes", "step-x"));
  for (const int64_t step : {1, 2, 3}) ASSERT_TRUE(Make(disk_, step).ok());
  PruneCheckpoints(disk_, "/d", "step-00000003", 1, whole_);
  EXPECT_THAT(Names(), ElementsAre("notes", "step-00000003", "step-x"));
}

TEST_F(FoldersTest, FolderThatCannotBeRemovedIsReturnedAndRetried) {
  for (const char* name :
       {".removing-step-00000001", ".writing-step-00000002-a",
        ".writing-step-00000003-b"}) {
    ASSERT_TRUE(disk_.CreateFolder(absl::StrCat("/d/", name)).ok());
  }
  disk_.KeepBusy("/d/.removing-step-00000001");
  disk_.KeepBusy("/d/.writing-step-00000002-a");
  const auto left = ClearLeftovers(disk_, "/d");
  ASSERT_TRUE(left.ok()) << left.status();
  EXPECT_THAT(*left, ElementsAre(AllOf(HasSubstr("/d/.removing-step-00000001"),
                                       HasSubstr("busy")),
                                 HasSubstr("/d/.writing-step-00000002-a")));
  EXPECT_THAT(Names(), ElementsAre(".removing-step-00000001",
                                   ".writing-step-00000002-a"));
  // Leftover folders of steps 1 and 2 cannot be removed. New saves of these
  // steps must succeed nevertheless.
  for (const int64_t step : {1, 2, 3}) {
    const auto made = Make(disk_, step);
    ASSERT_TRUE(made.ok()) << made.status();
  }
  PruneCheckpoints(disk_, "/d", "step-00000003", 1, whole_);
  EXPECT_THAT(Names(),
              ElementsAre(".removing-step-00000001", ".writing-step-00000002-a",
                          "step-00000001", "step-00000003"));
  disk_.KeepBusy("");
  PruneCheckpoints(disk_, "/d", "step-00000003", 1, whole_);
  EXPECT_THAT(Names(),
              ElementsAre(".writing-step-00000002-a", "step-00000003"));
}

TEST_F(FoldersTest, TheNewestIsNeverRemoved) {
  for (const int64_t step : {5, 9, 7}) ASSERT_TRUE(Make(disk_, step).ok());
  // The caller names the checkpoint of step 5 as the newest. It is kept
  // although the other checkpoints have higher steps.
  PruneCheckpoints(disk_, "/d", "step-00000005", 1, whole_);
  EXPECT_THAT(Names(), ElementsAre("step-00000005"));
}

TEST_F(FoldersTest, BrokenOnesGoAndThoseOfLaterVersionsStay) {
  ASSERT_TRUE(Make(disk_, 1).ok());
  ASSERT_TRUE(disk_.CreateFolders("/d/step-00000002").ok());
  ASSERT_TRUE(Make(disk_, 3).ok());
  const auto entries = ListCheckpoints(disk_, "/d");
  ASSERT_TRUE(entries.ok());
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].name, "step-00000002");
  EXPECT_TRUE(absl::IsDataLoss((*entries)[0].manifest.status()));
  EXPECT_EQ((*entries)[1].name, "step-00000003");
  EXPECT_EQ((*entries)[1].manifest->serial, 2);
  PruneCheckpoints(disk_, "/d", "step-00000003", 2, whole_);
  EXPECT_THAT(Names(), ElementsAre("step-00000001", "step-00000003"));
}

TEST_F(FoldersTest, ADamagedOneDoesNotCountAndTheOneBeforeItStays) {
  for (const int64_t step : {1, 2, 3}) ASSERT_TRUE(Make(disk_, step).ok());
  disk_.Overwrite("/d/step-00000002/state", "abd");
  PruneCheckpoints(disk_, "/d", "step-00000003", 2, whole_);
  EXPECT_THAT(Names(), ElementsAre("step-00000001", "step-00000003"));
}

// The checkpoint of step 3 is damaged after it was found intact. While step 3
// is in `whole`, the set of checkpoints that were found intact, pruning does
// not read step 3 again and does not notice the damage.
TEST_F(FoldersTest, VerifiedCheckpointIsNotReadAgain) {
  for (const bool is_known : {true, false}) {
    MemoryDisk disk;
    ASSERT_TRUE(disk.CreateFolders("/d").ok());
    WholeCheckpoints whole;
    for (const int64_t step : {1, 2, 3}) ASSERT_TRUE(Make(disk, step).ok());
    PruneCheckpoints(disk, "/d", "step-00000003", 2, whole);
    EXPECT_THAT(*disk.List("/d"),
                ElementsAre("step-00000002", "step-00000003"));
    disk.Overwrite("/d/step-00000003/state", "abd");
    ASSERT_TRUE(Make(disk, 4).ok());
    if (!is_known) whole.clear();
    PruneCheckpoints(disk, "/d", "step-00000004", 2, whole);
    EXPECT_THAT(*disk.List("/d"),
                ElementsAre(is_known ? "step-00000003" : "step-00000002",
                            "step-00000004"));
  }
}

TEST_F(FoldersTest, NoFileIsReadIfAllCheckpointsAreKept) {
  for (const int64_t step : {1, 2, 3}) ASSERT_TRUE(Make(disk_, step).ok());
  disk_.Overwrite("/d/step-00000002/state", "abd");
  PruneCheckpoints(disk_, "/d", "step-00000003", 3, whole_);
  EXPECT_THAT(Names(),
              ElementsAre("step-00000001", "step-00000002", "step-00000003"));
}

TEST_F(FoldersTest, AnotherStepsManifestIsNone) {
  ASSERT_TRUE(Make(disk_, 1).ok());
  ASSERT_TRUE(disk_.Rename("/d/step-00000001", "/d/step-00000002").ok());
  const auto entries = ListCheckpoints(disk_, "/d");
  ASSERT_TRUE(entries.ok());
  EXPECT_THAT((*entries)[0].manifest.status().message(),
              HasSubstr("has the manifest of step 1"));
}

TEST_F(FoldersTest, FileMissingOnRankZeroPreventsTheCommit) {
  const auto path = BeginCheckpoint(disk_, "/d", 1, "nonce");
  ASSERT_TRUE(path.ok());
  const auto state = WriteRecordedFile(disk_, *path, kStateFile, {"abc"});
  ASSERT_TRUE(state.ok());
  for (const FileRecord& other : {FileRecord{"rank-00001.safetensors", 10, 1},
                                  FileRecord{kStateFile, 4, state->checksum}}) {
    const auto made = CommitCheckpoint(
        disk_, "/d", *path, {.step = 1, .ranks = 1, .files = {other}});
    EXPECT_EQ(made.status().code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(made.status().message(), HasSubstr(other.name));
  }
  EXPECT_THAT(Names(), ElementsAre(".writing-step-00000001-nonce"));
}

}  // namespace
}  // namespace muster
