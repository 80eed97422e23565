#include "trainer_sdk/files/file_system.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "trainer_sdk/files/testing/memory_disk.h"

namespace muster {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Runs every test both on the real disk and on MemoryDisk, which must behave
// equally.
class AnyDisk : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "Memory") {
      disk_ = &memory_;
      folder_ = "/top";
      ASSERT_TRUE(disk_->CreateFolder(folder_).ok());
      return;
    }
    folder_ = testing::TempDir() + "/disk-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  std::string In(const std::string& name) {
    return absl::StrCat(folder_, "/", name);
  }
  absl::Status Write(const std::string& name, const std::string& text) {
    auto file = disk_->CreateFile(In(name));
    if (!file.ok()) return file.status();
    absl::Status status = (*file)->Append(text);
    return status.ok() ? (*file)->Sync() : status;
  }

  MemoryDisk memory_;
  FileSystem* disk_ = &Disk();
  std::string folder_;
};

TEST_P(AnyDisk, FilesAreWrittenOnceAndReadAnywhere) {
  ASSERT_TRUE(Write("a", "0123456789").ok());
  EXPECT_TRUE(absl::IsAlreadyExists(Write("a", "other")));
  const auto file = disk_->OpenFile(In("a"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ((*file)->size(), 10);
  std::string bytes(4, '.');
  ASSERT_TRUE((*file)->ReadAt(3, 4, bytes.data()).ok());
  EXPECT_EQ(bytes, "3456");
  EXPECT_TRUE((*file)->ReadAt(10, 0, bytes.data()).ok());
  EXPECT_TRUE(absl::IsDataLoss((*file)->ReadAt(8, 4, bytes.data())));
  EXPECT_TRUE(absl::IsNotFound(disk_->OpenFile(In("b")).status()));
  EXPECT_FALSE(disk_->OpenFile(folder_).ok());
}

TEST_P(AnyDisk, FoldersAreMadeListedRenamedAndRemoved) {
  EXPECT_TRUE(disk_->CreateFolders(In("x/y/z")).ok());
  EXPECT_TRUE(disk_->CreateFolders(In("x/y/z/")).ok());
  EXPECT_TRUE(absl::IsAlreadyExists(disk_->CreateFolder(In("x"))));
  EXPECT_TRUE(absl::IsNotFound(disk_->CreateFolder(In("no/where"))));
  ASSERT_TRUE(Write("x/b", "b").ok());
  ASSERT_TRUE(Write("x/a", "a").ok());
  EXPECT_THAT(*disk_->List(In("x")), ElementsAre("a", "b", "y"));
  EXPECT_TRUE(disk_->SyncFolder(In("x")).ok());
  EXPECT_TRUE(absl::IsNotFound(disk_->SyncFolder(In("no"))));
  EXPECT_TRUE(absl::IsNotFound(disk_->List(In("no")).status()));
  EXPECT_TRUE(disk_->Rename(In("x/a"), In("x/b")).ok());
  const auto file = disk_->OpenFile(In("x/b"));
  char byte = '.';
  ASSERT_TRUE(file.ok() && (*file)->ReadAt(0, 1, &byte).ok());
  EXPECT_EQ(byte, 'a');
  EXPECT_TRUE(disk_->Rename(In("x"), In("w")).ok());
  ASSERT_TRUE(disk_->CreateFolders(In("x/full")).ok());
  EXPECT_FALSE(disk_->Rename(In("w"), In("x")).ok());
  EXPECT_TRUE(absl::IsNotFound(disk_->Rename(In("no"), In("v"))));
  EXPECT_TRUE(disk_->Remove(In("w")).ok());
  EXPECT_TRUE(disk_->Remove(In("w")).ok());
  EXPECT_THAT(*disk_->List(folder_), ElementsAre("x"));
}

TEST_P(AnyDisk, AFolderIsOnesAlone) {
  const LockDeadlines now = {MonotonicNow(), MonotonicNow()};
  auto lock = disk_->Lock(folder_, now);
  ASSERT_TRUE(lock.ok()) << lock.status();
  EXPECT_EQ(disk_->Lock(folder_, now).status().code(),
            absl::StatusCode::kFailedPrecondition);
  lock->reset();
  EXPECT_TRUE(disk_->Lock(folder_, now).ok());
}

INSTANTIATE_TEST_SUITE_P(Both, AnyDisk, testing::Values("Real", "Memory"),
                         [](const auto& param) {
                           return std::string(param.param);
                         });

TEST(DiskTest, ErrorsNameThePathAndWhatTheSystemSaid) {
  EXPECT_THAT(Disk().CreateFolder("/proc/none").message(),
              HasSubstr("cannot create folder /proc/none: "));
  const auto full = Disk().OpenFile("/nowhere/at/all");
  EXPECT_THAT(full.status().message(),
              AllOf(HasSubstr("/nowhere/at/all"),
                    HasSubstr("No such file or directory")));
  // OpenFile must reject a FIFO, and must not block until another process opens
  // the FIFO.
  std::string pipe = testing::TempDir() + "/pipe-XXXXXX";
  ASSERT_NE(mkdtemp(pipe.data()), nullptr);
  pipe += "/p";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(Disk().OpenFile(pipe).status().message(),
              HasSubstr("it is no file"));
}

// A fixture with a locked folder. The test chooses the owner that the lock file
// names.
class LockTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    auto lock = Disk().Lock(folder_, {MonotonicNow(), MonotonicNow()});
    ASSERT_TRUE(lock.ok()) << lock.status();
    lock_ = *std::move(lock);
  }
  void SetOwner(const std::string& owner) {
    std::ofstream(folder_ + "/.lock") << owner;
  }
  static std::string OnThisHost(pid_t process) {
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    return absl::StrCat("host ", host, ", process ", process, "\n");
  }

  std::string folder_ = testing::TempDir() + "/lock-XXXXXX";
  std::unique_ptr<FolderLock> lock_;
};

TEST_F(LockTest, AProcessOfThisHostIsWaitedForUntilItsDeadline) {
  const Instant now = MonotonicNow();
  const auto other =
      Disk().Lock(folder_, {.here = now, .elsewhere = Instant::max()});
  EXPECT_EQ(other.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(other.status().message(),
              AllOf(HasSubstr("another job writes in " + folder_),
                    HasSubstr(absl::StrCat("process ", getpid()))));
}

TEST_F(LockTest, AnyOtherIsWaitedForUntilTheDeadlineOfThose) {
  // Get the id of a process that has exited. The lock file below names this
  // process as the lock's owner.
  const pid_t child = fork();
  if (child == 0) _exit(0);
  siginfo_t ended;
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED), 0);
  for (const std::string& owner :
       {std::string("host elsewhere, process 1\n"), std::string(),
        std::string("host "), OnThisHost(child), OnThisHost(0),
        OnThisHost(getpid()).substr(1)}) {
    SetOwner(owner);
    const Instant now = MonotonicNow();
    const auto at_once =
        Disk().Lock(folder_, {.here = Instant::max(), .elsewhere = now});
    EXPECT_EQ(at_once.status().code(), absl::StatusCode::kFailedPrecondition)
        << owner;
    const Instant later = now + std::chrono::milliseconds(60);
    EXPECT_FALSE(Disk().Lock(folder_, {.here = now, .elsewhere = later}).ok());
    EXPECT_GE(MonotonicNow(), later) << owner;
  }
}

TEST_F(LockTest, ItIsHadWhenAnotherHostsIsFree) {
  SetOwner("host elsewhere, process 1\n");
  std::thread server([this] { lock_.reset(); });
  const auto lock = Disk().Lock(
      folder_, {.here = MonotonicNow(), .elsewhere = Instant::max()});
  server.join();
  EXPECT_TRUE(lock.ok()) << lock.status();
}

}  // namespace
}  // namespace muster
