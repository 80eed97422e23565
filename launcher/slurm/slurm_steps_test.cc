#include "launcher/slurm/slurm_steps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>

#include "absl/strings/str_cat.h"
#include "launcher/cluster/slurm/slurm_place.h"

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

// The texts are messages of Slurm 22.05 while `scancel JOB` ends the job.
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

using ::testing::HasSubstr;

std::string Found(const std::string& squeue,
                  std::optional<uint64_t> asking = std::nullopt,
                  const std::string& name = "7") {
  const auto endpoint = EndpointOfSteps(squeue, {7, name}, asking);
  return endpoint.ok() ? endpoint->ToString()
                       : std::string(endpoint.status().message());
}

std::string At(const std::string& host, uint64_t step) {
  return absl::StrCat(host, ":", SlurmPort(7, step));
}

TEST(EndpointOfSteps, TheFirstNodeOfLaunchsStepIsFound) {
  EXPECT_EQ(Found("7.batch|batch|n1\n7.1|launch|n[2-4]\n7.0|prepare|n1\n"),
            At("n2", 1));
  EXPECT_EQ(Found("7.3|launch-4711|n1\n"), At("n1", 3));
}

// The last task of an array has the array's own job number, and squeue prints
// all tasks of the array for that number. The steps of other tasks must be
// ignored.
TEST(EndpointOfSteps, StepsOfOtherArrayTasksAreIgnored) {
  constexpr char kBoth[] = "5_2.0|launch|n[1-2]\n5_3.0|launch|n[3-4]\n";
  EXPECT_EQ(Found(kBoth, std::nullopt, "5_3"), At("n3", 0));
  EXPECT_THAT(Found(kBoth, 0, "5_3"), HasSubstr("job 5_3 has no step"));
}

TEST(EndpointOfSteps, TheAskingStepIsIgnored) {
  EXPECT_EQ(Found("7.2|launch|n1\n7.0|run.sh|n[1-2]\n", 2), At("n1", 0));
  // If two steps are named `launch`, the step with the lower number is used.
  EXPECT_EQ(Found("7.12|launch|n1\n7.3|launch|n2\n", 13), At("n2", 3));
}

TEST(EndpointOfSteps, AHeterogeneousStepMeetsInItsFirstComponent) {
  EXPECT_EQ(Found("7.0|launch|n3\n7.batch|batch|n3\n", std::nullopt, "7+0"),
            At("n3", 0));
}

TEST(FindJob, ByNameOrNumber) {
  constexpr char kJobs[] = "8|8_2\n9|8_1\n10|10+0\n11|10+1\n41|41\n";
  EXPECT_EQ(FindJob(kJobs, "8_1")->number, 9u);
  EXPECT_EQ(FindJob(kJobs, "9")->name, "8_1");
  EXPECT_EQ(FindJob(kJobs, "10")->name, "10+0");
  EXPECT_EQ(FindJob(kJobs, "41")->number, 41u);
  for (const char* none : {"4", "8_3", ""}) {
    EXPECT_EQ(FindJob(kJobs, none).status().code(), absl::StatusCode::kNotFound)
        << none;
  }
  EXPECT_THAT(std::string(FindJob("", "4").status().message()),
              HasSubstr("job 4 does not run"));
}

TEST(EndpointOfSteps, WithoutAStepTheErrorSaysWhatToDo) {
  for (const char* text : {"", "7.batch|batch|n1\n", "slurm error: x\n", "7.0",
                           "7.0|launch", "7|launch|n1"}) {
    EXPECT_THAT(Found(text), HasSubstr("job 7 has no step that runs")) << text;
  }
  EXPECT_THAT(Found("7.0|launch|n[1-\n"), HasSubstr("nodes 'n[1-'"));
}

TEST(OnHostOf, IsAStepBesideTheJobs) {
  EXPECT_THAT(OnHostOf({.job = 41, .endpoint = {"n3", 12041}},
                       {"/bin/launch", "status"}),
              ::testing::ElementsAre("srun", "--jobid=41", "--overlap",
                                     "--quiet", "--nodes=1", "--ntasks=1",
                                     "--nodelist=n3", "/bin/launch", "status"));
}

using Failure = SignalRetries::Failure;

constexpr Instant kBegin{std::chrono::seconds(100)};
constexpr Instant kRetry = kBegin + SignalRetries::kPause;
constexpr Duration kMoment = std::chrono::milliseconds(1);

TEST(SignalRetriesTest, ASignalIsSentAgainOnce) {
  SignalRetries retries;
  EXPECT_FALSE(retries.Next().has_value());
  EXPECT_EQ(retries.Failed(SIGTERM, kBegin, kBegin), Failure::kFirst);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGTERM);
  EXPECT_EQ(retries.Next()->at, kRetry);
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry, kRetry), Failure::kFinal);
  EXPECT_FALSE(retries.Next().has_value());
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry, kRetry), Failure::kFirst);
}

TEST(SignalRetriesTest, ASecondFailureDuringThePauseIsNotTheRetry) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  EXPECT_EQ(retries.Failed(SIGTERM, kRetry - kMoment, kRetry + kMoment),
            Failure::kFirst);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->at, kRetry);
}

TEST(SignalRetriesTest, ASignalThatArrivesMeanwhileNeedsNoRetry) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  retries.Sent(SIGTERM);
  EXPECT_FALSE(retries.Next().has_value());
}

TEST(SignalRetriesTest, TheEarliestRetryIsNext) {
  SignalRetries retries;
  retries.Failed(SIGTERM, kBegin, kBegin);
  retries.Failed(SIGHUP, kBegin + kMoment, kBegin + kMoment);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGTERM);
  retries.Sent(SIGTERM);
  ASSERT_TRUE(retries.Next().has_value());
  EXPECT_EQ(retries.Next()->signal, SIGHUP);
}

}  // namespace
}  // namespace muster::launcher
