#include "agent/lifecycle/hang_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr HangPolicy kAuto{};
constexpr HangPolicy kThirty{HangDetection::kGiven, seconds(30)};
constexpr HangPolicy kOff{HangDetection::kOff, {}};

class HangWatchTest : public ::testing::Test {
 protected:
  void Use(HangPolicy policy, int workers = 2) {
    watch_.emplace(policy);
    watch_->Begin(workers);
  }
  void Hear(int local_rank, ProgressMessage message = {}) {
    message.alive = true;
    watch_->RecordProgress(now_, local_rank, message);
  }
  void Watchdog(int local_rank, Duration deadline) {
    Hear(local_rank, {.watchdog = deadline});
  }
  // Makes the worker report `times` times, with `pause` between two reports.
  void Beat(int local_rank, int times, Duration pause) {
    for (int i = 0; i < times; ++i) {
      if (i > 0) now_ += pause;
      Hear(local_rank);
    }
  }
  int Culprit() const {
    const auto silence = watch_->Overdue(now_);
    return silence.has_value() ? silence->local_rank : -1;
  }
  std::optional<Duration> Left() const {
    const auto next = watch_->NextDeadline();
    if (!next.has_value()) return std::nullopt;
    return *next - now_;
  }

  Instant now_{hours(1)};
  std::optional<HangWatch> watch_;
};

TEST_F(HangWatchTest, WorkerWithoutAReportNeverHangs) {
  for (const HangPolicy& policy : {kAuto, kThirty, kOff}) {
    Use(policy);
    EXPECT_FALSE(Left().has_value());
    now_ += hours(1000);
    EXPECT_EQ(Culprit(), -1);
    EXPECT_THAT(watch_->Progress(now_), ::testing::IsEmpty());
  }
}

TEST_F(HangWatchTest, MeasuredTimesAreNoReport) {
  Use(kThirty);
  watch_->RecordProgress(now_, 1, {.own = seconds(1)});
  EXPECT_TRUE(watch_->Times().empty());
  watch_->RecordProgress(now_, 1, {.blocked = seconds(2)});
  EXPECT_FALSE(Left().has_value());
  EXPECT_TRUE(watch_->Progress(now_).empty());
  const std::vector<rendezvous::RankTimes> times = watch_->Times();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0],
            (rendezvous::RankTimes{
                .local_rank = 1, .own = seconds(1), .blocked = seconds(2)}));
  Hear(1, {.step = 3, .data = seconds(4)});
  EXPECT_EQ(watch_->Times()[0].data, seconds(4));
  const std::vector<rendezvous::LinkTime> links = {
      {.peer = 2, .limited = seconds(5)}};
  Hear(1, {.step = 4, .links = links, .sent = 6});
  Hear(1, {.step = 5});
  EXPECT_EQ(watch_->Times()[0].links, links);
  EXPECT_EQ(watch_->Times()[0].sent, 6);
  Use(kThirty);
  EXPECT_TRUE(watch_->Times().empty());
}

TEST_F(HangWatchTest, AGivenDeadlineHoldsFromTheFirstReport) {
  Use(kThirty);
  Hear(1, {.step = 7});
  EXPECT_EQ(Left(), seconds(30));
  now_ += seconds(30) - milliseconds(1);
  EXPECT_EQ(Culprit(), -1);
  now_ += milliseconds(1);
  ASSERT_EQ(Culprit(), 1);
  const HangWatch::Silence silence = *watch_->Overdue(now_);
  EXPECT_EQ(now_ - silence.since, seconds(30));
  EXPECT_EQ(silence.deadline, seconds(30));
  EXPECT_EQ(silence.step, 7);
}

TEST_F(HangWatchTest, AStandstillIsNoSilence) {
  Use(kThirty);
  Hear(0);
  now_ += seconds(10) + hours(1);
  watch_->SuspendedFor(hours(1));
  EXPECT_EQ(Left(), seconds(20));
  EXPECT_EQ(Culprit(), -1);
}

TEST_F(HangWatchTest, NothingIsLearnedFromAStandstill) {
  Use(kAuto);
  Beat(0, HangWatch::kLeastPauses, seconds(60));
  now_ += seconds(60) + hours(1);
  watch_->SuspendedFor(hours(1));
  Hear(0);
  EXPECT_EQ(Left(), seconds(600));
}

TEST_F(HangWatchTest, EachReportStartsTheSilenceAnew) {
  Use(kThirty);
  Beat(0, 100, seconds(29));
  EXPECT_EQ(Left(), seconds(30));
}

TEST_F(HangWatchTest, AWorkersOwnDeadlineGoesFirst) {
  for (const HangPolicy& policy : {kAuto, kThirty}) {
    Use(policy);
    Watchdog(0, seconds(5));
    Hear(0);
    EXPECT_EQ(Left(), seconds(5));
    Watchdog(0, minutes(50));
    EXPECT_EQ(Left(), minutes(50));
  }
}

TEST_F(HangWatchTest, AWorkerCanTurnItOff) {
  Use(kThirty);
  Watchdog(0, Duration::zero());
  EXPECT_FALSE(Left().has_value());
  Watchdog(0, seconds(5));
  EXPECT_EQ(Left(), seconds(5));
}

TEST_F(HangWatchTest, PolicyOffIgnoresAWorkersDeadline) {
  Use(kOff);
  Watchdog(0, seconds(5));
  now_ += hours(1);
  EXPECT_EQ(Culprit(), -1);
  EXPECT_FALSE(Left().has_value());
}

TEST_F(HangWatchTest, NothingIsLearnedFromFewPauses) {
  Use(kAuto);
  Beat(0, HangWatch::kLeastPauses, seconds(1));
  EXPECT_FALSE(Left().has_value());
  now_ += seconds(1);
  Hear(0);
  EXPECT_EQ(Left(), HangWatch::kLeastLearned);
}

TEST_F(HangWatchTest, LongestPauseIsLearned) {
  Use(kAuto);
  Beat(0, 10, seconds(1));
  EXPECT_EQ(Left(), minutes(5));
  now_ += minutes(2);
  Hear(0);
  EXPECT_EQ(Left(), minutes(20));
  Beat(0, 10, seconds(1));
  EXPECT_EQ(Left(), minutes(20));
}

TEST_F(HangWatchTest, LearnedDeadlineIsAtMostAnHourMoreThanTheLongestPause) {
  Use(kAuto);
  Beat(0, 10, hours(3));
  EXPECT_EQ(Left(), hours(4));
}

TEST_F(HangWatchTest, EachWorkerIsLearnedByItself) {
  Use(kAuto);
  Beat(0, 10, minutes(3));
  Beat(1, 10, seconds(1));
  EXPECT_EQ(Left(), minutes(5));
  now_ += minutes(5);
  EXPECT_EQ(Culprit(), 1);
}

TEST_F(HangWatchTest, ARoundLearnsAnew) {
  Use(kAuto);
  Beat(0, 10, seconds(1));
  watch_->Begin(2);
  EXPECT_FALSE(Left().has_value());
  Hear(0);
  EXPECT_FALSE(Left().has_value());
}

TEST_F(HangWatchTest, OverdueReturnsTheWorkerThatFellSilentFirst) {
  Use(kThirty, 3);
  Hear(1);
  now_ += milliseconds(10);
  Hear(2);
  now_ += milliseconds(10);
  Hear(0);
  now_ += seconds(29);
  EXPECT_EQ(Culprit(), -1);
  // A minute passes without a call of Overdue, for instance because the agent
  // was suspended. Now all three workers are overdue, and worker 1, which fell
  // silent first, is blamed.
  now_ += minutes(1);
  EXPECT_EQ(Culprit(), 1);
}

// Worker 0 is silent for longer, but its own deadline (an hour) has not passed:
// worker 1 is blamed.
TEST_F(HangWatchTest, OnlyThoseBeyondTheirDeadlineCount) {
  Use(kThirty);
  Watchdog(0, hours(1));
  now_ += seconds(10);
  Hear(1);
  now_ += seconds(30);
  EXPECT_EQ(Culprit(), 1);
}

TEST_F(HangWatchTest, EndedWorkerIsNotOverdue) {
  Use(kThirty);
  Hear(0);
  watch_->End(0);
  EXPECT_FALSE(Left().has_value());
  now_ += hours(1);
  EXPECT_EQ(Culprit(), -1);
  EXPECT_EQ(watch_->Progress(now_).size(), 1u);
}

TEST_F(HangWatchTest, ReportedProgressIsKept) {
  Use(kThirty);
  Hear(1, {.step = 3, .loss = 2.5, .status = "warm"});
  now_ += seconds(2);
  Hear(1, {.step = 4, .tokens_per_s = 100});
  now_ += seconds(3);
  const std::vector<rendezvous::WorkerProgress> progress =
      watch_->Progress(now_);
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0].local_rank, 1);
  EXPECT_EQ(progress[0].step, 4);
  EXPECT_EQ(progress[0].loss, 2.5);
  EXPECT_EQ(progress[0].tokens_per_s, 100);
  EXPECT_EQ(progress[0].status, "warm");
  EXPECT_EQ(progress[0].silent_for, seconds(3));
  EXPECT_EQ(progress[0].deadline, seconds(30));
}

TEST_F(HangWatchTest, AnEmptyMessageIsNoReport) {
  Use(kThirty);
  watch_->RecordProgress(now_, 0, ProgressMessage());
  EXPECT_FALSE(Left().has_value());
}

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Instant kNow{hours(1)};

// Returns a silent worker whose deadline is 5 s.
SilentWorker Silent(int local_rank, Duration silent_for,
                    WorkerState state = WorkerState::kOther) {
  return {.silence = {.local_rank = local_rank,
                      .since = kNow - silent_for,
                      .deadline = seconds(5),
                      .step = 7},
          .state = state};
}

// Calls BlameHang with the first of `silent` as the overdue worker.
HangBlame Blame(const std::vector<SilentWorker>& silent,
                const std::string& records = "/logs/job/attempt_0") {
  return BlameHang(kNow, silent[0].silence, silent, records);
}

TEST(HangBlame, SingleSilentWorkerIsBlamedWithoutARemark) {
  const HangBlame blame =
      Blame({Silent(1, seconds(5)), Silent(0, milliseconds(100))});
  EXPECT_EQ(blame.silence.local_rank, 1);
  EXPECT_EQ(blame.silence.step, 7);
  EXPECT_EQ(blame.state, WorkerState::kOther);
  EXPECT_EQ(blame.remark, "");
}

TEST(HangBlame, StoppedWorkerIsBlamedAtAnyPosition) {
  for (int stopped = 0; stopped < 3; ++stopped) {
    const auto worker = [&](int i) {
      return Silent(i, seconds(5) - milliseconds(i),
                    i == stopped ? WorkerState::kStopped : WorkerState::kOther);
    };
    const std::vector<SilentWorker> silent = {worker(0), worker(1), worker(2)};
    const HangBlame blame = Blame(silent);
    EXPECT_EQ(blame.silence.local_rank, stopped);
    EXPECT_EQ(blame.state, WorkerState::kStopped);
    EXPECT_EQ(blame.remark, "; it is stopped by a signal, such as SIGSTOP");
  }
}

TEST(HangBlame, StoppedWorkerIsBlamedHoweverShortItsSilence) {
  EXPECT_EQ(Blame({Silent(0, seconds(5)),
                   Silent(1, seconds(1), WorkerState::kStopped)})
                .silence.local_rank,
            1);
}

TEST(HangBlame, AmongStoppedWorkersTheFirstSilentOneIsBlamed) {
  for (const auto& [one, two] :
       {std::pair(3000, 2000), std::pair(2000, 3000)}) {
    const HangBlame blame =
        Blame({Silent(0, seconds(5)),
               Silent(1, milliseconds(one), WorkerState::kStopped),
               Silent(2, milliseconds(two), WorkerState::kStopped)});
    EXPECT_EQ(blame.silence.local_rank, one > two ? 1 : 2);
  }
}

TEST(HangBlame, StoppedGoesBeforeUninterruptibleAndThatBeforeEnded) {
  const std::vector<SilentWorker> silent = {
      Silent(0, seconds(5), WorkerState::kEnded),
      Silent(1, milliseconds(4999), WorkerState::kUninterruptible),
      Silent(2, milliseconds(4998), WorkerState::kStopped)};
  EXPECT_EQ(Blame(silent).silence.local_rank, 2);
  const HangBlame waits = Blame({silent[0], silent[1]});
  EXPECT_EQ(waits.silence.local_rank, 1);
  EXPECT_EQ(waits.remark,
            "; it is in an uninterruptible wait: a disk, or a driver");
  const HangBlame ended = Blame({silent[0], Silent(1, milliseconds(4999))});
  EXPECT_EQ(ended.silence.local_rank, 0);
  EXPECT_EQ(ended.remark, "; its first thread has ended");
}

// Worker 0 is overdue. Worker 1 is in an uninterruptible wait, but its own
// deadline is not near. Worker 1 is not blamed, because it may be writing a
// checkpoint.
TEST(HangBlame, AnUninterruptibleWaitThatIsNotOverdueIsNoHang) {
  SilentWorker patient =
      Silent(1, milliseconds(4999), WorkerState::kUninterruptible);
  patient.silence.deadline = seconds(60);
  EXPECT_EQ(Blame({Silent(0, seconds(5)), patient}).silence.local_rank, 0);
  EXPECT_EQ(Blame({Silent(0, seconds(5)),
                   Silent(1, seconds(4), WorkerState::kUninterruptible)})
                .silence.local_rank,
            0);
}

TEST(HangBlame, EqualWorkersGiveARemark) {
  const HangBlame blame =
      Blame({Silent(2, seconds(5)), Silent(0, milliseconds(4988)),
             Silent(1, milliseconds(4995)), Silent(3, milliseconds(4499))});
  EXPECT_EQ(blame.silence.local_rank, 2);
  EXPECT_EQ(
      blame.remark,
      "; 3 ranks of this node fell silent within 12 ms of each other, and "
      "the first need not be the cause: `launch inspect "
      "/logs/job/attempt_0` shows who waited for whom");
}

// Worker 0 is overdue. Worker 1 has been silent 400 ms longer, but is not
// overdue, because its deadline is longer. The message about the hang must
// count worker 1 among the workers that fell silent together.
TEST(HangBlame, WorkerSilentSlightlyEarlierIsCounted) {
  SilentWorker patient = Silent(1, milliseconds(5400));
  patient.silence.deadline = seconds(6);
  EXPECT_THAT(Blame({Silent(0, seconds(5)), patient}).remark,
              HasSubstr("2 ranks of this node fell silent within 400 ms"));
}

TEST(HangBlame, WithoutAShortFolderItSaysWhatGivesOne) {
  for (const std::string& records : {std::string(), std::string(161, 'x')}) {
    EXPECT_THAT(
        Blame({Silent(0, seconds(5)), Silent(1, seconds(5))}, records).remark,
        HasSubstr(": with --log-dir, `launch inspect` shows who waited"));
  }
}

}  // namespace
}  // namespace muster::agent
