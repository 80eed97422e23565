#include "agent/lifecycle/hang_blame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace muster::agent {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr Instant kNow{hours(1)};

// A silent worker whose deadline is 5 s.
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

TEST(HangBlame, OneAloneIsItWithoutAnyDoubt) {
  const HangBlame blame =
      Blame({Silent(1, seconds(5)), Silent(0, milliseconds(100))});
  EXPECT_EQ(blame.silence.local_rank, 1);
  EXPECT_EQ(blame.silence.step, 7);
  EXPECT_EQ(blame.state, WorkerState::kOther);
  EXPECT_EQ(blame.remark, "");
}

TEST(HangBlame, TheStoppedOneIsItWhereverItIs) {
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

TEST(HangBlame, AStoppedOneIsItHoweverShortItsSilence) {
  EXPECT_EQ(Blame({Silent(0, seconds(5)),
                   Silent(1, seconds(1), WorkerState::kStopped)})
                .silence.local_rank,
            1);
}

TEST(HangBlame, OfStoppedOnesTheFirstToFallSilentIsIt) {
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

// A worker that writes a checkpoint may be in an uninterruptible wait before
// its deadline.
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

TEST(HangBlame, WhereNothingTellsThemApartItSaysSo) {
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

// The earlier worker has a longer deadline and is not overdue.
TEST(HangBlame, OneThatFellSilentALittleEarlierIsCounted) {
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
