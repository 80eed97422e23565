#include "agent/preemption/requeue_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RequeueCommand, NamesTheJob) {
  EXPECT_THAT(RequeueCommand({{"SLURM_JOB_ID", "4711"}}).value(),
              ElementsAre("scontrol", "requeue", "4711"));
}

TEST(RequeueCommand, OfAnArrayNamesTheTaskAlone) {
  EXPECT_THAT(RequeueCommand({{"SLURM_JOB_ID", "4713"},
                              {"SLURM_ARRAY_JOB_ID", "4711"},
                              {"SLURM_ARRAY_TASK_ID", "2"}})
                  .value(),
              ElementsAre("scontrol", "requeue", "4711_2"));
}

TEST(RequeueCommand, OutsideOfSlurmThereIsNone) {
  const auto command = RequeueCommand({{"SLURM_JOB_ID", ""}});
  EXPECT_EQ(command.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(command.status().message()),
              HasSubstr("SLURM_JOB_ID is not set"));
}

TEST(RequeueCommand, TakesNothingButNumbers) {
  EXPECT_FALSE(RequeueCommand({{"SLURM_JOB_ID", "-1"}}).ok());
  EXPECT_FALSE(RequeueCommand({{"SLURM_JOB_ID", "12345678901"}}).ok());
  EXPECT_FALSE(RequeueCommand({{"SLURM_ARRAY_JOB_ID", "4711"},
                               {"SLURM_ARRAY_TASK_ID", "2;reboot"}})
                   .ok());
}

}  // namespace
}  // namespace muster
