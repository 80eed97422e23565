#include "agent/terminal/pty_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace muster::agent {
namespace {

// A pseudo-terminal with the kernel's default modes, for OpenPty to copy.
class PtyPairTest : public ::testing::Test {
 protected:
  PtyPairTest() : outer_(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    char path[128] = "";
    grantpt(outer_.get());
    unlockpt(outer_.get());
    ptsname_r(outer_.get(), path, sizeof path);
    terminal_ = OwnedFd(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC));
  }

  // Reads `size` bytes from `fd`.
  static std::string Read(int fd, size_t size) {
    std::string text;
    pollfd one = {fd, POLLIN, 0};
    while (text.size() < size && poll(&one, 1, 30000) == 1) {
      char bytes[256];
      const ssize_t got = read(fd, bytes, sizeof bytes);
      if (got <= 0) break;
      text.append(bytes, static_cast<size_t>(got));
    }
    return text;
  }

  OwnedFd outer_;
  OwnedFd terminal_;
};

TEST_F(PtyPairTest, OutputComesUnchanged) {
  const auto pty = OpenPty(terminal_.get());
  ASSERT_TRUE(pty.has_value());
  EXPECT_EQ(isatty(pty->slave.get()), 1);
  const std::string text("a\nb\r\n\tc\0\x1b[1m\x04", 13);
  ASSERT_EQ(write(pty->slave.get(), text.data(), text.size()), 13);
  EXPECT_EQ(Read(pty->master.get(), 13), text);
}

TEST_F(PtyPairTest, TypedTextIsEchoedAndReadAsALine) {
  const auto pty = OpenPty(terminal_.get());
  ASSERT_TRUE(pty.has_value());
  ASSERT_EQ(write(pty->master.get(),
                  "ab\x7f"
                  "c\r",
                  5),
            5);
  EXPECT_EQ(Read(pty->slave.get(), 3), "ac\n");
  EXPECT_EQ(Read(pty->master.get(), 7), "ab\b \bc\n");
}

TEST_F(PtyPairTest, LastBytesComeBeforeTheEnd) {
  auto pty = OpenPty(terminal_.get());
  ASSERT_TRUE(pty.has_value());
  ASSERT_EQ(write(pty->slave.get(), "end", 3), 3);
  pty->slave.Close();
  EXPECT_EQ(Read(pty->master.get(), 3), "end");
  char byte;
  EXPECT_EQ(read(pty->master.get(), &byte, 1), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(PtyPairTest, HasTheTerminalsSizeAndTakesAnother) {
  winsize size = {.ws_row = 33, .ws_col = 77, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(outer_.get(), TIOCSWINSZ, &size), 0);
  const auto pty = OpenPty(terminal_.get());
  ASSERT_TRUE(pty.has_value());
  auto seen = ReadWindowSize(pty->slave.get());
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->ws_row, 33);
  EXPECT_EQ(seen->ws_col, 77);
  size.ws_col = 99;
  SetWindowSize(pty->master.get(), size);
  seen = ReadWindowSize(pty->slave.get());
  ASSERT_TRUE(seen.has_value());
  EXPECT_EQ(seen->ws_col, 99);
}

TEST_F(PtyPairTest, ThereIsNoneLikeAFile) {
  const OwnedFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(OpenPty(null.get()).has_value());
  EXPECT_FALSE(OpenPty(-1).has_value());
  EXPECT_FALSE(ReadWindowSize(null.get()).has_value());
}

}  // namespace
}  // namespace muster::agent
