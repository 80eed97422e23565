#include "agent/terminal/terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "base/owned_fd.h"

namespace muster::agent {
namespace {

TEST(TerminalModes, ForwardingKeepsSignalsAndOutputProcessing) {
  const OwnedFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios usual = {};
  ASSERT_EQ(tcgetattr(terminal.get(), &usual), 0);
  usual.c_lflag |= ISIG | ICANON | ECHO;
  usual.c_oflag |= OPOST | ONLCR;
  usual.c_iflag |= ICRNL | IXON;
  ASSERT_TRUE(SetModes(terminal.get(), usual));
  const auto modes = ReadTerminalModes(terminal.get());
  ASSERT_TRUE(modes.has_value());
  EXPECT_EQ(modes->forwarding.c_oflag, modes->before.c_oflag);
  EXPECT_TRUE(modes->forwarding.c_lflag & ISIG);
  EXPECT_FALSE(modes->forwarding.c_lflag & (ICANON | ECHO));
  EXPECT_FALSE(modes->forwarding.c_iflag & (ICRNL | IXON));
  ASSERT_TRUE(SetModes(terminal.get(), modes->forwarding));
  EXPECT_TRUE(HasModes(terminal.get(), modes->forwarding));
  EXPECT_FALSE(HasModes(terminal.get(), modes->before));
  ASSERT_TRUE(SetModes(terminal.get(), modes->before));
  EXPECT_TRUE(HasModes(terminal.get(), usual));
}

TEST(TerminalModes, ANulByteThatWasTypedInALineIsTheEndOfInput) {
  termios lines = {};
  lines.c_lflag = ICANON;
  lines.c_cc[VEOF] = 4;
  std::string typed("ab\0c\0", 5);
  RestoreTypedEnds(lines, typed);
  EXPECT_EQ(typed, "ab\4c\4");
  lines.c_lflag = 0;
  std::string raw("a\0", 2);
  RestoreTypedEnds(lines, raw);
  EXPECT_EQ(raw, std::string("a\0", 2));
}

TEST(TerminalModes, ComeBackFromBytes) {
  const OwnedFd terminal(posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  const auto modes = ReadTerminalModes(terminal.get());
  ASSERT_TRUE(modes.has_value());
  const auto decoded = DecodeModes(EncodeModes(*modes));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->forwarding.c_lflag, modes->forwarding.c_lflag);
  EXPECT_EQ(decoded->before.c_lflag, modes->before.c_lflag);
  EXPECT_FALSE(DecodeModes("").has_value());
  EXPECT_FALSE(DecodeModes(EncodeModes(*modes) + "x").has_value());
}

TEST(TerminalModes, AFileHasNone) {
  const OwnedFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_FALSE(ReadTerminalModes(null.get()).has_value());
}

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
