#include "launcher/run_report/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "agent/logs/log_paths.h"
#include "rendezvous/journal/journal.h"
#include "rendezvous/journal/record_store.h"
#include "rendezvous/wire/memory_wire.h"
#include "rendezvous/wire/record_wire.h"

namespace muster::launcher {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string Line(int second, int round, const std::string& kind,
                 const std::string& run_id = "job",
                 const std::string& more = "") {
  return "{\"time\":\"2026-03-01T14:05:" + std::string(second < 10 ? "0" : "") +
         std::to_string(second) + ".000Z\",\"run_id\":\"" + run_id +
         "\",\"round\":" + std::to_string(round) + ",\"kind\":\"" + kind +
         "\",\"node\":null,\"reason\":\"because\"" + more + "}\n";
}

constexpr char kRank1[] =
    R"(,"failure":{"kind":"signal","signal":9,"rank":1,"host":"h2"})";

class RunFilesTest : public testing::Test {
 protected:
  RunFilesTest() {
    std::string pattern =
        std::string(std::getenv("TEST_TMPDIR")) + "/runXXXXXX";
    dir_ = mkdtemp(pattern.data());
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::filesystem::path path = std::filesystem::path(dir_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }
  std::string Path(const std::string& name) const { return dir_ + "/" + name; }
  // Writes a journal to the folder "state": the records of jobs (key: run id),
  // and a fault of the machine "h2" in the job `faulty`.
  void WriteJournal(const std::map<std::string, std::string>& records,
                    const std::string& faulty = "") {
    auto journal = rendezvous::Journal::Open(Path("state"), 0);
    ASSERT_TRUE(journal.ok()) << journal.status();
    for (const auto& [run_id, record] : records) {
      (*journal)->Put(run_id, record, nullptr);
    }
    rendezvous::NodeMemory memory;
    memory.Record(kWritten, 1,
                  {.host = {.host = "h2", .ip = ""},
                   .run_id = faulty,
                   .signature = "",
                   .text = "killed by SIGBUS"});
    (*journal)->Put(rendezvous::kNodeMemoryKey,
                    rendezvous::ToBytes(memory.Keep()), nullptr);
  }
  static std::string Record(const std::string& run_id,
                            const std::string& tag = "") {
    rendezvous::KeptJob kept;
    kept.written_at = kWritten;
    kept.job.run_id = run_id;
    kept.job.run_tag = tag;
    kept.job.restarts_used = 2;
    kept.job.age = std::chrono::minutes(5);
    return rendezvous::ToBytes(kept);
  }
  // Seconds since 1970: one second after the newest event of these tests.
  static constexpr Duration kWritten = std::chrono::seconds(1772373904);

  std::string dir_;
};

TEST_F(RunFilesTest, FolderGivesEventsAndOutputOfTheRankThatFailed) {
  Write("r/events.jsonl", Line(1, 1, "assign") +
                              Line(2, 1, "break", "job", kRank1) +
                              Line(3, 2, "assign"));
  Write("r/attempt_0/1/stderr.log", "first\nlast words\n");
  Write("r/attempt_0/1/stdout.log", "said\n");
  Write("r/attempt_0/1/stack.txt", "frame\n");
  Write("r/attempt_0/1/error.json",
        R"({"message":{"message":"ValueError: x","extraInfo":)"
        R"({"py_callstack":"Traceback","timestamp":"1"}}})");
  Write("r/attempt_0/0/stderr.log", "not of this one\n");
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "job");
  ASSERT_THAT(report->outputs, SizeIs(1));
  const ReportOutput& output = report->outputs[0];
  EXPECT_EQ(output.rank, 1);
  EXPECT_EQ(output.error_message, "ValueError: x");
  ASSERT_THAT(output.streams, SizeIs(3));
  EXPECT_THAT(output.streams[0].lines, ElementsAre("frame"));
  EXPECT_THAT(output.streams[1].lines, ElementsAre("first", "last words"));
  EXPECT_EQ(output.streams[1].bytes, 17);
  EXPECT_THAT(report->sources,
              Contains(AllOf(Field(&ReportSource::path, Path("r/events.jsonl")),
                             Field(&ReportSource::what, "3 events"))));
}

TEST_F(RunFilesTest, FolderOfAnotherNodeIsRead) {
  Write("r/events.jsonl",
        Line(1, 1, "assign") + Line(2, 1, "break", "job", kRank1));
  Write("copied/attempt_0/1/stderr.log", "words\n");
  const auto report = ReadRun({.named = {Path("r"), Path("copied")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->outputs, SizeIs(1));
}

TEST_F(RunFilesTest, MissingFilesAreSaidOnceForEachHost) {
  Write("r/events.jsonl",
        Line(1, 1, "assign") + Line(2, 1, "break", "job", kRank1) +
            Line(3, 2, "assign") + Line(4, 2, "break", "job", kRank1));
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->missing,
              Contains(HasSubstr("The files of rank 1 in round 2, rank 1 in "
                                 "round 1 are not here; they are on h2")));
}

TEST_F(RunFilesTest, LastLineOfAKilledCoordinatorIsCutOff) {
  Write("r/events.jsonl", Line(1, 1, "assign") + "{\"time\":\"2026-03");
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->rounds, SizeIs(1));
  EXPECT_THAT(report->sources,
              Contains(Field(&ReportSource::what,
                             "1 event; the last line is cut off")));
}

TEST_F(RunFilesTest, LinesThatAreNoEventsAreCounted) {
  Write("r/events.jsonl", "nonsense\n" + std::string(3 << 20, 'x') + "\n\n" +
                              Line(1, 1, "assign"));
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->sources,
              Contains(Field(&ReportSource::what,
                             "1 event; 1 line not readable; 1 line too long")));
}

TEST_F(RunFilesTest, RotatedLogsComeFirst) {
  Write("r/events.jsonl", Line(3, 2, "assign"));
  Write("r/events.jsonl.1", Line(2, 1, "break"));
  Write("r/events.jsonl.2", Line(1, 1, "assign"));
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->rounds, SizeIs(2));
}

TEST_F(RunFilesTest, LogDirGivesItsLatestRun) {
  Write("logs/a_1/events.jsonl", Line(1, 1, "assign", "a"));
  Write("logs/b_2/events.jsonl", Line(1, 1, "assign", "b"));
  std::filesystem::create_directory_symlink("a_1", Path("logs/latest"));
  const auto report = ReadRun({.named = {Path("logs")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "a");
}

TEST_F(RunFilesTest, RunIdFindsItsFolder) {
  Write("logs/a_1/events.jsonl", Line(1, 1, "assign", "a"));
  Write("logs/b_2/events.jsonl", Line(1, 1, "assign", "b"));
  const auto report = ReadRun({.named = {"b"}, .log_dir = Path("logs")});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "b");
  const auto unknown = ReadRun({.named = {"c"}, .log_dir = Path("logs")});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.status().message(),
              AllOf(HasSubstr("\"c\""), HasSubstr("a_1, b_2")));
}

TEST_F(RunFilesTest, EventLogOfSeveralRunsNeedsARunId) {
  const std::string log =
      Write("d.jsonl", Line(1, 1, "assign", "a") + Line(2, 1, "assign", "b"));
  const auto several = ReadRun({.named = {log}});
  EXPECT_EQ(several.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(several.status().message(), HasSubstr("a, b"));
  const auto one =
      ReadRun({.named = {"b"}, .log_dir = "", .event_logs = {log}});
  ASSERT_TRUE(one.ok()) << one.status();
  EXPECT_EQ(one->run_id, "b");
  EXPECT_THAT(one->sources, Contains(Field(&ReportSource::what,
                                           "1 event; 1 event of other runs")));
  EXPECT_THAT(ReadRun({.named = {"c"}, .log_dir = "", .event_logs = {log}})
                  .status()
                  .message(),
              AllOf(HasSubstr("no events of \"c\""), HasSubstr("a, b")));
}

TEST_F(RunFilesTest, NothingThatExistsIsAnError) {
  EXPECT_EQ(ReadRun({}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadRun({.named = {"absent"}}).status().code(),
            absl::StatusCode::kNotFound);
  std::filesystem::create_directory(Path("empty"));
  EXPECT_THAT(ReadRun({.named = {Path("empty")}}).status().message(),
              HasSubstr("has no folder of a run"));
}

TEST_F(RunFilesTest, ADeviceIsNoRun) {
  const auto report = ReadRun({.named = {"/dev/null"}});
  EXPECT_EQ(report.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(report.status().message(),
            "/dev/null is neither a folder nor a regular file");
}

TEST_F(RunFilesTest, ARunsFolderIsNotThatOfAnotherRun) {
  for (const char* id : {"job", "job7", "job-1", "job_2", "a:b", "日本"}) {
    const std::string folder =
        agent::RunFolder("logs", agent::TaggedRunName(id, "12ab34cd"));
    Write(folder + "/events.jsonl", Line(1, 1, "assign", id));
  }
  for (const char* id : {"job", "job7", "job-1", "job_2", "a:b", "日本"}) {
    const auto report = ReadRun({.named = {id}, .log_dir = Path("logs")});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_EQ(report->run_id, id);
  }
  for (const char* id : {"jo", "job-", "job_", "j", "job_2_"}) {
    EXPECT_TRUE(absl::IsNotFound(
        ReadRun({.named = {id}, .log_dir = Path("logs")}).status()))
        << id;
  }
  EXPECT_TRUE(absl::IsInvalidArgument(
      ReadRun({.named = {""}, .log_dir = Path("logs")}).status()));
}

TEST_F(RunFilesTest, FolderWithoutAnEventLogGivesTheNewestOutput) {
  Write("node_b/attempt_0/2/stderr.log", "old\n");
  Write("node_b/attempt_1/2/stderr.log", "new\n");
  const auto report = ReadRun({.named = {Path("node_b")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "node_b");
  ASSERT_THAT(report->outputs, SizeIs(1));
  EXPECT_EQ(report->outputs[0].round, 2);
  EXPECT_THAT(report->missing, Contains(HasSubstr("no events.jsonl")));
}

TEST_F(RunFilesTest, PipesAndFoldersInPlaceOfFilesAreNotRead) {
  Write("r/events.jsonl",
        Line(1, 1, "assign") + Line(2, 1, "break", "job", kRank1));
  std::filesystem::create_directories(Path("r/attempt_0/1/stdout.log"));
  ASSERT_EQ(mkfifo(Path("r/attempt_0/1/stderr.log").c_str(), 0600), 0);
  const auto report = ReadRun({.named = {Path("r")}});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_THAT(report->outputs, IsEmpty());
  EXPECT_THAT(report->sources,
              Contains(AllOf(
                  Field(&ReportSource::path, Path("r/attempt_0/1/stderr.log")),
                  Field(&ReportSource::what, HasSubstr("not read")))));
}

TEST(EndOf, KeepsTheLastLines) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += std::to_string(i) + "\n";
  const FileEnd end = EndOf(text, FilePart::kWhole);
  ASSERT_THAT(end.lines, SizeIs(kMaxEndLines));
  EXPECT_EQ(end.lines.back(), "99");
  EXPECT_TRUE(end.is_cut);
  EXPECT_FALSE(EndOf("a\nb", FilePart::kWhole).is_cut);
}

TEST(EndOf, FirstLineOfAPartIsLeftOut) {
  const FileEnd end = EndOf("rest of a line\nb\n", FilePart::kEnd);
  EXPECT_THAT(end.lines, ElementsAre("b"));
  EXPECT_TRUE(end.is_cut);
}

TEST(EndOf, HostileBytesAreHarmless) {
  const FileEnd end = EndOf(
      std::string("\x1b[31mred\x1b[0m\n\0\xff\x07\n50 %\r100 %\nx\r\n", 31),
      FilePart::kWhole);
  EXPECT_THAT(end.lines, ElementsAre("red", "\xef\xbf\xbd", "100 %", "x"));
}

TEST(EndOf, LongLineIsCut) {
  const FileEnd end = EndOf(std::string(1 << 20, 'x'), FilePart::kEnd);
  ASSERT_THAT(end.lines, SizeIs(1));
  EXPECT_LT(end.lines[0].size(), 500u);
  EXPECT_THAT(end.lines[0], HasSubstr("[line of 1048576 bytes]"));
}

TEST_F(RunFilesTest, JournalAloneMakesAReport) {
  WriteJournal({{"a", Record("a")}, {"b", Record("b")}}, "b");
  const auto report = ReadRun({.named = {"b"}, .state_dir = Path("state")});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "b");
  ASSERT_TRUE(report->record.has_value());
  EXPECT_EQ(report->record->restarts_used, 2);
  ASSERT_THAT(report->machines, SizeIs(1));
  EXPECT_EQ(report->machines[0].newest, "killed by SIGBUS");
  EXPECT_THAT(report->sources,
              Contains(Field(&ReportSource::what,
                             AllOf(HasSubstr("2026-03-01 14:05:04 UTC"),
                                   HasSubstr("records of 1 other job")))));
  EXPECT_THAT(report->missing, Contains(HasSubstr("no events.jsonl")));
}

TEST_F(RunFilesTest, RunIdIsNeededOnlyIfTheJournalHasSeveralJobs) {
  WriteJournal({{"a", Record("a")}});
  const auto only = ReadRun({.named = {}, .state_dir = Path("state")});
  ASSERT_TRUE(only.ok()) << only.status();
  EXPECT_EQ(only->run_id, "a");
  WriteJournal({{"b", Record("b")}});
  const auto several = ReadRun({.named = {}, .state_dir = Path("state")});
  EXPECT_EQ(several.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(several.status().message(), HasSubstr("a, b"));
  const auto unknown = ReadRun({.named = {"c"}, .state_dir = Path("state")});
  EXPECT_EQ(unknown.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(unknown.status().message(),
              AllOf(HasSubstr("\"c\""), HasSubstr("a, b")));
}

TEST_F(RunFilesTest, JournalAndLogsMakeOneReport) {
  WriteJournal({{"job", Record("job")}});
  Write("r/events.jsonl", Line(1, 1, "assign") + Line(3, 1, "break"));
  const auto report =
      ReadRun({.named = {Path("r")}, .state_dir = Path("state")});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->events, 2);
  ASSERT_TRUE(report->record.has_value());
  EXPECT_THAT(report->record->comparison,
              HasSubstr("1.0 s newer than the newest event"));
}

TEST_F(RunFilesTest, LogFolderWithoutEventsFindsItsRecordByTheTag) {
  WriteJournal({{"a", Record("a", "t1")}, {"b", Record("b", "t2")}});
  Write("a_t1/attempt_0/0/stderr.log", "words\n");
  const auto report =
      ReadRun({.named = {Path("a_t1")}, .state_dir = Path("state")});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->run_id, "a");
  EXPECT_TRUE(report->record.has_value());
  EXPECT_THAT(report->outputs, SizeIs(1));
}

TEST_F(RunFilesTest, JournalThatCannotBeUsedLeavesTheLogs) {
  Write("r/events.jsonl", Line(1, 1, "assign"));
  WriteJournal({{"job", "no record"}});
  const auto damaged =
      ReadRun({.named = {Path("r")}, .state_dir = Path("state")});
  ASSERT_TRUE(damaged.ok()) << damaged.status();
  EXPECT_FALSE(damaged->record.has_value());
  EXPECT_THAT(damaged->missing,
              Contains(AllOf(HasSubstr("No journal was read"),
                             HasSubstr("its record of job is damaged"))));
  EXPECT_THAT(ReadRun({.named = {"job"}, .state_dir = Path("state")})
                  .status()
                  .message(),
              HasSubstr("its record of job is damaged"));
  const auto absent =
      ReadRun({.named = {Path("r")}, .state_dir = Path("absent")});
  ASSERT_TRUE(absent.ok()) << absent.status();
  EXPECT_THAT(absent->missing, Contains(HasSubstr("there is no journal")));
}

TEST_F(RunFilesTest, LogsThatCannotBeUsedLeaveTheJournal) {
  WriteJournal({{"a", Record("a")}});
  const std::string log = Write("d.jsonl", Line(1, 1, "assign", "b"));
  const auto report = ReadRun(
      {.named = {"a"}, .event_logs = {log}, .state_dir = Path("state")});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->record.has_value());
  EXPECT_THAT(report->missing, Contains(HasSubstr("No logs were read")));
  const auto none = ReadRun(
      {.named = {"c"}, .event_logs = {log}, .state_dir = Path("state")});
  EXPECT_THAT(none.status().message(), AllOf(HasSubstr("no events of \"c\""),
                                             HasSubstr("no record of \"c\"")));
}

}  // namespace
}  // namespace muster::launcher
