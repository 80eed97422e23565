#include "agent/logs/console_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <sstream>
#include <string>

#include "agent/logs/console_fd.h"

namespace muster {
namespace {

using ::testing::StartsWith;

constexpr std::chrono::seconds kLong(30);
constexpr int kLongMilliseconds = 30000;
constexpr char kNote[] =
    " lines were dropped here: the console did not keep up]";

class Pipe {
 public:
  Pipe() { EXPECT_EQ(pipe2(ends_, O_CLOEXEC), 0); }
  ~Pipe() {
    CloseRead();
    close(ends_[1]);
  }
  int write_end() const { return ends_[1]; }
  void CloseRead() {
    if (ends_[0] >= 0) close(ends_[0]);
    ends_[0] = -1;
  }

  // Reads until what was read ends in `end`.
  std::string ReadUntil(const std::string& end) {
    std::string text;
    pollfd readable = {ends_[0], POLLIN, 0};
    while (!text.ends_with(end) && poll(&readable, 1, kLongMilliseconds) == 1) {
      char buffer[4096];
      ssize_t count = read(ends_[0], buffer, sizeof buffer);
      if (count <= 0) break;
      text.append(buffer, count);
    }
    EXPECT_TRUE(text.ends_with(end)) << "after " << text.size() << " bytes";
    return text;
  }

 private:
  int ends_[2];
};

TEST(ConsoleWriterTest, WritesLinesInOrder) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    std::string line = "line " + std::to_string(i) + "\n";
    expected += line;
    writer.Write(line);
  }
  EXPECT_EQ(pipe.ReadUntil("line 999\n"), expected);
  EXPECT_TRUE(writer.Flush(kLong));
}

std::string NumberedLine(int number) {
  return "[" + std::to_string(number) + "] " + std::string(90, 'x');
}

// What a console showed of numbered lines, where a note counts for the lines
// that it stands for.
struct Console {
  int shown = 0;
  int dropped = 0;
  bool in_order = true;
};
Console Parse(const std::string& text) {
  Console console;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    int number = std::atoi(line.c_str() + 1);
    if (line.ends_with(kNote)) {
      console.dropped += number;
    } else {
      console.in_order &= line == NumberedLine(console.shown + console.dropped);
      ++console.shown;
    }
  }
  return console;
}

TEST(ConsoleWriterTest, AReaderThatSleepsCostsLinesAndNoTime) {
  constexpr int kLines = 20000;
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end(), 64 << 10);
  for (int i = 0; i < kLines; ++i) writer.Write(NumberedLine(i) + "\n");
  EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(1)));

  // It wakes up: each line arrives whole and in its place, or a note stands
  // there for it.
  std::string text;
  Console console;
  while (console.shown + console.dropped < kLines) {
    text += pipe.ReadUntil("\n");
    ASSERT_FALSE(HasFailure());
    console = Parse(text);
  }
  EXPECT_EQ(console.shown + console.dropped, kLines);
  EXPECT_TRUE(console.in_order);
  EXPECT_GT(console.shown, 1000);

  writer.Write("again\n");
  EXPECT_EQ(pipe.ReadUntil("again\n"), "again\n");
  EXPECT_TRUE(writer.Flush(kLong));
}

TEST(ConsoleWriterTest, EndsThoughNobodyReads) {
  Pipe pipe;
  auto begin = std::chrono::steady_clock::now();
  {
    ConsoleWriter writer(pipe.write_end());
    writer.Write(std::string(1 << 20, 'x') + "\n");
    EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(1)));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
}

TEST(ConsoleWriterTest, EndsThoughAWriteCannotBeInterrupted) {
  // A socket cannot be opened anew: its writes block.
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  auto begin = std::chrono::steady_clock::now();
  {
    ConsoleWriter writer(ends[0]);
    writer.Write(std::string(4 << 20, 'x') + "\n");
    char begun;
    EXPECT_EQ(read(ends[1], &begun, 1), 1);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, kLong);
  close(ends[1]);  // Lets the thread that was left behind end.
  close(ends[0]);
}

TEST(ConsoleWriterTest, AReaderThatLeftIsNoError) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  pipe.CloseRead();
  writer.Write("nobody\n");
  EXPECT_TRUE(writer.Flush(kLong));
  writer.Write("nobody\n");
  EXPECT_TRUE(writer.Flush(kLong));
}

TEST(ConsoleWriterTest, AClosedDescriptorIsNoError) {
  ConsoleWriter writer(-1);
  writer.Write("nobody\n");
  EXPECT_TRUE(writer.Flush(kLong));
}

TEST(ConsoleWriterTest, LeavesTheSharedFlagsAlone) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  writer.Write("line\n");
  pipe.ReadUntil("line\n");
  EXPECT_EQ(fcntl(pipe.write_end(), F_GETFL) & O_NONBLOCK, 0);
}

TEST(ConsoleWriterTest, AppendsToAFileBesideOthers) {
  std::string path = ::testing::TempDir() + "/console-XXXXXX";
  int fd = mkstemp(path.data());
  ASSERT_EQ(write(fd, "before\n", 7), 7);
  {
    ConsoleWriter writer(fd);
    writer.Write("line\n");
    EXPECT_TRUE(writer.Flush(kLong));
  }
  ASSERT_EQ(write(fd, "after\n", 6), 6);
  char text[64];
  ssize_t count = pread(fd, text, sizeof text, 0);
  EXPECT_EQ(std::string(text, count), "before\nline\nafter\n");
  close(fd);
  unlink(path.c_str());
}

TEST(ConsoleWriterTest, AStoppedTerminalBlocksNobody) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) GTEST_SKIP() << "this machine has no pseudo-terminals";
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(tcflow(terminal, TCOOFF), 0);  // Ctrl-S
  {
    ConsoleWriter writer(terminal);
    writer.Write("held\n");
    EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(50)));
    ASSERT_EQ(tcflow(terminal, TCOON), 0);  // Ctrl-Q
    EXPECT_TRUE(writer.Flush(kLong));
  }
  char text[64];
  ssize_t count = read(master, text, sizeof text);
  EXPECT_THAT(std::string(text, count), StartsWith("held"));
  close(terminal);
  close(master);
}

TEST(IsSameConsoleTest, TellsOnePipeFromTwo) {
  Pipe pipe;
  Pipe other;
  int copy = dup(pipe.write_end());
  EXPECT_TRUE(IsSameConsole(pipe.write_end(), copy));
  EXPECT_FALSE(IsSameConsole(pipe.write_end(), other.write_end()));
  EXPECT_FALSE(IsSameConsole(pipe.write_end(), -1));
  close(copy);
}

}  // namespace
}  // namespace muster
