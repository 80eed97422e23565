#include "agent/logs/worker_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::chrono::milliseconds kMoment(100);

class WorkerStreamTest : public ::testing::Test {
 protected:
  StreamSinks ConsoleOnly() {
    StreamSinks sinks;
    sinks.prefix = "[n:3] ";
    sinks.console = [this](std::string lines) {
      shown_.push_back(line_.BeforeLines() + lines);
    };
    sinks.console_part = [this](const LinePart& part) {
      std::string bytes = line_.Compose(part);
      if (!bytes.empty()) shown_.push_back(bytes);
    };
    return sinks;
  }
  std::string path(const std::string& name) const {
    return ::testing::TempDir() + "/worker_stream_" + name;
  }
  std::unique_ptr<QueuedFile> File(const std::string& name) {
    std::remove(path(name).c_str());
    return std::make_unique<QueuedFile>(
        &files_, path(name), RotatingFile::Limits(), [](const std::string&) {});
  }
  std::string Read(const std::string& name) {
    EXPECT_TRUE(files_.Finish());
    std::stringstream text;
    text << std::ifstream(path(name)).rdbuf();
    return text.str();
  }

  // Lets `time` pass, and shows unfinished lines at their deadlines, as the
  // thread of LogRelay does.
  void Pass(WorkerStream& stream, Duration time) {
    const Instant end = now_ + time;
    while (stream.NextDeadline() && *stream.NextDeadline() <= end) {
      now_ = *stream.NextDeadline();
      stream.TimePassed(now_);
    }
    now_ = end;
  }

  Instant now_;
  FileQueue files_{[](const std::string&) {}};
  OpenLine line_{OpenLine::Redraw::kReplace};
  std::vector<std::string> shown_;
};

TEST_F(WorkerStreamTest, ShowsWholeLinesWithTheirPrefix) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("one\ntw", now_);
  EXPECT_THAT(shown_, ElementsAre("[n:3] one\n"));
  stream.Take("o\nlast", now_);
  stream.End();
  EXPECT_THAT(shown_,
              ElementsAre("[n:3] one\n", "[n:3] two\n", "[n:3] last\n"));
  EXPECT_EQ(stream.NextDeadline(), std::nullopt);
}

TEST_F(WorkerStreamTest, ProgressBarIsShownOnceASecondAndAtItsEnd) {
  WorkerStream stream(ConsoleOnly());
  for (int i = 0; i < 25; ++i) {
    stream.Take("\r" + std::to_string(i) + "%", now_);
    Pass(stream, kMoment);
  }
  stream.Take("\r100%\n", now_);
  EXPECT_THAT(shown_, ElementsAre("[n:3] 0%", "\r\x1b[K[n:3] 10%",
                                  "\r\x1b[K[n:3] 20%", "\r\x1b[K[n:3] 100%\n"));
}

TEST_F(WorkerStreamTest, ABarThatStallsShowsItsNewestState) {
  WorkerStream stream(ConsoleOnly());
  for (int i = 0; i < 5; ++i) {
    stream.Take("\r" + std::to_string(i) + "%", now_);
    Pass(stream, kMoment);
  }
  Pass(stream, std::chrono::seconds(5));
  EXPECT_THAT(shown_, ElementsAre("[n:3] 0%", "\r\x1b[K[n:3] 4%"));
  stream.End();
  EXPECT_EQ(shown_.back(), "\n");
}

TEST_F(WorkerStreamTest, AnUnfinishedLineIsShownOnceItHasWaited) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("Loading", now_);
  EXPECT_THAT(shown_, IsEmpty());
  Pass(stream, WorkerStream::kPartialDelay);
  EXPECT_THAT(shown_, ElementsAre("[n:3] Loading"));
  stream.Take("...", now_);
  Pass(stream, WorkerStream::kPartialDelay);
  stream.Take(" done\nnext\n", now_);
  EXPECT_THAT(shown_,
              ElementsAre("[n:3] Loading", "...", " done\n", "[n:3] next\n"));
  EXPECT_EQ(stream.NextDeadline(), std::nullopt);
}

TEST_F(WorkerStreamTest, LineEndedByAnotherStreamContinuesOnANewLine) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("Loading", now_);
  Pass(stream, WorkerStream::kPartialDelay);
  EXPECT_EQ(line_.BeforeLines(), "\n");
  stream.Take(" done\n", now_);
  EXPECT_THAT(shown_, ElementsAre("[n:3] Loading", "[n:3]  done\n"));
}

TEST_F(WorkerStreamTest, AShownLineIsEndedWithItsStream) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("Loading", now_);
  Pass(stream, WorkerStream::kPartialDelay);
  stream.End();
  EXPECT_THAT(shown_, ElementsAre("[n:3] Loading", "\n"));
}

TEST_F(WorkerStreamTest, UnfinishedEscapeSequenceIsHeldBack) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("a\x1b[3", now_);
  Pass(stream, WorkerStream::kPartialDelay);
  stream.Take("2mb\n", now_);
  EXPECT_THAT(shown_, ElementsAre("[n:3] a", "\x1b[32mb\x1b[0m\n"));
}

TEST_F(WorkerStreamTest, NothingMovesTheTerminalsCursor) {
  WorkerStream stream(ConsoleOnly());
  stream.Take("\x1b[Aup \x1b[32mgreen\n", now_);
  EXPECT_THAT(shown_, ElementsAre("[n:3] up \x1b[32mgreen\x1b[0m\n"));
}

TEST_F(WorkerStreamTest, APieceOfALongLineSaysThatItGoesOn) {
  WorkerStream stream(ConsoleOnly());
  stream.Take(std::string(kMaxConsoleLineBytes, 'x') + "rest\n", now_);
  ASSERT_EQ(shown_.size(), 1u);
  EXPECT_TRUE(shown_[0].ends_with("x [cut: this line goes on]\n[n:3] rest\n"));
}

TEST_F(WorkerStreamTest, TheFileGetsTheBytesAsTheyAre) {
  StreamSinks sinks = ConsoleOnly();
  sinks.file = File("raw");
  WorkerStream stream(std::move(sinks));
  std::string bytes("\r1%\r\x1b[A\xff\0 no end", 15);
  stream.Take(bytes, now_);
  EXPECT_EQ(Read("raw"), bytes);
}

TEST_F(WorkerStreamTest, LinesThatMatchAreCopiedEvenIfNoneIsShown) {
  StreamSinks sinks;
  sinks.prefix = "[n:3] ";
  sinks.filter = StreamFilter({"loss", "Error"});
  sinks.filtered_file = File("filtered");
  WorkerStream stream(std::move(sinks));
  stream.Take("step 1\nloss 2.1\nRuntimeError: x\nloss", now_);
  stream.End();
  EXPECT_EQ(Read("filtered"),
            "[n:3] loss 2.1\n[n:3] RuntimeError: x\n[n:3] loss\n");
  EXPECT_THAT(shown_, IsEmpty());
}

TEST_F(WorkerStreamTest, RemembersItsLastLinesOnlyWhereAsked) {
  StreamSinks sinks;
  sinks.remember = Remember::kLastLines;
  WorkerStream remembers(std::move(sinks));
  WorkerStream forgets((StreamSinks()));
  for (WorkerStream* stream : {&remembers, &forgets}) {
    stream->Take("boom\n", now_);
    stream->End();
  }
  EXPECT_THAT(remembers.LastLines(), ElementsAre("boom"));
  EXPECT_THAT(forgets.LastLines(), IsEmpty());
}

}  // namespace
}  // namespace muster::agent
