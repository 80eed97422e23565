// Tests AnalyseFlight on jobs that are still running, in which it is normal
// that a rank waits.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/testing/rounding.h"
#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/flight_recorder/rank_log.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using State = RankLog::State;

// The time at which rank 0 begins the second barrier in the logs of
// OneIsLate(), in seconds since 1970 (UTC).
constexpr double kBegan = 1002;

FlightAnalysis At(double clock, const std::vector<FlightLog>& logs) {
  return AnalyseFlight(logs, {}, clock);
}

std::vector<FlightLog> OneIsLate() {
  return {RankLog(0, 2).Does(Barrier(), 1).Does(Barrier(), 2, State::kIn),
          RankLog(1, 2).Does(Barrier(), 1)};
}

// Returns `log` with the time of its last record changed to `time`. If the
// operation has ended, this is the time of its end, otherwise of its start.
FlightLog Since(double time, FlightLog log) {
  FlightRecord& last = log.records.back();
  if (last.ended != 0) {
    last.ended = time;
  } else {
    last.queued = last.started = time;
  }
  log.written = time;
  return log;
}

TEST(FlightRunningTest, RankLateByLessThanASecondIsNotBehind) {
  const FlightAnalysis analysis = At(kBegan + 0.9, OneIsLate());
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_NEAR(analysis.longest_wait, 0.9, RoundingBound<double>(2, kBegan));
  ASSERT_EQ(analysis.positions.size(), 2u);
  EXPECT_EQ(analysis.positions[0].state, "in it for 0.9 s");
}

TEST(FlightRunningTest, AWaitThatBeganAfterTheLookIsOne) {
  const FlightAnalysis analysis = At(kBegan - 5, OneIsLate());
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_EQ(analysis.longest_wait, 0.001);
}

TEST(FlightRunningTest, AwaitedRankIsBehindAfterASecond) {
  EXPECT_THAT(At(kBegan + 1, OneIsLate()).findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
  const FlightAnalysis analysis = At(kBegan + 20, OneIsLate());
  EXPECT_THAT(analysis.findings,
              ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) is behind"),
                                HasSubstr(", done 20.5 s ago"))));
  EXPECT_EQ(analysis.positions.at(0).state, "in it for 20.0 s");
  EXPECT_EQ(analysis.longest_wait, 0);
}

TEST(FlightRunningTest, WhereNobodyWaitsThereIsNoLongestWait) {
  EXPECT_EQ(At(kBegan, {RankLog(0, 1).Does(Barrier(), 1)}).longest_wait, 0);
}

TEST(FlightRunningTest, AfterAFailureNothingIsWaitedFor) {
  EXPECT_THAT(At(kBegan + 0.5, {RankLog(0, 2)
                                    .Does(Barrier(), 1)
                                    .Does(Barrier(), 2, State::kIn)
                                    .Says("rank 1 is late"),
                                RankLog(1, 2).Does(Barrier(), 1)})
                  .findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
}

TEST(FlightRunningTest, JustStartedOperationIsNoStandstill) {
  const auto in_it = [](int rank, double time) {
    return Since(time, RankLog(rank, 2).Does(Barrier(), 1, State::kIn));
  };
  const FlightAnalysis analysis = At(1010, {in_it(0, 1005), in_it(1, 1009.5)});
  EXPECT_THAT(analysis.findings, IsEmpty());
  EXPECT_EQ(analysis.longest_wait, 5);
  EXPECT_THAT(At(1010, {in_it(0, 1005), in_it(1, 1008)}).findings,
              ElementsAre(HasSubstr("nobody is behind")));
}

// Rank 0 is in a barrier that rank 1 finished half a second ago. Rank 0 must
// not be reported, because it may leave the barrier while the logs are being
// read.
TEST(FlightRunningTest, RankInAJustFinishedOperationIsNotBehind) {
  const auto left = [](double time) {
    return Since(time, RankLog(1, 2).Does(Barrier(), 1));
  };
  const FlightLog in_it =
      Since(1005, RankLog(0, 2).Does(Barrier(), 1, State::kIn));
  EXPECT_THAT(At(1010, {in_it, left(1009.5)}).findings, IsEmpty());
  EXPECT_THAT(At(1010, {in_it, left(1006)}).findings,
              ElementsAre(HasSubstr("which rank 1 has done")));
}

TEST(FlightRunningTest, MessagesAreWaitedForAsLong) {
  const FlightLog waits = Since(
      1005,
      RankLog(0, 2).Does(Receive(nullptr, 4, DType::kInt8, 1), 0, State::kIn));
  const auto sends = [](double time, State state) {
    return Since(
        time, RankLog(1, 2).Does(Send(nullptr, 4, DType::kInt8, 0), 0, state));
  };
  EXPECT_THAT(At(1010, {waits, sends(1009.5, State::kIn)}).findings, IsEmpty());
  EXPECT_THAT(At(1010, {waits, sends(1009.5, State::kDone)}).findings,
              IsEmpty());
  EXPECT_THAT(At(1010, {waits, sends(1006, State::kDone)}).findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) did not answer")));
  EXPECT_THAT(At(1010, {waits, sends(1006, State::kIn)}).findings,
              ElementsAre(HasSubstr("ranks wait for each other")));
  // Rank 0 waits for a message from rank 1. Rank 1 makes progress, but only in
  // a group without rank 0. Rank 1 must still be blamed.
  EXPECT_THAT(
      At(1010, {waits, Since(1009.5, RankLog(1, 2)
                                         .Group("alone", {1})
                                         .Does(Barrier(), 1, State::kIn, 1))})
          .findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) did not answer"),
                        HasSubstr("its last was barrier #1 in group alone, in "
                                  "it for 0.5 s"))));
}

}  // namespace
}  // namespace muster
