#include "launcher/reader_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <future>

namespace muster::launcher {
namespace {

TEST(ReaderWatchTest, NoticesThatTheReaderHasLeft) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  OwnedFd reader(pipe_fds[0]);
  const OwnedFd writer(pipe_fds[1]);
  std::promise<void> left;
  std::future<void> noticed = left.get_future();
  const ReaderWatch watch(writer.get(), [&] { left.set_value(); });
  reader = OwnedFd();
  EXPECT_EQ(noticed.wait_for(std::chrono::seconds(30)),
            std::future_status::ready);
}

TEST(ReaderWatchTest, AReaderThatStaysIsLeftAlone) {
  int pipe_fds[2];
  ASSERT_EQ(pipe2(pipe_fds, O_CLOEXEC), 0);
  const OwnedFd reader(pipe_fds[0]);
  const OwnedFd writer(pipe_fds[1]);
  const OwnedFd file(open("/dev/null", O_WRONLY | O_CLOEXEC));
  for (const int fd : {writer.get(), file.get(), -1}) {
    bool left = false;
    {
      const ReaderWatch watch(fd, [&] { left = true; });
    }
    EXPECT_FALSE(left) << fd;
  }
}

}  // namespace
}  // namespace muster::launcher
