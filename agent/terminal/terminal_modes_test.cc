#include "agent/terminal/terminal_modes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

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

}  // namespace
}  // namespace muster::agent
