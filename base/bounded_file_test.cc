#include "base/bounded_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace muster {
namespace {

constexpr size_t kMax = 8 << 10;

std::string At(const char* name) {
  return testing::TempDir() + "/" + name + std::to_string(getpid());
}

TEST(ReadBoundedFileTest, AFile) {
  const std::string path = At("file");
  std::ofstream(path) << std::string(kMax, 'x');
  EXPECT_EQ(ReadBoundedFile(path, kMax).value_or(""), std::string(kMax, 'x'));
  EXPECT_EQ(std::string(ReadBoundedFile(path, kMax - 1024).status().message()),
            "is larger than 7 KiB");
  EXPECT_EQ(
      std::string(ReadBoundedFile("/dev/zero", 8 << 20).status().message()),
      "is larger than 8 MiB");
  unlink(path.c_str());
  EXPECT_TRUE(absl::IsNotFound(ReadBoundedFile(path, kMax).status()));
}

TEST(ReadTrustedFileTest, AFileThatOthersCanWriteIsRefused) {
  const std::string path = At("trusted");
  EXPECT_TRUE(absl::IsNotFound(ReadTrustedFile(path, kMax).status()));
  std::ofstream(path) << "text";
  for (const mode_t mode : {0600, 0644}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(ReadTrustedFile(path, kMax).value_or(""), "text") << mode;
  }
  for (const mode_t mode : {0620, 0602}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const absl::Status refused = ReadTrustedFile(path, kMax).status();
    EXPECT_TRUE(absl::IsPermissionDenied(refused)) << mode << refused;
    EXPECT_EQ(ReadBoundedFile(path, kMax).value_or(""), "text") << mode;
  }
  unlink(path.c_str());
}

TEST(ReadTrustedFileTest, AFileOfAnotherUserIsRefused) {
  const std::string path = At("others");
  std::ofstream(path) << "text";
  if (chown(path.c_str(), 65534, 65534) != 0) GTEST_SKIP() << "needs root";
  const absl::Status refused = ReadTrustedFile(path, kMax).status();
  EXPECT_TRUE(absl::IsPermissionDenied(refused)) << refused;
  EXPECT_EQ(refused.message(), "user 65534 owns it");
  unlink(path.c_str());
}

TEST(ReadBoundedFileTest, AFolderIsNoEmptyFile) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBoundedFile("/", kMax).status()));
}

TEST(ReadBoundedFileTest, APipeWithoutAWriterIsNotWaitedFor) {
  const std::string path = At("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadBoundedFile(path, kMax).value_or("failed"), "");
  unlink(path.c_str());
}

TEST(ReadBoundedFileTest, AWriterIsWaitedFor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([end = ends[1]] {
    EXPECT_EQ(write(end, "hosts", 5), 5);
    close(end);
  });
  EXPECT_EQ(ReadBoundedFile("/proc/self/fd/" + std::to_string(ends[0]), kMax)
                .value_or("failed"),
            "hosts");
  writer.join();
  close(ends[0]);
}

TEST(ReadAtMostTest, TheRestIsLeftUnread) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_NONBLOCK), 0);
  std::thread writer([end = ends[1]] { EXPECT_EQ(write(end, "hosts", 5), 5); });
  // The writer keeps the pipe open, so only the limit of 4 bytes can end the
  // read.
  EXPECT_EQ(ReadAtMost(ends[0], 4).value_or("failed"), "host");
  EXPECT_EQ(ReadAtMost(ends[0], 1).value_or("failed"), "s");
  writer.join();
  close(ends[0]);
  close(ends[1]);
}

TEST(ReadBeginningTest, ContentIsCutAtTheLimit) {
  const std::string path = At("beginning");
  std::ofstream(path) << std::string(40'000, 'x');
  EXPECT_EQ(ReadBeginning(path, kMax), std::string(kMax, 'x'));
  EXPECT_EQ(ReadBeginning(path, 1 << 20), std::string(40'000, 'x'));
  unlink(path.c_str());
  EXPECT_EQ(ReadBeginning(path, kMax), std::nullopt);
  EXPECT_EQ(ReadBeginning("/", kMax), std::nullopt);  // "/" is a folder
  // Files in /proc report a size of 0, but have contents.
  EXPECT_EQ(ReadBeginning("/proc/self/comm", kMax)->back(), '\n');
}

TEST(ReadBeginningTest, NothingIsWaitedFor) {
  const std::string path = At("beginning");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // No process has opened the FIFO for writing. ReadBeginning must return at
  // once instead of waiting for a writer.
  EXPECT_EQ(ReadBeginning(path, kMax), "");
  const int end = open(path.c_str(), O_RDWR);
  EXPECT_EQ(ReadBeginning(path, kMax), std::nullopt);
  EXPECT_EQ(write(end, "so far", 6), 6);
  EXPECT_EQ(ReadBeginning(path, kMax), "so far");
  close(end);
  unlink(path.c_str());
}

}  // namespace
}  // namespace muster
