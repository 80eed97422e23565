#include "agent/preemption/requeue_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(RequeueCommand, NamesTheJob) {
  EXPECT_THAT(RequeueCommand({{"SLURM_JOB_ID", "4711"}}).value(),
              ElementsAre("scontrol", "requeue", "4711"));
}

TEST(RequeueCommand, ArrayTaskIsRequeuedAlone) {
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

// A running job may be requeued: AgainstRequeue returns "". It also returns ""
// if the output has no state of the job, because `scontrol requeue` itself then
// fails. The texts are those of `scontrol --oneliner show job` of Slurm 22.05.
TEST(AgainstRequeue, AJobThatRunsMayGoBack) {
  EXPECT_EQ(AgainstRequeue("JobId=7 JobName=x JobState=RUNNING Reason=None"),
            "");
  EXPECT_EQ(AgainstRequeue("slurm_load_jobs error: no contact"), "");
}

TEST(AgainstRequeue, ACancelledOneStaysCancelled) {
  EXPECT_THAT(AgainstRequeue("JobId=7 JobState=COMPLETING Reason=None"),
              HasSubstr("(COMPLETING)"));
  EXPECT_THAT(AgainstRequeue("JobState=CANCELLED"), HasSubstr("(CANCELLED)"));
  EXPECT_EQ(AgainstRequeue("JobState=PENDING\n"), "it is there already");
}

TEST(HidesState, WhileASignalIsUnderWay) {
  const std::string shown = "JobId=7 JobState=SIGNALING Reason=None";
  EXPECT_TRUE(HidesState(shown));
  EXPECT_TRUE(HidesState("JobState=RESIZING"));
  EXPECT_FALSE(HidesState("JobState=RUNNING"));
  EXPECT_FALSE(HidesState("JobState=COMPLETING"));
  EXPECT_FALSE(HidesState("slurm_load_jobs error: no contact"));
  EXPECT_THAT(AgainstRequeue(shown), HasSubstr("whether it runs"));
}

}  // namespace
}  // namespace muster::agent
