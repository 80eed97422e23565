#include "rendezvous/events/state_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace muster::rendezvous {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr Instant kStart{hours(1)};

JobStatus Running(Duration age, Duration phase_age) {
  JobStatus job;
  job.run_id = "a";
  job.phase = JobPhase::kRunning;
  job.age = age;
  job.phase_age = phase_age;
  return job;
}

StateSchedule::Due Due(std::string run_id, StateDetail detail) {
  return {.run_id = std::move(run_id), .detail = detail};
}

TEST(StateSchedule, TurnsOfTheJobAreDueAtOnceWithNodes) {
  for (const char* kind : {"assign", "break", "finish"}) {
    SCOPED_TRACE(kind);
    StateSchedule schedule;
    schedule.OnDecision("a", kind, kStart);
    EXPECT_EQ(schedule.NextDue(), kStart);
    EXPECT_THAT(schedule.TakeDue(kStart),
                ElementsAre(Due("a", StateDetail::kNodes)));
    EXPECT_THAT(schedule.TakeDue(kStart + hours(9)), IsEmpty());
  }
}

TEST(StateSchedule, JobThatGathersHasAStateAfterASecond) {
  StateSchedule schedule;
  schedule.OnDecision("a", "join", kStart);
  EXPECT_THAT(schedule.TakeDue(kStart), IsEmpty());
  EXPECT_THAT(schedule.TakeDue(kStart + seconds(1)),
              ElementsAre(Due("a", StateDetail::kSummary)));
}

TEST(StateSchedule, OtherDecisionsBeginNoSchedule) {
  StateSchedule schedule;
  schedule.OnDecision("a", "lost", kStart);
  EXPECT_EQ(schedule.NextDue(), std::nullopt);
}

TEST(StateSchedule, IntervalsGrowWithTheAgesOfJobAndPhase) {
  StateSchedule schedule;
  const auto interval = [&](Duration age, Duration phase_age) {
    schedule.OnDecision("a", "assign", kStart);
    schedule.TakeDue(kStart);
    schedule.OnState(Running(age, phase_age), kStart);
    return *schedule.NextDue() - kStart;
  };
  EXPECT_EQ(interval(seconds(0), seconds(0)), seconds(1));
  EXPECT_EQ(interval(hours(1000), seconds(8)), seconds(2));
  EXPECT_EQ(interval(hours(1), hours(1)), seconds(18));
  EXPECT_EQ(interval(hours(24 * 30), hours(24 * 30)), hours(1));
}

TEST(StateSchedule, DecisionDuringAReadIsNotLost) {
  StateSchedule schedule;
  schedule.OnDecision("a", "assign", kStart);
  schedule.TakeDue(kStart);
  schedule.OnDecision("a", "break", kStart + milliseconds(1));
  schedule.OnState(Running(seconds(9), seconds(9)), kStart + milliseconds(2));
  EXPECT_THAT(schedule.TakeDue(kStart + milliseconds(2)),
              ElementsAre(Due("a", StateDetail::kNodes)));
}

TEST(StateSchedule, FinishedJobIsForgotten) {
  StateSchedule schedule;
  schedule.OnDecision("a", "finish", kStart);
  schedule.TakeDue(kStart);
  JobStatus job = Running(seconds(1), seconds(1));
  job.phase = JobPhase::kFinished;
  schedule.OnState(job, kStart);
  schedule.OnDecision("a", "leave", kStart);
  EXPECT_EQ(schedule.NextDue(), std::nullopt);
}

TEST(StateSchedule, StatesOfManyJobsComeInTurn) {
  StateSchedule schedule;
  for (int i = 0; i < 40; ++i) {
    schedule.OnDecision(std::to_string(i), "assign",
                        kStart + milliseconds(40 - i));
  }
  const Instant now = kStart + seconds(1);
  const auto first = schedule.TakeDue(now);
  ASSERT_THAT(first, SizeIs(StateSchedule::kMaxDue));
  EXPECT_EQ(first[0].run_id, "39");
  EXPECT_THAT(schedule.TakeDue(now), SizeIs(StateSchedule::kMaxDue));
  EXPECT_THAT(schedule.TakeDue(now), SizeIs(40 - 2 * StateSchedule::kMaxDue));
}

}  // namespace
}  // namespace muster::rendezvous
