#include "agent/preemption/requeue_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace muster::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Replaces scontrol by a shell script whose text each test chooses.
class RequeueJobTest : public ::testing::Test {
 protected:
  RequeueJobTest() : path_(getenv("PATH")) {
    folder_ = testing::TempDir() + "requeue-XXXXXX";
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
  }
  ~RequeueJobTest() override {
    setenv("PATH", path_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  absl::Status Requeue(const std::string& scontrol) {
    const std::string program = folder_ + "/scontrol";
    std::ofstream(program) << "#!/bin/sh\n" << scontrol << "\n";
    chmod(program.c_str(), 0755);
    setenv("PATH", (folder_ + ":" + path_).c_str(), 1);
    return RequeueJob({{"SLURM_JOB_ID", "4711"}});
  }

  const std::string path_;
  std::string folder_;
};

constexpr char kRuns[] =
    "[ \"$1\" = --oneliner ] && echo 'JobId=4711 JobState=RUNNING' && exit 0\n";

TEST_F(RequeueJobTest, SaysWhatSlurmSays) {
  EXPECT_TRUE(
      Requeue(std::string(kRuns) + "[ \"$*\" = \"requeue 4711\" ]").ok());
  const absl::Status refused =
      Requeue(std::string(kRuns) + "echo Requeue is disabled; exit 1");
  EXPECT_EQ(std::string(refused.message()),
            "scontrol requeue 4711 failed: Requeue is disabled");
}

// Slurm signals every process of a step, and may kill the query for the job's
// state. A killed query is repeated.
TEST_F(RequeueJobTest, AQuestionThatWasKilledIsAskedAgain) {
  const std::string once =
      "t=" + folder_ + "/asked; [ -e $t ] || { : > $t; kill -TERM $$; }\n";
  EXPECT_TRUE(Requeue(once + kRuns + "exit 0").ok());
}

// Slurm hides the state of a job while it sends the job a signal. The query is
// then repeated.
TEST_F(RequeueJobTest, AStateThatIsHiddenIsAskedForAgain) {
  const std::string once = "t=" + folder_ +
                           "/asked; [ -e $t ] || { : > $t; echo "
                           "'JobId=4711 JobState=SIGNALING x=y'; exit 0; }\n";
  EXPECT_TRUE(Requeue(once + kRuns + "exit 0").ok());
}

TEST_F(RequeueJobTest, AJobOfUnknownStateIsLeft) {
  const absl::Status refused = Requeue("[ \"$1\" = requeue ] || kill -TERM $$");
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("scontrol --oneliner show job 4711 failed"));
}

TEST_F(RequeueJobTest, ACancelledJobStaysCancelled) {
  const absl::Status refused = Requeue(
      "[ \"$1\" != requeue ] && echo 'JobId=4711 JobState=COMPLETING x=y'");
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("not put back into its queue: Slurm ends it"));
}

TEST_F(RequeueJobTest, SaysThatThereIsNoSlurm) {
  setenv("PATH", folder_.c_str(), 1);
  const absl::Status missing = RequeueJob({{"SLURM_JOB_ID", "4711"}});
  EXPECT_THAT(std::string(missing.message()), HasSubstr("no such program"));
  EXPECT_FALSE(RequeueJob({}).ok());
}

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
