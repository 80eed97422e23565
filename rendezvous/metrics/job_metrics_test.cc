#include "rendezvous/metrics/job_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <sstream>
#include <string>

#include "rendezvous/wire/testing/full_messages.h"

namespace muster::rendezvous {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string PageOf(const std::vector<JobStatus>& jobs) {
  Exposition page;
  AddJobMetrics(jobs, page);
  return page.text();
}

JobStatus JobOf(const std::string& run_id, JobPhase phase) {
  JobStatus job;
  job.run_id = run_id;
  job.phase = phase;
  job.round = 2;
  job.restarts_used = 1;
  return job;
}

NodeStatus Member(NodePhase phase) {
  NodeStatus node;
  node.phase = phase;
  node.group_rank = 0;
  return node;
}

TEST(JobMetricsTest, CountsJobsByPhase) {
  const std::string page =
      PageOf({JobOf("a", JobPhase::kRunning), JobOf("b", JobPhase::kRunning),
              JobOf("c", JobPhase::kFinished)});
  EXPECT_THAT(page, HasSubstr("muster_jobs{phase=\"running\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("muster_jobs{phase=\"finished\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("muster_jobs{phase=\"gathering\"} 0\n"));
  EXPECT_THAT(page,
              HasSubstr("muster_job_phase{job=\"c\",phase=\"finished\"} 1\n"));
  EXPECT_THAT(page,
              HasSubstr("muster_job_phase{job=\"c\",phase=\"running\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("muster_job_rounds_total{job=\"a\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("muster_job_restarts_total{job=\"b\"} 1\n"));
}

TEST(JobMetricsTest, TimesAreCountedInBuckets) {
  JobStatus job = JobOf("a", JobPhase::kRunning);
  for (const int milliseconds : {100, 101, 2'000'000}) {
    job.recovery_times.Add(std::chrono::milliseconds(milliseconds));
  }
  const std::string page = PageOf({job});
  for (const char* line :
       {"# TYPE muster_job_recovery_seconds histogram\n",
        "muster_job_recovery_seconds_bucket{job=\"a\",le=\"0.1\"} 1\n",
        "muster_job_recovery_seconds_bucket{job=\"a\",le=\"0.25\"} 2\n",
        "muster_job_recovery_seconds_bucket{job=\"a\",le=\"1800\"} 2\n",
        "muster_job_recovery_seconds_bucket{job=\"a\",le=\"+Inf\"} 3\n",
        "muster_job_recovery_seconds_sum{job=\"a\"} 2000.201\n",
        "muster_job_recovery_seconds_count{job=\"a\"} 3\n",
        "muster_job_rendezvous_seconds_count{job=\"a\"} 0\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST(JobMetricsTest, OnlyPersistentlySlowRanksCount) {
  JobStatus job = JobOf("a", JobPhase::kRunning);
  EXPECT_THAT(PageOf({job}), HasSubstr("muster_job_stragglers{job=\"a\"} 0\n"));
  job.slow_ranks = {{.rank = 1, .is_persistent = true},
                    {.rank = 2, .is_persistent = false},
                    {.rank = 5, .is_persistent = true}};
  EXPECT_THAT(PageOf({job}), HasSubstr("muster_job_stragglers{job=\"a\"} 2\n"));
}

TEST(JobMetricsTest, ANodeIsCountedInOneState) {
  JobStatus job = JobOf("a", JobPhase::kRunning);
  NodeStatus lost = Member(NodePhase::kRunning);
  lost.connected = false;
  lost.draining = true;
  NodeStatus leaves = Member(NodePhase::kRunning);
  leaves.draining = true;
  NodeStatus sick = Member(NodePhase::kIdle);
  sick.health = Health::kUnhealthy;
  NodeStatus spare;
  NodeStatus quarantined;
  quarantined.judgement.state = HostState::kQuarantined;
  NodeStatus banned;
  banned.judgement.state = HostState::kBanned;
  NodeStatus suspected;
  suspected.judgement.state = HostState::kSuspected;
  NodeStatus fills_up = Member(NodePhase::kStopping);
  fills_up.judgement.state = HostState::kQuarantined;
  job.nodes = {Member(NodePhase::kRunning),
               Member(NodePhase::kRunning),
               lost,
               leaves,
               sick,
               spare,
               quarantined,
               banned,
               suspected,
               fills_up};
  const std::string page = PageOf({job});
  for (const char* line :
       {"state=\"running\"} 2\n", "state=\"disconnected\"} 1\n",
        "state=\"draining\"} 1\n", "state=\"unhealthy\"} 1\n",
        "state=\"spare\"} 2\n", "state=\"stopping\"} 1\n",
        "state=\"quarantined\"} 2\n", "state=\"succeeded\"} 0\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST(JobMetricsTest, TheStepIsTheLowestAndTokensAreSummed) {
  JobStatus job = JobOf("a", JobPhase::kRunning);
  NodeStatus node = Member(NodePhase::kRunning);
  node.progress = {{.step = 9, .tokens_per_s = 10},
                   {.step = 7, .tokens_per_s = 5},
                   {.status = "loading"}};
  node.silent_for = std::chrono::milliseconds(1500);
  job.nodes = {Member(NodePhase::kRunning), node};
  const std::string page = PageOf({job});
  EXPECT_THAT(page, HasSubstr("muster_job_step{job=\"a\"} 7\n"));
  EXPECT_THAT(page, HasSubstr("muster_job_tokens_per_second{job=\"a\"} 15\n"));
  EXPECT_THAT(page,
              HasSubstr("muster_job_node_silence_seconds{job=\"a\"} 1.5\n"));
}

TEST(JobMetricsTest, WhatIsNotReportedHasNoSample) {
  const std::string page = PageOf({JobOf("a", JobPhase::kGathering)});
  for (const char* name :
       {"muster_job_step{", "muster_job_tokens_per_second{",
        "muster_job_node_silence_seconds{", "muster_job_exit_code{",
        "muster_job_productive_ratio{"}) {
    EXPECT_THAT(page, Not(HasSubstr(name)));
  }
  EXPECT_THAT(PageOf({}), Not(HasSubstr("muster_job_")));
}

TEST(JobMetricsTest, TheTimeAndItsLossesAreByActivityAndCause) {
  JobStatus job = JobOf("a", JobPhase::kRunning);
  job.time.spent_s[static_cast<size_t>(Activity::kProductive)] = 30;
  job.time.spent_s[static_cast<size_t>(Activity::kStalled)] = 10;
  job.time.by_cause[static_cast<size_t>(LossCause::kHang)] = {.incidents = 2,
                                                              .pause_s = 4.5};
  const std::string page = PageOf({job});
  for (const char* line :
       {"muster_job_time_seconds_total{job=\"a\",activity=\"productive\"} 30\n",
        "muster_job_time_seconds_total{job=\"a\",activity=\"stalled\"} 10\n",
        "muster_job_productive_ratio{job=\"a\"} 0.75\n",
        "muster_job_interruptions_total{job=\"a\",cause=\"hang\"} 2\n",
        "muster_job_interrupted_seconds_total{job=\"a\",cause=\"hang\"} 4.5\n",
        "muster_job_interruptions_total{job=\"a\",cause=\"node\"} 0\n"}) {
    EXPECT_THAT(page, HasSubstr(line));
  }
}

TEST(JobMetricsTest, TheLossesOfACoordinatorAreCounters) {
  Exposition page;
  AddCoordinatorLosses(
      {.omitted_events = 1, .event_log_bytes = 2, .missed_decisions = 3}, page);
  for (const char* line :
       {"# TYPE muster_coordinator_events_omitted_total counter\n",
        "muster_coordinator_events_omitted_total 1\n",
        "muster_coordinator_event_log_bytes_lost_total 2\n",
        "muster_coordinator_watch_events_missed_total 3\n"}) {
    EXPECT_THAT(page.text(), HasSubstr(line));
  }
}

TEST(JobMetricsTest, TheNumberOfShownJobsIsBounded) {
  std::vector<JobStatus> jobs = {JobOf("over", JobPhase::kFinished)};
  for (size_t i = 0; i < kMaxShownJobs; ++i) {
    jobs.push_back(JobOf("j" + std::to_string(i), JobPhase::kRunning));
  }
  const std::string page = PageOf(jobs);
  EXPECT_THAT(page, HasSubstr("muster_jobs_omitted 1\n"));
  EXPECT_THAT(page, HasSubstr("muster_job_workers{job=\"j199\"}"));
  EXPECT_THAT(page, Not(HasSubstr("job=\"over\"")));
  EXPECT_THAT(page, HasSubstr("muster_jobs{phase=\"finished\"} 1\n"));
}

// Prometheus rejects a page on which a family is announced twice, or a sample
// does not follow the other samples of its family.
TEST(JobMetricsTest, TheSamplesOfAFamilyStandTogether) {
  JobStatus other = FullStatus();
  other.run_id = "other";
  std::istringstream page(PageOf({FullStatus(), other}));
  std::set<std::string> families;
  std::string family;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("# HELP ", 0) == 0) {
      family = line.substr(7, line.find(' ', 7) - 7);
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (line.rfind("# TYPE ", 0) == 0) {
      EXPECT_EQ(line.substr(7, line.find(' ', 7) - 7), family);
    } else {
      const std::string name = line.substr(0, line.find_first_of("{ "));
      // The names of a histogram's samples have suffixes.
      EXPECT_THAT(name, AnyOf(family, family + "_bucket", family + "_sum",
                              family + "_count"))
          << line;
    }
  }
  EXPECT_GT(families.size(), 15u);
}

}  // namespace
}  // namespace muster::rendezvous
