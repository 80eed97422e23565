#include "launcher/report/progress_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace muster::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// A job of `nodes` nodes with two ranks each, all of them at `step`.
rendezvous::JobStatus Job(int nodes, int64_t step) {
  rendezvous::JobStatus job;
  job.phase = rendezvous::JobPhase::kRunning;
  job.world_size = 2 * nodes;
  for (int i = 0; i < nodes; ++i) {
    rendezvous::NodeStatus& node = job.nodes.emplace_back();
    node.node.host = "host-" + std::to_string(i);
    node.node.slots = 2;
    node.group_rank = i;
    for (int local_rank = 0; local_rank < 2; ++local_rank) {
      node.progress.push_back({.local_rank = local_rank,
                               .step = step,
                               .loss = 2.25,
                               .tokens_per_s = 51000,
                               .silent_for = milliseconds(490)});
    }
  }
  return job;
}

TEST(ProgressLine, RanksAtOneStepShowOneNumber) {
  EXPECT_EQ(ProgressLine(Job(2, 1200)), "step 1200; loss 2.25; 204k tokens/s");
}

TEST(ProgressLine, TheSlowestRankIsNamed) {
  rendezvous::JobStatus job = Job(2, 1200);
  job.nodes[1].progress[1].step = 1180;
  job.nodes[1].progress[0].step = 1199;
  EXPECT_THAT(ProgressLine(job),
              StartsWith("steps 1180 to 1200 (median 1200), rank 3 is the "
                         "last; loss"));
}

TEST(ProgressLine, RanksWithoutReportAreCounted) {
  rendezvous::JobStatus job = Job(2, 1200);
  job.nodes[0].progress.clear();
  EXPECT_THAT(ProgressLine(job), HasSubstr("; 2 of 4 ranks report"));
  job.nodes[1].progress.clear();
  EXPECT_EQ(ProgressLine(job), "");
}

TEST(ProgressLine, HeartbeatsAloneShowTheLongestSilence) {
  rendezvous::JobStatus job = Job(1, 0);
  job.nodes[0].progress = {{.local_rank = 0, .silent_for = seconds(1)},
                           {.local_rank = 1, .silent_for = seconds(3)}};
  EXPECT_EQ(ProgressLine(job),
            "every rank reports, the longest ago rank 1, 3.0s ago");
}

TEST(RankLines, FewRanksHaveOneLineEach) {
  rendezvous::JobStatus job = Job(1, 1200);
  job.nodes[0].progress[1] = {.local_rank = 1,
                              .step = 980,
                              .loss = 12.5,
                              .tokens_per_s = 123456,
                              .status = "saving\x1b[1m",
                              .silent_for = seconds(25)};
  EXPECT_EQ("\n" + RankLines(job, {.columns = 100}), R"(
    rank 0  step 1200              loss 2.25  51000 tokens/s
    rank 1  step 980   220 behind  loss 12.5  123k tokens/s   silent for 25.0s  saving
)");
  job.nodes[0].progress.pop_back();
  EXPECT_EQ(RankLines(job, {}),
            "    rank 0  step 1200  loss 2.25  51000 tokens/s\n");
  EXPECT_EQ(RankLines(job, {.columns = 24}), "    rank 0  step 1200...\n");
}

TEST(RankLines, OfManyRanksTheSlowestAndFastestAreShown) {
  rendezvous::JobStatus job = Job(256, 1200);
  job.nodes[77].progress[1].tokens_per_s = 59000;
  job.nodes[3].progress[0].tokens_per_s = 12000;
  EXPECT_EQ("\n" + RankLines(job, {}), R"(
    slowest rank 6 (host-3)     step 1200  loss 2.25  12000 tokens/s
    fastest rank 155 (host-77)  step 1200  loss 2.25  59000 tokens/s
)");
  job.nodes[201].progress[1].step = 1100;
  EXPECT_THAT(RankLines(job, {}),
              StartsWith("    slowest rank 403 (host-201)  step 1100  100 "
                         "behind  loss"));
  EXPECT_THAT(RankLines(Job(4, 1), {}), Not(HasSubstr("slowest")));
}

TEST(RankLines, HeartbeatsAloneHaveNoLines) {
  rendezvous::JobStatus job = Job(1, 0);
  job.nodes[0].progress = {{.local_rank = 0, .silent_for = seconds(1)},
                           {.local_rank = 1, .silent_for = seconds(3)}};
  EXPECT_EQ(RankLines(job, {}), "");
  EXPECT_EQ(RankLines(rendezvous::JobStatus(), {}), "");
}

TEST(ProgressTable, EachRankHasOneLine) {
  rendezvous::JobStatus job = Job(2, 1200);
  job.nodes[1].progress[1] = {.local_rank = 1,
                              .step = 1180,
                              .loss = std::numeric_limits<double>::quiet_NaN(),
                              .tokens_per_s = 123456,
                              .status = "saving\x1b[1m",
                              .silent_for = seconds(25),
                              .deadline = seconds(30)};
  job.nodes[1].progress[0] = {.local_rank = 0, .silent_for = seconds(1)};
  // A spare node has no ranks, so its progress is not in the table.
  job.nodes.emplace_back().progress = {{.step = 7}};
  EXPECT_EQ("\n" + ProgressTable(job, {}), R"(
RANK  HOST    STEP  BEHIND  LOSS  TOKENS/S  HEARD               STATUS
0     host-0  1200          2.25  51000     0.49s ago
1     host-0  1200          2.25  51000     0.49s ago
2     host-1                                1.0s ago
3     host-1  1180  20      nan   123k      25.0s ago of 30.0s  saving
)");
}

TEST(ProgressTable, EmptyColumnsAreRemoved) {
  rendezvous::JobStatus job = Job(1, 5);
  for (rendezvous::WorkerProgress& said : job.nodes[0].progress) {
    said.loss.reset();
    said.tokens_per_s.reset();
  }
  EXPECT_EQ("\n" + ProgressTable(job, {}), R"(
RANK  HOST    STEP  HEARD
0     host-0  5     0.49s ago
1     host-0  5     0.49s ago
)");
}

TEST(ProgressTable, OfManyRanksTheSlowestAreShown) {
  rendezvous::JobStatus job = Job(500, 1200);
  job.nodes[321].progress[1].step = 1100;
  job.nodes[3].progress[0].silent_for = seconds(9);
  const std::string table = ProgressTable(job, {});
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 10);
  EXPECT_THAT(table, HasSubstr("TOKENS/S  HEARD\n643   host-321  1100  100"));
  EXPECT_THAT(table, HasSubstr("\n6     host-3    1200"));
  EXPECT_THAT(table, HasSubstr("\nand 992 more ranks, none further behind\n"));
}

TEST(ProgressTable, WithoutReportsThereIsNoTable) {
  EXPECT_EQ(ProgressTable(rendezvous::JobStatus(), {}), "");
}

}  // namespace
}  // namespace muster::launcher
