#include "base/write_all.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <string>

namespace muster {
namespace {

// The file's size is limited to 60 bytes, so the first write() is partial.
// WriteAll must write the rest with a second write(), which fails here.
TEST(WriteAllTest, PartialWriteIsContinued) {
  const std::string path = testing::TempDir() + "/write_all";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 60, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  errno = 0;
  const bool all = WriteAll(file, std::string(100, 'x'));
  const int error = errno;
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_FALSE(all);
  // the errno of the second write(), which exceeds the size limit
  EXPECT_EQ(error, EFBIG);
  EXPECT_EQ(lseek(file, 0, SEEK_END), 60);
  close(file);
  unlink(path.c_str());
}

TEST(WriteAllTest, AllOfIt) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_TRUE(WriteAll(ends[1], "all of it"));
  char got[16];
  EXPECT_EQ(read(ends[0], got, sizeof(got)), 9);
  EXPECT_EQ(std::string(got, 9), "all of it");
  close(ends[0]);
  close(ends[1]);
}

TEST(WriteAllTest, FullDiskFailsWithEnospc) {
  const int full = open("/dev/full", O_WRONLY);
  EXPECT_FALSE(WriteAll(full, "x"));
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_TRUE(WriteAll(full, ""));
  close(full);
}

}  // namespace
}  // namespace muster
