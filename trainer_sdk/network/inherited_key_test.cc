#include "trainer_sdk/network/inherited_key.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/channel_key.h"

namespace muster {
namespace {

using ::testing::HasSubstr;

// Returns the read end of a pipe that contains `bytes` and whose write end is
// closed. TakeChannelKey closes the read end if the pipe has the expected
// inode.
int PipeWith(const std::string& bytes) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()),
            static_cast<ssize_t>(bytes.size()));
  close(ends[1]);
  return ends[0];
}

std::string ValueOf(int fd) {
  struct stat file = {};
  EXPECT_EQ(fstat(fd, &file), 0);
  return absl::StrCat(fd, ":", file.st_ino);
}

TEST(ChannelKey, IsReadFromThePipeWhichIsClosed) {
  const std::string key(kChannelKeyBytes, 'k');
  const int fd = PipeWith(key);
  const auto taken = TakeChannelKey(ValueOf(fd));
  ASSERT_TRUE(taken.ok()) << taken.status();
  EXPECT_EQ(*taken, key);
  EXPECT_EQ(fcntl(fd, F_GETFD), -1) << "a program started later has no pipe";
}

TEST(ChannelKey, SecondReaderIsTold) {
  const int fd = PipeWith("short");
  const auto taken = TakeChannelKey(ValueOf(fd));
  EXPECT_TRUE(absl::IsFailedPrecondition(taken.status())) << taken.status();
  EXPECT_THAT(std::string(taken.status().message()),
              HasSubstr("another process has read"));
}

TEST(ChannelKey, AnotherFileWithTheNumberIsLeftAlone) {
  const int fd = PipeWith(std::string(kChannelKeyBytes, 'k'));
  const int other = PipeWith("another");
  const std::string value = ValueOf(fd);
  ASSERT_EQ(dup2(other, fd), fd);
  EXPECT_TRUE(absl::IsFailedPrecondition(TakeChannelKey(value).status()));
  EXPECT_NE(fcntl(fd, F_GETFD), -1) << "it is not ours to close";
  close(fd);
  EXPECT_TRUE(absl::IsFailedPrecondition(TakeChannelKey(value).status()));
  close(other);
}

TEST(ChannelKey, MalformedValuesAreRefused) {
  for (const char* const value : {"3", "x:1", "-1:5", "3:x", "1:2:3", ":"}) {
    EXPECT_TRUE(absl::IsFailedPrecondition(TakeChannelKey(value).status()))
        << value;
  }
}

TEST(ChannelKey, ProcessTakesTheKeyOnce) {
  const std::string key(kChannelKeyBytes, 'q');
  ASSERT_EQ(setenv(kChannelKeyVariable, ValueOf(PipeWith(key)).c_str(), 1), 0);
  for (int i = 0; i < 2; ++i) {
    const auto taken = InheritedChannelKey();
    ASSERT_TRUE(taken.ok()) << taken.status();
    EXPECT_EQ(*taken, key);
  }
}

}  // namespace
}  // namespace muster
