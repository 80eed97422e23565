#include "launcher/report/top_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace muster::launcher {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

rendezvous::JobStatus Job(int nodes) {
  rendezvous::JobStatus job;
  job.run_id = "exp-7";
  job.phase = rendezvous::JobPhase::kRunning;
  job.reason = "all nodes run";
  job.round = 2;
  job.world_size = 2 * nodes;
  for (int i = 0; i < nodes; ++i) {
    rendezvous::NodeStatus node;
    node.node.node_id = node.node.host = "host-" + std::to_string(i);
    node.node.slots = 2;
    node.group_rank = i;
    node.phase = rendezvous::NodePhase::kRunning;
    // The first rank of each node reports: on node i it is at step 100 + i. The
    // second rank reports nothing.
    node.progress = {{.local_rank = 0,
                      .step = 100 + i,
                      .loss = 2.5,
                      .tokens_per_s = 100.0 - i,
                      .silent_for = std::chrono::seconds(i)}};
    job.nodes.push_back(node);
  }
  return job;
}

// The ranks of the table's lines, from the top.
std::vector<std::string> Ranks(const TopScreen& screen) {
  std::vector<std::string> ranks;
  bool in_table = false;
  for (const std::string& line : screen.lines) {
    if (in_table && line[0] >= '0' && line[0] <= '9') {
      ranks.push_back(line.substr(0, line.find(' ')));
    }
    in_table = in_table || line.rfind("RANK", 0) == 0;
  }
  return ranks;
}

std::vector<std::string> RanksBy(TopSort sort) {
  return Ranks(ScreenOf(Job(2), {.sort = sort}, {}, 30, 120));
}

using Names = std::vector<std::string>;

TEST(TopViewTest, ShowsTheJobAndItsRanks) {
  const TopScreen screen = ScreenOf(Job(2), {}, {}, 30, 120);
  EXPECT_THAT(screen.lines[0],
              StartsWith("job exp-7: running, round 2, 4 workers"));
  EXPECT_EQ(screen.lines[1], "all nodes run");
  EXPECT_THAT(screen.lines[2], HasSubstr("2 of 4 ranks report"));
  EXPECT_EQ(Ranks(screen).size(), 4u);
}

TEST(TopViewTest, SortsByEachColumnWithSilentRanksLast) {
  EXPECT_EQ(RanksBy(TopSort::kRank), (Names{"0", "1", "2", "3"}));
  EXPECT_EQ(RanksBy(TopSort::kStep), (Names{"0", "2", "1", "3"}));
  EXPECT_EQ(RanksBy(TopSort::kSilence), (Names{"2", "0", "1", "3"}));
  EXPECT_EQ(RanksBy(TopSort::kRate), (Names{"2", "0", "1", "3"}));
}

TEST(TopViewTest, KeysChooseTheOrder) {
  const rendezvous::JobStatus job = Job(2);
  EXPECT_EQ(AfterKey({}, TopKey::kRank, job, 30).sort, TopSort::kRank);
  EXPECT_EQ(AfterKey({}, TopKey::kSilent, job, 30).sort, TopSort::kSilence);
  EXPECT_EQ(AfterKey({}, TopKey::kRate, job, 30).sort, TopSort::kRate);
  EXPECT_EQ(AfterKey({.sort = TopSort::kRate}, TopKey::kStep, job, 30).sort,
            TopSort::kStep);
}

TEST(TopViewTest, ArrowsMoveInTheShownOrderAndStopAtTheEnds) {
  const rendezvous::JobStatus job = Job(2);
  TopChoice choice;
  choice = AfterKey(choice, TopKey::kDown, job, 30);
  EXPECT_EQ(choice.rank, 2);
  choice = AfterKey(choice, TopKey::kUp, job, 30);
  choice = AfterKey(choice, TopKey::kUp, job, 30);
  EXPECT_EQ(choice.rank, 0);
  choice = AfterKey(choice, TopKey::kPageDown, job, 30);
  EXPECT_EQ(choice.rank, 3);
  choice = AfterKey(choice, TopKey::kPageUp, job, 30);
  EXPECT_EQ(choice.rank, 0);
}

TEST(TopViewTest, ALongTableIsScrolledToTheChosenRank) {
  const rendezvous::JobStatus job = Job(50);
  const TopChoice choice = {.sort = TopSort::kRank, .rank = 70};
  const TopScreen screen = ScreenOf(job, choice, {}, 24, 120);
  EXPECT_EQ(screen.lines.size(), 24u);
  ASSERT_TRUE(screen.chosen.has_value());
  EXPECT_THAT(screen.lines[*screen.chosen], StartsWith("70 "));
}

TEST(TopViewTest, AnOpenRankIsShownAlone) {
  const rendezvous::JobStatus job = Job(2);
  TopChoice choice = {.sort = TopSort::kRank, .rank = 2};
  choice = AfterKey(choice, TopKey::kOpen, job, 30);
  const TopScreen screen = ScreenOf(job, choice, {}, 30, 30);
  EXPECT_TRUE(Ranks(screen).empty());
  EXPECT_THAT(screen.lines, Contains("node         host-1"));
  EXPECT_THAT(screen.lines, Contains("step         101"));
  EXPECT_FALSE(AfterKey(choice, TopKey::kOpen, job, 30).is_open);
}

TEST(TopViewTest, AnOpenRankShowsHowItSpendsItsTime) {
  rendezvous::JobStatus job = Job(2);
  job.nodes[1].times = {{.local_rank = 0,
                         .work = std::chrono::seconds(5),
                         .data = std::chrono::seconds(1),
                         .collectives = std::chrono::seconds(2)},
                        {.local_rank = 9}};
  EXPECT_THAT(ScreenOf(job, {.rank = 2, .is_open = true}, {}, 30, 30).lines,
              Not(Contains(StartsWith("transfer"))))
      << "not divided yet";
  job.nodes[1].times[0].wait = std::chrono::milliseconds(1500);
  job.nodes[1].times[0].transfer = std::chrono::milliseconds(400);
  const TopScreen screen =
      ScreenOf(job, {.rank = 2, .is_open = true}, {}, 30, 30);
  EXPECT_THAT(screen.lines, Contains("own work     62.5 %, 5.0s"));
  EXPECT_THAT(screen.lines, Contains("data         12.5 %, 1.0s"));
  EXPECT_THAT(screen.lines, Contains("collectives  25.0 %, 2.0s"));
  EXPECT_THAT(screen.lines, Contains("wait         18.8 %, 1.5s"));
  EXPECT_THAT(screen.lines, Contains("transfer     5.0 %, 0.40s"));
  EXPECT_THAT(ScreenOf(job, {.rank = 3, .is_open = true}, {}, 30, 30).lines,
              Not(Contains(StartsWith("collectives"))));
}

TEST(TopViewTest, DetailsStandSideBySideInAWideTerminal) {
  const TopScreen screen =
      ScreenOf(Job(2), {.rank = 2, .is_open = true}, {}, 30, 120);
  EXPECT_THAT(screen.lines, Contains(AllOf(StartsWith("node         host-1"),
                                           HasSubstr("   step         101"))));
  EXPECT_LT(screen.lines.size(), 12u);
}

rendezvous::OutputTail Output(const std::vector<std::string>& texts,
                              int round = 2) {
  rendezvous::InquiryUpdate update;
  for (const std::string& text : texts) {
    update.part.lines.push_back({.rank = 2, .round = round, .text = text});
  }
  rendezvous::OutputTail tail;
  tail.Add(update);
  return tail;
}

// The lines of a screen that show the rank's output. They are below the
// output's title and above the line of keys.
std::vector<std::string> ShownOutput(const rendezvous::OutputTail& output,
                                     size_t rows, int columns) {
  const TopScreen screen =
      ScreenOf(Job(2), {.rank = 2, .is_open = true}, output, rows, columns);
  EXPECT_LE(screen.lines.size(), rows);
  const auto title = std::ranges::find_if(
      screen.lines,
      [](const std::string& line) { return line.starts_with("--- "); });
  if (title == screen.lines.end()) return {};
  return {title + 1, screen.lines.end() - 1};
}

TEST(TopViewTest, AnOpenRankShowsItsOutput) {
  EXPECT_THAT(ShownOutput(Output({"one", "  two"}), 30, 120),
              ElementsAre("one", "  two"));
  EXPECT_EQ(RankWithOutput({.rank = 2, .is_open = true}, Job(2)), 2);
  EXPECT_EQ(RankWithOutput({.rank = 2}, Job(2)), std::nullopt);
  EXPECT_EQ(RankWithOutput({.is_open = true}, {}), std::nullopt);
}

TEST(TopViewTest, HostileOutputIsPrintable) {
  EXPECT_THAT(
      ShownOutput(
          Output({"\x1b[2J\x1b]0;title\x07red\x1b[31m\r\t|", "\xff\xfe"}), 30,
          120),
      ElementsAre(
          AllOf(HasSubstr("red"), Not(HasSubstr("\x1b")), Not(HasSubstr("\t"))),
          "\xef\xbf\xbd\xef\xbf\xbd"));
}

TEST(TopViewTest, ALongLineOfOutputIsFoldedAndCut) {
  EXPECT_THAT(ShownOutput(Output({"abcdefghijkl"}), 40, 10),
              ElementsAre("abcdefghij", "kl"));
  EXPECT_THAT(
      ShownOutput(Output({std::string(1000, 'x')}), 40, 10),
      ElementsAre("xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxxxxx", "xxxxxxx..."));
}

TEST(TopViewTest, OutputOfAnotherRoundIsMarked) {
  rendezvous::OutputTail output = Output({"old"}, 1);
  rendezvous::InquiryUpdate update;
  update.part.lines = {{.round = 2, .text = "new"}};
  output.Add(update);
  EXPECT_THAT(ShownOutput(output, 30, 120),
              ElementsAre("old", "--- round 2 ---", "new"));
}

TEST(TopViewTest, TheNewestLinesHaveRoomInASmallTerminal) {
  std::vector<std::string> texts(50, "x");
  texts.back() = "last";
  for (size_t rows = 14; rows < 40; ++rows) {
    for (const int columns : {20, 40, 80}) {
      const auto shown = ShownOutput(Output(texts), rows, columns);
      ASSERT_GE(shown.size(), 6u) << rows << " x " << columns;
      EXPECT_EQ(shown.back(), "last");
    }
  }
}

TEST(TopViewTest, OutputIsHeldUntilAnotherRankIsShown) {
  const rendezvous::JobStatus job = Job(2);
  TopChoice choice = {.rank = 2, .is_open = true};
  choice = AfterKey(choice, TopKey::kFollow, job, 30);
  EXPECT_FALSE(choice.follows);
  EXPECT_THAT(ScreenOf(job, choice, {}, 30, 120).lines,
              Contains(HasSubstr("rank 2, held")));
  EXPECT_TRUE(AfterKey(choice, TopKey::kFollow, job, 30).follows);
  EXPECT_TRUE(AfterKey(choice, TopKey::kUp, job, 30).follows);
  EXPECT_TRUE(AfterKey(choice, TopKey::kOpen, job, 30).follows);
  EXPECT_FALSE(AfterKey(choice, TopKey::kStep, job, 30).follows);
  EXPECT_TRUE(AfterKey({}, TopKey::kFollow, job, 30).follows);
}

TEST(TopViewTest, ANoteAboutTheOutputIsShown) {
  rendezvous::OutputTail output;
  output.SetNote("host-a: it is lost\x1b[2J");
  EXPECT_THAT(
      ScreenOf(Job(2), {.rank = 2, .is_open = true}, output, 30, 120).lines,
      Contains("--- output of rank 2: host-a: it is lost ---"));
}

TEST(TopViewTest, FitsEveryTerminal) {
  const rendezvous::JobStatus job = Job(5);
  for (size_t rows = 0; rows < 12; ++rows) {
    for (const int columns : {1, 10, 300}) {
      const TopScreen screen = ScreenOf(job, {}, {}, rows, columns);
      EXPECT_LE(screen.lines.size(), rows);
      EXPECT_LE(
          ScreenOf(job, {.is_open = true}, Output({"a", "b"}), rows, columns)
              .lines.size(),
          rows);
      if (screen.chosen.has_value()) {
        EXPECT_LT(*screen.chosen, screen.lines.size());
      }
    }
  }
  EXPECT_FALSE(ScreenOf({}, {}, {}, 24, 80).chosen.has_value());
  EXPECT_FALSE(AfterKey({}, TopKey::kDown, {}, 24).rank.has_value());
}

}  // namespace
}  // namespace muster::launcher
