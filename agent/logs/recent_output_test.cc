#include "agent/logs/recent_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

using rendezvous::AnswerPart;
using rendezvous::Inquiry;
using rendezvous::OutputLine;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;
using Stream = RecentOutput::Stream;

constexpr Instant kStart = Instant(seconds(1000));

class RecentOutputTest : public ::testing::Test {
 protected:
  void Write(int rank, const std::string& bytes, Instant now = kStart,
             Stream stream = Stream::kOut, int round = 1) {
    output_->Append({.local_rank = rank - 4, .rank = rank, .round = round},
                    stream, bytes, now);
  }
  void EndStream(int rank, Stream stream = Stream::kOut) {
    output_->Begin();
    output_->End({.local_rank = rank - 4, .rank = rank, .round = 1}, stream);
  }
  OutputReader Reader(const Inquiry& question, Instant now = kStart) {
    return OutputReader(output_, question, now);
  }
  AnswerPart Read(const Inquiry& question, Instant now = kStart) {
    return Reader(question, now).Take(now);
  }
  static std::vector<std::string> Texts(const AnswerPart& part) {
    std::vector<std::string> texts;
    for (const OutputLine& line : part.lines) {
      texts.push_back(std::to_string(line.rank) + ":" + line.text);
    }
    return texts;
  }

  const std::shared_ptr<RecentOutput> output_ =
      std::make_shared<RecentOutput>();
};

TEST_F(RecentOutputTest, NewestLinesOfEachRankInTheOrderOfArrival) {
  Write(4, "a\nb\n");
  Write(5, "c\n");
  Write(4, "d\n");
  EXPECT_THAT(Texts(Read({.lines = 2})), ElementsAre("4:b", "5:c", "4:d"));
  EXPECT_THAT(Texts(Read({.lines = 0})), IsEmpty());
  EXPECT_THAT(Texts(Read({.lines = -1})), SizeIs(4));
}

TEST_F(RecentOutputTest, OnlyTheRanksThatAreAskedFor) {
  Write(4, "a\n");
  Write(5, "b\n");
  EXPECT_THAT(Texts(Read({.ranks = {5, 9}})), ElementsAre("5:b"));
}

TEST_F(RecentOutputTest, StreamsOfOneWorkerDoNotMixTheirLines) {
  Write(4, "begin ");
  Write(4, "error\n", kStart, Stream::kErr);
  Write(4, "end\n");
  const AnswerPart part = Read({});
  EXPECT_THAT(Texts(part), ElementsAre("4:error", "4:begin end"));
  EXPECT_EQ(part.lines[0].stream, Stream::kErr);
}

TEST_F(RecentOutputTest, UnfinishedLineIsTheLastOne) {
  Write(4, "a\nloading the checkpoint ...");
  EXPECT_THAT(Texts(Read({.lines = 1})),
              ElementsAre("4:loading the checkpoint ..."));
}

TEST_F(RecentOutputTest, OtherRoundsKeepTheirNumber) {
  Write(4, "a\n", kStart, Stream::kOut, 1);
  Write(4, "b\n", kStart, Stream::kOut, 2);
  const AnswerPart part = Read({});
  ASSERT_THAT(part.lines, SizeIs(2));
  EXPECT_EQ(part.lines[0].round, 1);
  EXPECT_EQ(part.lines[1].round, 2);
}

TEST_F(RecentOutputTest, SinceSelectsByTheTimeOfArrival) {
  Write(4, "old\n", kStart);
  Write(4, "new\n", kStart + seconds(50));
  EXPECT_THAT(
      Texts(Read({.lines = -1, .since = seconds(20)}, kStart + seconds(60))),
      ElementsAre("4:new"));
}

TEST_F(RecentOutputTest, PatternSelectsBeforeLinesAreCounted) {
  Write(4, "loss 1\nstep\nloss nan\nstep\nstep\n");
  EXPECT_THAT(Texts(Read({.lines = 2, .pattern = "loss (nan|inf)"})),
              ElementsAre("4:loss nan"));
}

TEST_F(RecentOutputTest, PatternSeesTheTextAsItIsShown) {
  Write(4, "\x1b[32mgreen\x1b[0m loss\n\xc3\xa4\xc3\xb6\xc3\xbc\n\xff\n");
  EXPECT_THAT(Texts(Read({.pattern = "^green loss$"})), SizeIs(1));
  EXPECT_THAT(Texts(Read({.pattern = "^.{3}$"})), SizeIs(1));
  EXPECT_THAT(Texts(Read({.pattern = "(?i)\xc3\x84"})), SizeIs(1));
}

TEST_F(RecentOutputTest, PatternThatCannotBeReadIsSaid) {
  Write(4, "a\n");
  const AnswerPart part = Read({.pattern = "("});
  EXPECT_THAT(part.lines, IsEmpty());
  EXPECT_THAT(part.notes, ElementsAre(HasSubstr("no regular expression")));
}

TEST_F(RecentOutputTest, MemoryIsBoundedAndTheLossIsSaid) {
  for (int i = 0; i < 100'000; ++i)
    Write(4, "line " + std::to_string(i) + "\n");
  size_t bytes = 0;
  for (const auto& block : output_->Read(0, 0)) bytes += block.bytes.size();
  EXPECT_LE(bytes, RecentOutput::kMaxBytesPerWorker);
  const AnswerPart part = Read({.lines = -1});
  EXPECT_EQ(part.lines.back().text, "line 99999");
  EXPECT_THAT(part.notes, ElementsAre(HasSubstr("older output")));
  EXPECT_THAT(Read({.lines = 3}).notes, IsEmpty());
}

TEST_F(RecentOutputTest, GigabyteWithoutNewlineIsBounded) {
  Write(4, std::string(10 << 20, 'x'));
  const AnswerPart part = Read({.lines = 1});
  ASSERT_THAT(part.lines, SizeIs(1));
  EXPECT_LE(part.lines[0].text.size(), rendezvous::kMaxOutputLineBytes);
}

TEST_F(RecentOutputTest, FollowerGetsEachNewLineOnce) {
  Write(4, "a\nb");
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  EXPECT_THAT(Texts(reader.Take(kStart)), ElementsAre("4:a"));
  EXPECT_THAT(Texts(reader.Take(kStart)), IsEmpty());
  Write(4, "c\nd\n");
  Write(5, "e\n");
  EXPECT_THAT(Texts(reader.Take(kStart)), ElementsAre("4:bc", "4:d", "5:e"));
  EXPECT_THAT(Texts(reader.Take(kStart)), IsEmpty());
}

TEST_F(RecentOutputTest, FollowerGetsTheLastLineAtTheStreamsEnd) {
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  Write(4, "last words");
  EXPECT_THAT(Texts(reader.Take(kStart)), IsEmpty());
  EndStream(4, Stream::kErr);
  EXPECT_THAT(Texts(reader.Take(kStart)), IsEmpty());
  EndStream(4);
  EXPECT_THAT(Texts(reader.Take(kStart)), ElementsAre("4:last words"));
}

TEST_F(RecentOutputTest, FollowerGetsAPromptOnceItStandsStill) {
  const Instant due = kStart + OutputReader::kUnfinishedAfter;
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  Write(4, "loading\nsure? ");
  EXPECT_THAT(Texts(reader.Take(due - milliseconds(1))),
              ElementsAre("4:loading"));
  Write(4, "oops", due, Stream::kErr);
  const std::vector<OutputLine> shown = reader.Take(due).lines;
  ASSERT_THAT(shown, SizeIs(1));
  EXPECT_EQ(shown[0].text, "sure? ");
  EXPECT_THAT(Texts(reader.Take(due)), IsEmpty());
  // The newline ends the prompt "sure? ", which Take has returned before, so
  // the newline adds no line to the result of Take. The new prompt "second? "
  // is an unfinished line, so Take returns it only after kUnfinishedAfter.
  Write(4, "\nsecond? ", due);
  EXPECT_THAT(Texts(reader.Take(due)), IsEmpty());
  EXPECT_THAT(Texts(reader.Take(due + OutputReader::kUnfinishedAfter)),
              UnorderedElementsAre("4:oops", "4:second? "));
  Write(4, "yes\n\n", due + seconds(2));
  const std::vector<OutputLine> rest = reader.Take(due + seconds(2)).lines;
  ASSERT_THAT(rest, SizeIs(2));
  EXPECT_EQ(rest[0].text, "yes");
  EXPECT_EQ(rest[1].text, "");
  EXPECT_GT(rest[0].position, shown[0].position);
}

TEST_F(RecentOutputTest, SlowFollowerIsToldWhatItMissed) {
  Write(4, "a\n");
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  reader.Take(kStart);
  for (int i = 0; i < 10'000; ++i) Write(4, std::string(100, 'y') + "\n");
  const AnswerPart part = reader.Take(kStart);
  EXPECT_THAT(part.notes, ElementsAre(HasSubstr("bytes were skipped")));
}

TEST_F(RecentOutputTest, SlowFollowerIsToldEachMissingByte) {
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  Write(4, "unfinished ");
  reader.Take(kStart);
  // Write one piece that ends the unfinished line and has more bytes than
  // RecentOutput keeps.
  constexpr size_t kPiece = RecentOutput::kMaxBytesPerWorker + 8;
  Write(4, std::string(kPiece, 'y') + "\n");
  const AnswerPart part = reader.Take(kStart);
  ASSERT_THAT(part.notes, SizeIs(1));
  size_t shown = 0;
  for (const OutputLine& line : part.lines) shown += line.text.size();
  // The note counts exactly the bytes that are missing in the answer's lines.
  // Long lines lose no bytes, because they are cut into several lines.
  EXPECT_THAT(part.notes[0],
              HasSubstr(absl::StrCat("rank 4: ", 11 + kPiece - shown,
                                     " bytes were skipped")));
  EXPECT_EQ(output_->sums().skipped, 11 + kPiece - shown);
  EXPECT_EQ(output_->sums().written, 11 + kPiece + 1);
}

TEST_F(RecentOutputTest, LinesHaveTheSamePositionForEachReader) {
  const Inquiry question{.lines = -1, .follow = Inquiry::Follow::kYes};
  OutputReader early = Reader(question);
  std::vector<OutputLine> seen;
  for (const char* piece : {"a\nb", "c\n", "d\ne\n"}) {
    Write(4, piece);
    for (OutputLine& line : early.Take(kStart).lines) seen.push_back(line);
  }
  EXPECT_EQ(Read(question).lines, seen);
  ASSERT_THAT(seen, SizeIs(4));
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_GT(seen[i].position, seen[i - 1].position);
  }
}

TEST_F(RecentOutputTest, ProgressBarShowsOneStateASecond) {
  OutputReader reader = Reader({.follow = Inquiry::Follow::kYes});
  reader.Take(kStart);
  const auto take_after = [&](const std::string& bytes, Instant now) {
    Write(4, bytes, now);
    return Texts(reader.Take(now));
  };
  EXPECT_THAT(take_after("1%\r2%\r3%\r", kStart + seconds(9)),
              ElementsAre("4:1%"));
  EXPECT_THAT(take_after("4%\r5%\r", kStart + milliseconds(9500)), IsEmpty());
  EXPECT_THAT(take_after("6%\r7%\r", kStart + seconds(11)), SizeIs(1));
  // The worker has printed the state 7% of its progress bar, and then nothing
  // for one second (kUnfinishedAfter). So the state is returned.
  EXPECT_THAT(Texts(reader.Take(kStart + seconds(12))), ElementsAre("4:7%"));
  EXPECT_THAT(take_after("\n8%\r9%\r", kStart + seconds(13)),
              ElementsAre("4:8%"));
}

TEST_F(RecentOutputTest, WaitsEndAtOnceForWhatIsThere) {
  const uint64_t version = output_->version();
  Write(4, "a\n");
  output_->WaitForMore(version, Instant::max());
  output_->Begin();
  EndStream(4);
  output_->End({}, Stream::kOut);
  output_->WaitUntilEnded(Instant::max());
  output_->Close();
  output_->WaitForMore(output_->version(), Instant::max());
  EXPECT_TRUE(output_->closed());
}

TEST(SplitAnswerTest, PartsKeepTheOrderAndTheLimits) {
  AnswerPart whole;
  for (int i = 0; i < 5000; ++i) {
    whole.lines.push_back({.rank = i, .text = std::string(i % 700, 'x')});
  }
  whole.lines.push_back({.rank = 5000, .text = std::string(64 << 10, 'x')});
  whole.notes = {"note"};
  whole.is_last = true;
  const std::vector<AnswerPart> parts = SplitAnswer(whole);
  AnswerPart back;
  for (const AnswerPart& part : parts) {
    EXPECT_EQ(part.is_last, &part == &parts.back());
    EXPECT_LE(part.lines.size(), rendezvous::kMaxPartLines);
    size_t bytes = 0;
    for (const OutputLine& line : part.lines) bytes += line.text.size();
    EXPECT_LE(bytes, rendezvous::kMaxPartBytes);
    back.notes.insert(back.notes.end(), part.notes.begin(), part.notes.end());
    back.lines.insert(back.lines.end(), part.lines.begin(), part.lines.end());
  }
  EXPECT_EQ(back.lines, whole.lines);
  EXPECT_EQ(back.notes, whole.notes);
}

}  // namespace
}  // namespace muster::agent
