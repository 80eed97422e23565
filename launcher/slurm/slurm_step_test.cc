#include "launcher/slurm/slurm_step.h"

#include <gtest/gtest.h>

namespace muster::launcher {
namespace {

TEST(FindStep, TheStepIsFoundByItsName) {
  constexpr char kSteps[] = "7.0|launch-12\n7.1|launch-1\n7.batch|batch\n";
  EXPECT_EQ(FindStep(kSteps, "launch-1"), "7.1");
  EXPECT_EQ(FindStep(kSteps, "launch-12"), "7.0");
  EXPECT_EQ(FindStep(kSteps, "launch-2"), "");
  EXPECT_EQ(FindStep("", "launch-1"), "");
  EXPECT_EQ(FindStep("slurm_load_job_steps error: x", "x"), "");
}

// The message of Slurm 22.05 while `scancel JOB` ends the job.
TEST(EndsAnyway, MessagesOfAnEndingJobAreRecognised) {
  EXPECT_TRUE(
      EndsAnyway("scancel: error: Kill job error on job step id 3.0: Invalid "
                 "job id specified\n"));
  EXPECT_TRUE(EndsAnyway("slurm_load_jobs error: Invalid job id specified"));
  EXPECT_TRUE(
      EndsAnyway("scancel: error: Kill job error on job step id 3.0: Job/step "
                 "already completing or completed\n"));
  EXPECT_FALSE(EndsAnyway("scancel: error: Access/permission denied"));
  EXPECT_FALSE(EndsAnyway(""));
}

}  // namespace
}  // namespace muster::launcher
