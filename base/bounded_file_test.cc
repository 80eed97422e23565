#include "base/bounded_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <thread>

namespace muster {
namespace {

constexpr size_t kMost = 8 << 10;

std::string At(const char* name) {
  return testing::TempDir() + "/" + name + std::to_string(getpid());
}

TEST(ReadBoundedFileTest, AFile) {
  const std::string path = At("file");
  std::ofstream(path) << std::string(kMost, 'x');
  EXPECT_EQ(ReadBoundedFile(path, kMost).value_or(""), std::string(kMost, 'x'));
  EXPECT_EQ(std::string(ReadBoundedFile(path, kMost - 1024).status().message()),
            "is larger than 7 KiB");
  unlink(path.c_str());
  EXPECT_TRUE(absl::IsNotFound(ReadBoundedFile(path, kMost).status()));
}

TEST(ReadBoundedFileTest, AFolderIsNoEmptyFile) {
  EXPECT_TRUE(absl::IsInvalidArgument(ReadBoundedFile("/", kMost).status()));
}

TEST(ReadBoundedFileTest, APipeWithoutAWriterIsNotWaitedFor) {
  const std::string path = At("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(ReadBoundedFile(path, kMost).value_or("failed"), "");
  unlink(path.c_str());
}

TEST(ReadBoundedFileTest, AWriterIsWaitedFor) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread writer([end = ends[1]] {
    EXPECT_EQ(write(end, "hosts", 5), 5);
    close(end);
  });
  EXPECT_EQ(ReadBoundedFile("/proc/self/fd/" + std::to_string(ends[0]), kMost)
                .value_or("failed"),
            "hosts");
  writer.join();
  close(ends[0]);
}

}  // namespace
}  // namespace muster
