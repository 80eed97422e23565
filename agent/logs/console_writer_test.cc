#include "agent/logs/console_writer.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <future>
#include <sstream>
#include <string>
#include <utility>

namespace muster::agent {
namespace {

using ::testing::StartsWith;

constexpr std::chrono::seconds kLong(30);
constexpr int kLongMilliseconds = 30000;
constexpr int64_t kPipeBytes = 64 << 10;
constexpr char kNote[] =
    " bytes were dropped here: the console did not keep up]";

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

  // Waits until `writer` has filled the pipe.
  static void AwaitFull(ConsoleWriter& writer) {
    for (int i = 0; i < kLongMilliseconds && writer.written() < kPipeBytes;
         ++i) {
      writer.Flush(std::chrono::milliseconds(1));
    }
    EXPECT_GE(writer.written(), kPipeBytes);
  }

  // Reads from the pipe until the text read so far ends in `end`.
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

ConsoleWriter::Limits RoomFor(size_t bytes) {
  return {.room_bytes = bytes, .limit_bytes = 64 << 20};
}

TEST(ConsoleWriterTest, AFullQueueHasRoomAgainOnceHalfOfItIsRead) {
  constexpr int kLines = 20000;
  Pipe pipe;
  std::promise<void> room;
  ConsoleWriter writer(pipe.write_end(), RoomFor(64 << 10));
  writer.SetOnRoom([&] { room.set_value(); });
  EXPECT_TRUE(writer.HasRoom());
  std::string expected;
  for (int i = 0; i < kLines; ++i) {
    expected += NumberedLine(i) + "\n";
    writer.WriteOutput(NumberedLine(i) + "\n");
  }
  EXPECT_FALSE(writer.HasRoom());
  EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(1)));
  // The writer continues although Flush timed out, and no text is missing.
  EXPECT_EQ(pipe.ReadUntil(NumberedLine(kLines - 1) + "\n"), expected);
  EXPECT_EQ(room.get_future().wait_for(kLong), std::future_status::ready);
  EXPECT_TRUE(writer.HasRoom());
  EXPECT_EQ(writer.loss().unread, 0);
}

// Returns the number of bytes that the notes in `text` report as dropped, and
// the number of other bytes.
std::pair<size_t, size_t> DroppedAndShown(const std::string& text) {
  std::pair<size_t, size_t> bytes;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(kNote)) {
      bytes.first += std::strtoul(line.c_str() + 1, nullptr, 10);
    } else {
      bytes.second += line.size() + 1;
    }
  }
  return bytes;
}

TEST(ConsoleWriterTest, DroppedTextIsReplacedByANoteWithItsSize) {
  constexpr size_t kLines = 20000;
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end(),
                       {.room_bytes = 64 << 10,
                        .limit_bytes = 64 << 20,
                        .when_full = ConsoleWriter::WhenFull::kDrop});
  size_t total = 0;
  for (size_t i = 0; i < kLines; ++i) {
    const std::string line = NumberedLine(i) + "\n";
    total += line.size();
    EXPECT_TRUE(writer.HasRoom());
    writer.WriteOutput(line);
  }
  std::string text;
  while (DroppedAndShown(text).first + DroppedAndShown(text).second < total) {
    text += pipe.ReadUntil("\n");
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_EQ(DroppedAndShown(text).first + DroppedAndShown(text).second, total);
  EXPECT_GT(DroppedAndShown(text).first, 0u);
  EXPECT_EQ(writer.loss().unread, 0) << "it was asked for";
  EXPECT_EQ(writer.loss().dropped,
            static_cast<int64_t>(DroppedAndShown(text).first));
}

TEST(ConsoleWriterTest, BeyondTheLimitTextIsDroppedAndCounted) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end(),
                       {.room_bytes = 1000, .limit_bytes = 100000});
  for (int i = 0; i < 3000; ++i) writer.WriteOutput(NumberedLine(i) + "\n");
  EXPECT_GT(writer.loss().unread, 0);
}

TEST(ConsoleWriterTest, WaitsForAReaderWhoReadsAndNoLonger) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  writer.WriteOutput(std::string(1 << 20, 'x') + "\n");
  EXPECT_EQ(writer.Wait({.without_progress = std::chrono::milliseconds(20)}),
            ConsoleWriter::WaitEnd::kStalled);
  EXPECT_EQ(
      writer.Wait({.without_progress = kLong, .end_signals = [] { return 2; }}),
      ConsoleWriter::WaitEnd::kStalled);
  auto reader = std::async(std::launch::async,
                           [&] { return pipe.ReadUntil("\n").size(); });
  EXPECT_EQ(writer.Wait({.without_progress = kLong}),
            ConsoleWriter::WaitEnd::kDone);
  EXPECT_EQ(reader.get(), (1u << 20) + 1);
}

TEST(ConsoleWriterTest, ASignalShortensTheWaitAndAFurtherOneEndsIt) {
  int signals = 0;
  const ConsoleWriter::WaitLimits limits = {
      .without_progress = kLong, .end_signals = [&] { return signals; }};
  EXPECT_EQ(limits.Bound(), kLong);
  signals = 1;
  EXPECT_EQ(limits.Bound(), std::chrono::seconds(5));
  signals = 2;
  EXPECT_EQ(limits.Bound(), Duration::zero());
  EXPECT_EQ(ConsoleWriter::WaitLimits{.without_progress = Duration(7)}.Bound(),
            Duration(7));
}

TEST(ConsoleWriterTest, AStalledConsoleIsNotWaitedForTwice) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  writer.WriteOutput(std::string(1 << 20, 'x') + "\n");
  pipe.AwaitFull(writer);
  const Duration limits = std::chrono::milliseconds(500);
  ASSERT_EQ(writer.Wait({.without_progress = limits}),
            ConsoleWriter::WaitEnd::kStalled);
  // The first wait has already reached the limit of 500 ms. So the second wait
  // must end at once: it calls end_signals once, and not about 20 times a
  // second for another 500 ms. `asked` counts these calls.
  int asked = 0;
  EXPECT_EQ(writer.Wait({.without_progress = limits,
                         .end_signals = [&] { return ++asked, 0; }}),
            ConsoleWriter::WaitEnd::kStalled);
  EXPECT_EQ(asked, 1);
}

TEST(ConsoleWriterTest, GivenUpItCountsOutputAndKeepsLinesOfOurOwn) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  writer.WriteOutput(std::string(1 << 20, 'x') + "\n");
  writer.WriteOutput({.stream = 1, .prefix = "[1] ", .text = "half"});
  EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(20)));
  writer.WriteOutput("queued\n");
  writer.GiveUp();
  writer.WriteOutput("discarded\n");
  EXPECT_TRUE(writer.HasRoom());
  const int64_t unread = writer.loss().unread;
  writer.Write("verdict\n");
  const std::string text = pipe.ReadUntil("verdict\n");
  EXPECT_TRUE(text.ends_with("x\nverdict\n"));
  // Before GiveUp the pipe accepted at most 128 KiB of the text that was
  // written first, which is 1 MiB long. The rest counts as unread.
  EXPECT_GT(unread, (1 << 20) - (128 << 10));
  EXPECT_TRUE(writer.Flush(kLong));
  const auto queued = static_cast<int64_t>(std::string("\n[1] half").size() +
                                           std::string("queued\n").size() +
                                           std::string("discarded\n").size());
  EXPECT_NEAR(writer.loss().unread, queued, 2);
}

TEST(ConsoleWriterTest, FullDiskIsReportedAndCounted) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  std::promise<int> error;
  {
    ConsoleWriter writer(full);
    writer.SetOnError([&](int number) { error.set_value(number); });
    writer.WriteOutput("line\n");
    EXPECT_TRUE(writer.Flush(kLong));
    writer.Write("verdict\n");
    EXPECT_TRUE(writer.Flush(kLong));
    EXPECT_EQ(writer.loss().failed, 13);
    EXPECT_EQ(writer.loss().error, ENOSPC);
    EXPECT_EQ(writer.loss().unread, 0);
  }
  EXPECT_EQ(error.get_future().get(), ENOSPC);
  close(full);
}

TEST(ConsoleWriterTest, OnceADiskTakesAgainALineSaysWhatIsMissing) {
  std::string path = ::testing::TempDir() + "/limited-XXXXXX";
  const int fd = mkstemp(path.data());
  ASSERT_GE(fd, 0);
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, SIG_IGN);
  const rlimit small = {.rlim_cur = 8, .rlim_max = before.rlim_max};
  {
    ConsoleWriter writer(fd);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    writer.WriteOutput("first line\n");
    EXPECT_TRUE(writer.Flush(kLong));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    writer.WriteOutput("second line\n");
    EXPECT_TRUE(writer.Flush(kLong));
  }
  char text[128];
  const ssize_t count = pread(fd, text, sizeof text, 0);
  EXPECT_EQ(std::string(text, count),
            "first li\n[3 bytes are missing here: File too large]\n"
            "second line\n");
  close(fd);
  unlink(path.c_str());
}

TEST(ConsoleWriterTest, OurLinesBeginAtTheStartOfALine) {
  Pipe pipe;
  ConsoleWriter writer(pipe.write_end());
  writer.WriteOutput({.stream = 1, .prefix = "[1] ", .text = "half"});
  writer.Write("verdict\n");
  EXPECT_EQ(pipe.ReadUntil("verdict\n"), "[1] half\nverdict\n");
}

TEST(ConsoleWriterTest, DestructorReturnsWithoutAReader) {
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
  // The console is a socket, which cannot be opened again in non-blocking mode.
  // Writes to it therefore block.
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
  // ends the write of the writer's thread, which was still blocked
  close(ends[1]);
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

TEST(ConsoleWriterTest, StoppedTerminalBlocksNoCaller) {
  int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) GTEST_SKIP() << "this machine has no pseudo-terminals";
  ASSERT_EQ(grantpt(master), 0);
  ASSERT_EQ(unlockpt(master), 0);
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  ASSERT_GE(terminal, 0);
  // Stops the terminal's output, as Ctrl-S does.
  ASSERT_EQ(tcflow(terminal, TCOOFF), 0);
  {
    ConsoleWriter writer(terminal);
    writer.Write("held\n");
    EXPECT_FALSE(writer.Flush(std::chrono::milliseconds(50)));
    // Continues the terminal's output, as Ctrl-Q does.
    ASSERT_EQ(tcflow(terminal, TCOON), 0);
    EXPECT_TRUE(writer.Flush(kLong));
  }
  char text[64];
  ssize_t count = read(master, text, sizeof text);
  EXPECT_THAT(std::string(text, count), StartsWith("held"));
  close(terminal);
  close(master);
}

TEST(IsSameConsoleTest, DifferentPipesAreDifferentConsoles) {
  Pipe pipe;
  Pipe other;
  int copy = dup(pipe.write_end());
  EXPECT_TRUE(IsSameConsole(pipe.write_end(), copy));
  EXPECT_FALSE(IsSameConsole(pipe.write_end(), other.write_end()));
  EXPECT_FALSE(IsSameConsole(pipe.write_end(), -1));
  close(copy);
}

}  // namespace
}  // namespace muster::agent
