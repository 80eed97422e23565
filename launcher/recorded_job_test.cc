#include "launcher/recorded_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

namespace muster::launcher {
namespace {

using rendezvous::JobPhase;
using rendezvous::KeptJob;
using rendezvous::Verdict;
using std::chrono::hours;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr Duration kWritten = hours(1000);

KeptJob Record(const std::string& run_id) {
  KeptJob record;
  record.job.run_id = run_id;
  record.job.run_tag = "tag of " + run_id;
  record.job.spec.max_restarts = 3;
  record.written_at = kWritten;
  return record;
}

KeptJob Ended(const std::string& run_id) {
  KeptJob record = Record(run_id);
  record.job.phase = JobPhase::kFinished;
  record.job.verdict = Verdict();
  return record;
}

HostedJob Hosted() {
  HostedJob hosted;
  hosted.run_id = "train";
  hosted.spec.max_restarts = 3;
  hosted.verdict_awaited_for = seconds(60);
  return hosted;
}

absl::StatusOr<RecordedJob> Find(std::vector<KeptJob> records,
                                 Duration later = seconds(1)) {
  return FindRecordedJob(std::move(records), Hosted(), "/state",
                         kWritten + later);
}

TEST(RecordedJob, AnEmptyFolderBeginsANewJob) {
  const auto found = Find({});
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->continued.has_value());
  EXPECT_THAT(found->over, IsEmpty());
}

TEST(RecordedJob, AnUnfinishedJobGoesOnHoweverOldItsRecord) {
  for (const Duration later : {Duration(seconds(-5)), Duration(hours(900))}) {
    const auto found = Find({Record("train")}, later);
    ASSERT_TRUE(found.ok()) << found.status();
    ASSERT_TRUE(found->continued.has_value());
    EXPECT_EQ(found->continued->job.run_tag, "tag of train");
    EXPECT_THAT(found->over, IsEmpty());
  }
}

TEST(RecordedJob, AVerdictCountsWhileNodesMayWaitForIt) {
  const auto soon = Find({Ended("train")}, seconds(59));
  ASSERT_TRUE(soon.ok()) << soon.status();
  ASSERT_TRUE(soon->continued.has_value());
  EXPECT_TRUE(soon->continued->job.verdict.has_value());
  const auto late = Find({Ended("train")}, seconds(60));
  ASSERT_TRUE(late.ok()) << late.status();
  EXPECT_FALSE(late->continued.has_value());
  EXPECT_THAT(late->over, ElementsAre("train"));
}

TEST(RecordedJob, APreemptedJobContinuesWithItsNextRun) {
  KeptJob record = Ended("train");
  record.job.verdict->outcome = rendezvous::Outcome::kPreempted;
  record.job.round = 4;
  record.job.restarts_used = 2;
  // Other nodes may still wait for the verdict.
  const auto soon = Find({record}, seconds(59));
  ASSERT_TRUE(soon.ok() && soon->continued.has_value()) << soon.status();
  EXPECT_TRUE(soon->continued->job.verdict.has_value());
  const auto late = Find({record}, hours(900));
  ASSERT_TRUE(late.ok() && late->continued.has_value()) << late.status();
  EXPECT_FALSE(late->continued->job.verdict.has_value());
  EXPECT_EQ(late->continued->job.claimed_round, 4);
  EXPECT_EQ(late->continued->job.restarts_used, 2);
  EXPECT_THAT(late->over, IsEmpty());
  // The record of another job is not needed any more.
  record.job.run_id = "eval";
  EXPECT_THAT(Find({record}, hours(900))->over, ElementsAre("eval"));
}

TEST(RecordedJob, AnotherJobIsRefused) {
  const auto one = Find({Record("eval")}, hours(900));
  EXPECT_EQ(one.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(one.status().message(),
            "cannot use /state: it holds job \"eval\", and this is job "
            "\"train\"; name another folder");
  const auto more = Find({Record("eval"), Record("test"), Record("train")});
  EXPECT_EQ(more.status().message(),
            "cannot use /state: it holds job \"eval\" and 1 other, and this "
            "is job \"train\"; name another folder");
  EXPECT_FALSE(Find({Ended("eval")}, seconds(59)).ok());
}

TEST(RecordedJob, AnotherJobThatIsOverIsNoObstacle) {
  const auto found = Find({Ended("eval")}, seconds(61));
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_FALSE(found->continued.has_value());
  EXPECT_THAT(found->over, ElementsAre("eval"));
}

TEST(RecordedJob, OtherSettingsAreRefused) {
  KeptJob record = Record("train");
  record.job.spec.max_restarts = 2;
  EXPECT_EQ(Find({record}).status().message(),
            "cannot use /state: it holds job \"train\" with other settings "
            "(this job runs with --max-restarts=2, but this node was started "
            "with 3); give the same command as before, or name another "
            "folder");
}

// FindRecordedJob must fail, because the command of the recorded job differs
// from this node's command. The error must not show the recorded command, which
// may contain secrets.
TEST(RecordedJob, ACommandIsNotShown) {
  KeptJob record = Record("train");
  record.job.spec.command = "train.py --key=hush";
  HostedJob hosted = Hosted();
  hosted.spec.command = "train.py";
  const auto found =
      FindRecordedJob({record}, hosted, "/state", kWritten + seconds(1));
  EXPECT_EQ(found.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(found.status().message().find("hush"), std::string::npos);
}

}  // namespace
}  // namespace muster::launcher
