#include "rendezvous/dashboard/job_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::rendezvous {
namespace {

JobStatus JobAt(int age_s, int round, JobPhase phase, int phase_age_s) {
  JobStatus job;
  job.run_id = "a-job";
  job.age = std::chrono::seconds(age_s);
  job.phase_age = std::chrono::seconds(phase_age_s);
  job.round = round;
  job.phase = phase;
  NodeStatus node;
  node.group_rank = 0;
  node.node.slots = 2;
  node.progress = {
      {.local_rank = 0, .step = age_s, .loss = 2.0, .tokens_per_s = 100},
      {.local_rank = 1, .step = age_s + 1, .loss = 3.0, .tokens_per_s = 50}};
  job.nodes = {node};
  return job;
}

TEST(JobHistoryTest, SamplesAreTheSlowestStepTheMeanLossAndTheSumOfTokens) {
  JobHistory history;
  history.Add(JobAt(7, 1, JobPhase::kRunning, 5));
  ASSERT_EQ(history.samples().size(), 1u);
  EXPECT_EQ(history.samples()[0].at_s, 7);
  EXPECT_EQ(history.samples()[0].step, 7);
  EXPECT_EQ(history.samples()[0].loss, 2.5);
  EXPECT_EQ(history.samples()[0].tokens_per_s, 150);
}

TEST(JobHistoryTest, WorkersThatReportNothingGiveEmptySamples) {
  JobStatus job = JobAt(7, 1, JobPhase::kRunning, 5);
  job.nodes[0].progress.clear();
  JobHistory history;
  history.Add(job);
  ASSERT_EQ(history.samples().size(), 1u);
  EXPECT_FALSE(history.samples()[0].step.has_value());
  EXPECT_FALSE(history.samples()[0].loss.has_value());
  EXPECT_FALSE(history.samples()[0].tokens_per_s.has_value());
}

TEST(JobHistoryTest, AFullHistoryHalvesItsResolution) {
  JobHistory history;
  const auto full = static_cast<int>(JobHistory::kMaxSamples);
  for (int i = 0; i < full; ++i) {
    history.Add(JobAt(i, 1, JobPhase::kRunning, i));
  }
  EXPECT_EQ(history.samples().size(), JobHistory::kMaxSamples);
  EXPECT_EQ(history.samples()[1].at_s, 1);
  history.Add(JobAt(full, 1, JobPhase::kRunning, full));
  EXPECT_EQ(history.samples().size(), JobHistory::kMaxSamples / 2 + 1);
  EXPECT_EQ(history.samples()[1].at_s, 2);
  // The full history has dropped every second sample, so its samples are two
  // seconds apart from now on. The next state is only one second later and adds
  // no sample.
  history.Add(JobAt(full + 1, 1, JobPhase::kRunning, full + 1));
  EXPECT_EQ(history.samples().back().at_s, full);
  history.Add(JobAt(full + 2, 1, JobPhase::kRunning, full + 2));
  EXPECT_EQ(history.samples().back().at_s, full + 2);
}

TEST(JobHistoryTest, AMonthOfAJobFitsAndSpansAllOfIt) {
  JobHistory history;
  const int month_s = 30 * 86400;
  for (int i = 0; i < month_s; i += 10) {
    history.Add(JobAt(i, 1, JobPhase::kRunning, i));
  }
  EXPECT_LE(history.samples().size(), JobHistory::kMaxSamples);
  EXPECT_GE(history.samples().size(), JobHistory::kMaxSamples / 2);
  EXPECT_EQ(history.samples().front().at_s, 0);
  EXPECT_GT(history.samples().back().at_s, month_s - 20000);
}

TEST(JobHistoryTest, EachPhaseOfEachRoundIsASpan) {
  JobHistory history;
  history.Add(JobAt(1, 0, JobPhase::kGathering, 1));
  history.Add(JobAt(5, 1, JobPhase::kRunning, 2));
  history.Add(JobAt(9, 1, JobPhase::kRunning, 6));
  history.Add(JobAt(12, 2, JobPhase::kRunning, 1));
  ASSERT_EQ(history.spans().size(), 3u);
  EXPECT_EQ(history.spans()[0].phase, JobPhase::kGathering);
  EXPECT_EQ(history.spans()[0].from_s, 0);
  EXPECT_EQ(history.spans()[0].to_s, 3);
  EXPECT_EQ(history.spans()[1].round, 1);
  EXPECT_EQ(history.spans()[1].from_s, 3);
  EXPECT_EQ(history.spans()[1].to_s, 11);
  EXPECT_EQ(history.spans()[2].from_s, 11);
  EXPECT_EQ(history.spans()[2].to_s, 12);
}

TEST(JobHistoryTest, PhasesDoNotOverlap) {
  JobHistory history;
  history.Add(JobAt(5, 1, JobPhase::kRunning, 5));
  history.Add(JobAt(6, 2, JobPhase::kRunning, 3));
  ASSERT_EQ(history.spans().size(), 2u);
  EXPECT_EQ(history.spans()[0].to_s, 5);
  EXPECT_EQ(history.spans()[1].from_s, 5);
}

TEST(JobHistoryTest, OldSpansAreDroppedAndCounted) {
  JobHistory history;
  for (int i = 0; i < 250; ++i) {
    history.Add(JobAt(i, i, JobPhase::kRunning, 0));
  }
  EXPECT_EQ(history.spans().size(), JobHistory::kMaxSpans);
  EXPECT_EQ(history.spans_dropped(), 50);
  EXPECT_EQ(history.spans().back().round, 249);
}

TEST(JobHistoryTest, AFinishedJobChangesNoMore) {
  JobHistory history;
  history.Add(JobAt(5, 1, JobPhase::kRunning, 5));
  history.Add(JobAt(6, 1, JobPhase::kFinished, 0));
  const uint64_t version = history.version();
  history.Add(JobAt(60, 1, JobPhase::kFinished, 54));
  EXPECT_EQ(history.version(), version);
  EXPECT_EQ(history.samples().size(), 1u);
  EXPECT_EQ(history.spans().back().to_s, 6);
}

TEST(JobHistoryTest, AYoungerJobOfTheSameNameBeginsAnew) {
  JobHistory history;
  history.Add(JobAt(50, 3, JobPhase::kRunning, 5));
  const uint64_t version = history.version();
  history.Add(JobAt(1, 1, JobPhase::kRunning, 1));
  ASSERT_EQ(history.samples().size(), 1u);
  EXPECT_EQ(history.samples()[0].at_s, 1);
  EXPECT_EQ(history.spans().size(), 1u);
  EXPECT_GT(history.version(), version);
}

TEST(JobHistoriesTest, AForgottenJobHasNoHistory) {
  JobHistories histories;
  histories.Add({JobAt(1, 1, JobPhase::kRunning, 1)});
  EXPECT_NE(histories.Find("a-job"), nullptr);
  histories.Add({});
  EXPECT_EQ(histories.Find("a-job"), nullptr);
}

TEST(JobHistoriesTest, FinishedJobsKeepTheirPlacesAmongFinishedOnes) {
  std::vector<JobStatus> jobs;
  for (size_t i = 0; i < JobHistories::kMaxJobs; ++i) {
    jobs.push_back(JobAt(5, 1, JobPhase::kFinished, 1));
    jobs.back().run_id = "job-" + std::to_string(i);
  }
  JobHistories histories;
  histories.Add(jobs);
  jobs.push_back(JobAt(5, 1, JobPhase::kFinished, 1));
  jobs.back().run_id = "one-too-many";
  histories.Add(jobs);
  EXPECT_EQ(histories.Find("one-too-many"), nullptr);
  EXPECT_NE(histories.Find("job-199"), nullptr);
}

TEST(JobHistoriesTest, RunningJobsTakeThePlacesOfFinishedOnes) {
  std::vector<JobStatus> jobs;
  for (size_t i = 0; i < JobHistories::kMaxJobs; ++i) {
    jobs.push_back(
        JobAt(5, 1, i == 3 ? JobPhase::kFinished : JobPhase::kRunning, 1));
    jobs.back().run_id = "job-" + std::to_string(i);
  }
  JobHistories histories;
  histories.Add(jobs);
  EXPECT_NE(histories.Find("job-3"), nullptr);
  for (const char* id : {"new", "one-too-many"}) {
    jobs.push_back(JobAt(5, 1, JobPhase::kRunning, 1));
    jobs.back().run_id = id;
  }
  jobs.push_back(JobAt(5, 1, JobPhase::kFinished, 1));
  jobs.back().run_id = "finished";
  histories.Add(jobs);
  EXPECT_EQ(histories.Find("job-3"), nullptr);
  EXPECT_NE(histories.Find("job-4"), nullptr);
  EXPECT_NE(histories.Find("new"), nullptr);
  EXPECT_EQ(histories.Find("one-too-many"), nullptr);
  EXPECT_EQ(histories.Find("finished"), nullptr);
}

}  // namespace
}  // namespace muster::rendezvous
