// Tests of FileQueue and QueuedFile. A FIFO without a reader simulates a file
// on a hung file system: open() blocks until a reader opens the FIFO.
#include "base/file_queue.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/monotonic_clock.h"

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::chrono::seconds kLong(60);
constexpr std::chrono::hours kForever(1);
// With these limits, the file system counts as hung as soon as there is
// unfinished work.
constexpr FileBacklog::Limits kHangsAtOnce = {
    .room_bytes = 10, .limit_bytes = 10, .hung_after = Duration::zero()};

class FileQueueTest : public ::testing::Test {
 protected:
  FileQueueTest() {
    std::string name = ::testing::TempDir() + "/queue-XXXXXX";
    folder_ = mkdtemp(name.data());
    hung_ = folder_ + "/hung";
    EXPECT_EQ(mkfifo(hung_.c_str(), 0600), 0);
  }
  ~FileQueueTest() override {
    // If a thread that a queue has abandoned creates a file in the folder at
    // the same time, the folder cannot be removed. This error is ignored.
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  FileQueue::OnTrouble Trouble() {
    return [this](const std::string& sentence) {
      std::lock_guard<std::mutex> lock(mutex_);
      troubles_.push_back(sentence);
    };
  }
  std::unique_ptr<QueuedFile> File(FileQueue& queue, const std::string& path) {
    return std::make_unique<QueuedFile>(
        &queue, path, RotatingFile::Limits(), Trouble(),
        [this](const RotatingFile::Totals& more) {
          totals_.lost += more.lost;
        });
  }
  std::vector<std::string> troubles() {
    std::lock_guard<std::mutex> lock(mutex_);
    return troubles_;
  }
  // Lets the simulated file system answer: reads the FIFO until its writer
  // closes it, and returns the text.
  std::string ReadHung() {
    std::stringstream text;
    text << std::ifstream(hung_).rdbuf();
    return text.str();
  }
  // Ends the open() of the FIFO in which the thread of an abandoned queue may
  // be blocked, so that the thread exits.
  void Release() {
    close(open(hung_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  static std::string Read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static FileQueue::WaitLimits ShortLimits() {
    FileQueue::WaitLimits limits;
    limits.without_progress = Duration::zero();
    return limits;
  }

  std::string folder_;
  std::string hung_;
  RotatingFile::Totals totals_;

 private:
  std::mutex mutex_;
  // sentences that the callback from Trouble() has received; guarded by mutex_
  std::vector<std::string> troubles_;
};

TEST_F(FileQueueTest, WorkIsDoneInOrder) {
  std::vector<int> done;
  {
    FileQueue queue(Trouble());
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(queue.Post("p", [&done, i] { done.push_back(i); }));
    }
    EXPECT_TRUE(queue.Do(
        "p", [&done] { done.push_back(3); }, kLong));
    EXPECT_THAT(done, ElementsAre(0, 1, 2, 3));
    queue.Post("p", [&done] { done.push_back(4); });
  }
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(troubles(), IsEmpty());
}

TEST_F(FileQueueTest, FilesGetAllBytesOfSeveralThreads) {
  const std::string path = folder_ + "/a/b/stdout.log";
  {
    FileQueue queue(Trouble());
    const auto file = File(queue, path);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&file] {
        for (int i = 0; i < 1000; ++i) file->Write("0123456789\n");
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(Read(path).size(), 44000u);
  EXPECT_EQ(totals_.lost, 0);
}

TEST_F(FileQueueTest, OpenMakesAFileWithoutBytes) {
  const std::string path = folder_ + "/a/b/stdout.log";
  FileQueue queue(Trouble());
  const auto file = File(queue, path);
  file->Open();
  EXPECT_TRUE(queue.Finish());
  EXPECT_TRUE(std::filesystem::exists(path));
}

TEST_F(FileQueueTest, AFileWithoutWorkEndsAtOnce) {
  FileQueue queue(Trouble());
  File(queue, hung_) = nullptr;
  EXPECT_TRUE(queue.Finish(ShortLimits()));
}

TEST_F(FileQueueTest, LostBytesAreCountedWhileTheFileIsOpenAndOnlyOnce) {
  {
    FileQueue queue(Trouble());
    const auto file = File(queue, "/dev/full");
    file->Write("123\n");
    EXPECT_TRUE(queue.Finish());
    EXPECT_EQ(totals_.lost, 4);
    file->Write("4567\n");
    EXPECT_TRUE(queue.Finish());
    EXPECT_EQ(totals_.lost, 9);
  }
  EXPECT_EQ(totals_.lost, 9);
}

TEST_F(FileQueueTest, NoCallWaitsForAHungFile) {
  FileQueue queue(Trouble());
  const auto file = File(queue, hung_);
  file->Open();
  file->Write("all of it\n");
  std::vector<int> done;
  EXPECT_FALSE(queue.Do(
      "p", [&done] { done.push_back(1); }, std::chrono::milliseconds(1)));
  // The previous call of Do has timed out, and the file system still hangs.
  // Therefore this call must fail at once instead of waiting for kForever.
  EXPECT_FALSE(queue.Do(
      "p", [&done] { done.push_back(2); }, kForever));
  queue.Post("p", [&done] { done.push_back(3); });
  const int reader = open(hung_.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(queue.Finish());
  EXPECT_THAT(done, ElementsAre(3))
      << "work that nobody waits for is cancelled";
  EXPECT_TRUE(queue.Do(
      "p", [&done] { done.push_back(4); }, kLong));
  char bytes[64] = {};
  EXPECT_EQ(read(reader, bytes, sizeof bytes), 10);
  close(reader);
}

TEST_F(FileQueueTest, ReopenIsGivenUpInTime) {
  FileQueue queue(Trouble());
  const auto file = File(queue, hung_);
  const absl::Status status = file->Reopen(std::chrono::milliseconds(1));
  EXPECT_EQ(status.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(status.message()), HasSubstr(hung_));
  const int reader = open(hung_.c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(queue.Finish());
  close(reader);
}

TEST_F(FileQueueTest, BytesBeyondTheRoomAreDroppedAndNotedInTheFile) {
  std::string text;
  std::thread reader;
  {
    FileQueue queue(Trouble(), kHangsAtOnce);
    auto file = File(queue, hung_);
    file->Open();
    file->Write("12345678\n");
    file->Write("dropped\n");
    // This byte must be dropped although there is room for it: once bytes were
    // dropped, all bytes are dropped until a line in the file says how many are
    // missing.
    file->Write("\n");
    EXPECT_TRUE(queue.HasRoom());
    reader = std::thread([&] { text = ReadHung(); });
    EXPECT_TRUE(queue.Finish({}));
    file->Write("after\n");
    file = nullptr;
  }
  reader.join();
  EXPECT_THAT(text, ::testing::StartsWith(
                        "12345678\n\n[9 bytes are missing here: they could "
                        "not be written between 2"));
  EXPECT_TRUE(text.ends_with("UTC]\nafter\n")) << text;
  EXPECT_EQ(totals_.lost, 9);
}

TEST_F(FileQueueTest, AHangAndItsEndAreReportedOnce) {
  FileQueue queue(Trouble(), kHangsAtOnce);
  EXPECT_EQ(queue.NextLook(), std::nullopt);
  auto file = File(queue, hung_);
  file->Write("1\n");
  EXPECT_NE(queue.NextLook(), std::nullopt);
  queue.Look();
  queue.Look();
  EXPECT_EQ(queue.NextLook(), std::nullopt);
  ASSERT_EQ(troubles().size(), 1u);
  EXPECT_THAT(troubles()[0], HasSubstr(hung_ + " has not answered for 0 s"));
  file = nullptr;
  ReadHung();
  EXPECT_TRUE(queue.Finish());
  ASSERT_EQ(troubles().size(), 2u);
  EXPECT_THAT(troubles()[1], HasSubstr(hung_ + " answers again after"));
}

TEST_F(FileQueueTest, WaitingProducersAreWoken) {
  std::mutex mutex;
  std::condition_variable woken;
  bool has_room = false;
  FileQueue queue(Trouble(), {.room_bytes = 10, .limit_bytes = 20});
  queue.SetOnRoom([&] {
    std::lock_guard<std::mutex> lock(mutex);
    has_room = true;
    woken.notify_all();
  });
  auto file = File(queue, hung_);
  file->Write("123456789\n");
  EXPECT_FALSE(queue.HasRoom());
  EXPECT_NE(queue.RoomAt(), std::nullopt);
  file = nullptr;
  EXPECT_EQ(ReadHung(), "123456789\n");
  std::unique_lock<std::mutex> lock(mutex);
  EXPECT_TRUE(woken.wait_for(lock, kLong, [&] { return has_room; }));
  EXPECT_TRUE(queue.HasRoom());
}

TEST_F(FileQueueTest, TheEndNamesThePathThatHangsAndCountsWhatIsLost) {
  {
    FileQueue queue(Trouble());
    auto ended = File(queue, hung_);
    ended->Write("123\n");
    ended = nullptr;
    EXPECT_FALSE(queue.Finish(ShortLimits()));
    EXPECT_EQ(totals_.lost, 4);
    auto open = File(queue, folder_ + "/other");
    open->Write("12345\n");
    open = nullptr;
    EXPECT_EQ(totals_.lost, 4 + 6);
    EXPECT_FALSE(queue.Post("p", [] {}));
    EXPECT_FALSE(queue.Do(
        "p", [] {}, kForever));
  }
  ASSERT_EQ(troubles().size(), 1u);
  EXPECT_THAT(troubles()[0], HasSubstr(hung_ + " has not answered for 0 s"));
  EXPECT_THAT(troubles()[0], HasSubstr("4 bytes are lost"));
  Release();
}

TEST_F(FileQueueTest, AFileThatOutlivesAGivenUpQueueCountsItsBytes) {
  FileQueue queue(Trouble());
  auto file = File(queue, hung_);
  file->Write("123\n");
  EXPECT_FALSE(queue.Finish(ShortLimits()));
  file->Write("45\n");
  file = nullptr;
  EXPECT_EQ(totals_.lost, 7);
  Release();
}

TEST_F(FileQueueTest, AnAbandonedThreadOwnsNothingOfTheOwner) {
  const auto owned = std::make_shared<int>(0);
  {
    FileQueue queue([owned](const std::string&) {});
    auto file = std::make_unique<QueuedFile>(
        &queue, hung_, RotatingFile::Limits(), [owned](const std::string&) {},
        [owned](const RotatingFile::Totals&) {});
    file->Write("123\n");
    EXPECT_FALSE(queue.Finish(ShortLimits()));
    file = nullptr;
  }
  EXPECT_EQ(owned.use_count(), 1);
  Release();
}

TEST_F(FileQueueTest, ASecondSignalEndsTheWait) {
  FileQueue queue(Trouble());
  auto file = File(queue, hung_);
  file->Write("123\n");
  FileQueue::WaitLimits limits;
  limits.without_progress = kForever;
  limits.in_all = kForever;
  limits.after_signal = kForever;
  limits.end_signals = [signals = 0]() mutable { return signals++; };
  EXPECT_FALSE(queue.Finish(limits));
  Release();
}

}  // namespace
}  // namespace muster
