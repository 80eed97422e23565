#include "launcher/doctor/worker_outcome.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace muster::launcher {
namespace {

TEST(OutcomeFile, AResultIsWrittenReadAndDeleted) {
  std::string path;
  {
    const auto file = OutcomeFile::Make(testing::TempDir());
    ASSERT_TRUE(file.ok()) << file.status();
    path = file->path();
    EXPECT_FALSE(file->Read().has_value());
    ASSERT_TRUE(LeaveExitCode(path, 4));
    EXPECT_EQ(file->Read()->exit_code, 4);
    EXPECT_EQ(file->Read()->page, "");
    ASSERT_TRUE(LeavePage(path, {3, "a page\nof lines\n"}));
    // LeaveExitCode does not overwrite a result in the file: another node that
    // shares the folder may have written the result.
    ASSERT_TRUE(LeaveExitCode(path, 4));
    const auto outcome = file->Read();
    ASSERT_TRUE(outcome.has_value());
    EXPECT_EQ(outcome->exit_code, 3);
    EXPECT_EQ(outcome->page, "a page\nof lines\n");
  }
  // The destructor of OutcomeFile has deleted the result file. LeavePage and
  // LeaveExitCode must not create a file: if there is no result file on this
  // node, no `launch` on this node waits for the result.
  EXPECT_FALSE(LeavePage(path, {0, ""}));
  EXPECT_FALSE(LeaveExitCode(path, 0));
  EXPECT_FALSE(OutcomeFile::Make("/no/such/folder").ok());
}

std::string Prefixed(const std::string& lines) {
  std::string all;
  for (const auto& piece : absl::StrSplit(lines, '\n')) {
    const std::string line(piece);
    if (!line.empty()) absl::StrAppend(&all, "[host1:0] ", line, "\n");
  }
  return all;
}

TEST(OutcomeLines, AnyBytesAreDecodedFromPrefixedLines) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text.push_back(static_cast<char>(i * 7));
  const std::string lines = OutcomeLines(text);
  for (const auto& line : absl::StrSplit(lines, '\n')) {
    EXPECT_LT(std::string(line).size(), 60u << 10);
  }
  const ReadOutcome read = ReadOutcomeLines(Prefixed(lines));
  ASSERT_TRUE(read.text.has_value());
  EXPECT_EQ(*read.text, text);
  EXPECT_EQ(read.rest, "");
}

TEST(OutcomeLines, AnEmptyTextIsDecodedAsText) {
  EXPECT_EQ(ReadOutcomeLines(OutcomeLines("")).text, "");
  EXPECT_FALSE(ReadOutcomeLines("").text.has_value());
}

TEST(OutcomeLines, OtherLinesAreReturnedSeparately) {
  const ReadOutcome read =
      ReadOutcomeLines(absl::StrCat("srun: hm\n", OutcomeLines("x"), "end"));
  EXPECT_EQ(read.text, "x");
  EXPECT_EQ(read.rest, "srun: hm\nend\n");
}

TEST(OutcomeLines, AMissingOrInvalidLineGivesNoText) {
  const std::string lines = OutcomeLines(std::string(60'000, 'a'));
  const size_t second = lines.find('\n') + 1;
  EXPECT_FALSE(ReadOutcomeLines(lines.substr(0, second)).text.has_value());
  EXPECT_FALSE(ReadOutcomeLines(lines.substr(second)).text.has_value());
  EXPECT_FALSE(ReadOutcomeLines(absl::StrCat(lines, lines)).text.has_value());
  for (const char* spoilt :
       {"muster-doctor:", "muster-doctor:0/1", "muster-doctor:0:1/x",
        "muster-doctor:0/1:*", "muster-doctor:x/1:eA=="}) {
    EXPECT_FALSE(ReadOutcomeLines(spoilt).text.has_value()) << spoilt;
  }
}

}  // namespace
}  // namespace muster::launcher
