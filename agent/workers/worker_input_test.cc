#include "agent/workers/worker_input.h"

#include <gtest/gtest.h>

namespace muster::agent {
namespace {

bool Reads(const std::string& text, int rank, int local_rank) {
  const absl::StatusOr<WorkerInput> input = ParseWorkerInput(text);
  EXPECT_TRUE(input.ok()) << text;
  return input.ok() && ReadsInput(*input, rank, local_rank);
}

TEST(WorkerInput, AutoIsTheFirstWorkerOfEachNode) {
  EXPECT_TRUE(Reads("auto", 0, 0));
  EXPECT_TRUE(Reads("auto", 4, 0));
  EXPECT_FALSE(Reads("auto", 1, 1));
}

TEST(WorkerInput, ARankIsThatWorkerWhereverItRuns) {
  EXPECT_TRUE(Reads("5", 5, 1));
  EXPECT_FALSE(Reads("5", 4, 0));
  EXPECT_FALSE(Reads("0", 4, 0));
}

TEST(WorkerInput, NoneAndAllSelectNoOrEveryWorker) {
  EXPECT_FALSE(Reads("none", 0, 0));
  EXPECT_TRUE(Reads("all", 0, 0));
  EXPECT_TRUE(Reads("all", 3, 3));
}

TEST(WorkerInput, ARoundWithoutTheRankIsRemarked) {
  const WorkerInput third = {.reader = WorkerInput::Reader::kRank, .rank = 3};
  EXPECT_EQ(UnreadInputRemark(third, 2, 3),
            "--stdin=3: round 2 has ranks 0 to 2: no worker reads standard "
            "input");
  EXPECT_EQ(UnreadInputRemark(third, 2, 4), "");
  EXPECT_EQ(UnreadInputRemark(WorkerInput(), 1, 1), "");
}

TEST(WorkerInput, AnythingElseIsRefused) {
  for (const char* text :
       {"", "-1", "+1", "0x1", "1 ", "nobody", "1,2", "99999999999999999999"}) {
    EXPECT_FALSE(ParseWorkerInput(text).ok()) << text;
  }
}

}  // namespace
}  // namespace muster::agent
