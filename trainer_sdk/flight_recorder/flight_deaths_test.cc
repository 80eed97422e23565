// Tests that AnalyseFlight combines the agents' reports of how workers ended
// with the ranks' logs.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trainer_sdk/flight_recorder/flight_analysis.h"
#include "trainer_sdk/process_group/operations.h"

namespace muster {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr double kBegin = 1000;

// Makes the log of a rank. If `called` is 2, the rank has finished all_reduce
// #1 and is in all_reduce #2; if 1, it has only finished #1.
FlightLog LogOf(int rank, int world_size, uint64_t called = 2) {
  FlightLog log;
  log.rank = rank;
  log.world_size = world_size;
  log.host = "node" + std::to_string(rank);
  log.pid = 100 + rank;
  log.groups = {{"world", rank, world_size, {}}};
  for (int i = 0; i < world_size; ++i) log.groups[0].members.push_back(i);
  for (uint64_t sequence = 1; sequence <= called; ++sequence) {
    FlightRecord record;
    record.number = sequence;
    record.signature =
        SignatureOf(AllReduce(nullptr, nullptr, 4, DType::kFloat32), sequence);
    record.started = kBegin + static_cast<double>(sequence);
    if (sequence == 1) record.ended = record.started + 0.5;
    log.written = record.started + 0.5;
    log.records.push_back(record);
  }
  return log;
}

FlightEnd EndOf(int rank, HowEnded how, double time = kBegin + 10) {
  FlightEnd end;
  end.rank = rank;
  end.host = "node" + std::to_string(rank);
  end.pid = 100 + rank;
  end.how = how;
  end.time = time;
  end.message = how == HowEnded::kKilled ? "killed by SIGKILL (9)" : "words";
  return end;
}

constexpr char kSecond[] = "all_reduce #2 of 4 float32 (16 bytes), sum";

TEST(FlightDeaths, DeadRankIsNamed) {
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 4), LogOf(1, 4), LogOf(2, 4), LogOf(3, 4)},
      {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kKilled),
       EndOf(2, HowEnded::kStopped), EndOf(3, HowEnded::kStopped)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre("rank 1 (node1, pid 101) died in " + std::string(kSecond) +
                  " in group world: killed by SIGKILL (9)"));
  EXPECT_EQ(analysis.stopped, "ranks 0, 2-3");
  ASSERT_THAT(analysis.positions, SizeIs(2));
  EXPECT_EQ(analysis.positions[0].ranks, "ranks 0, 2-3");
  EXPECT_THAT(analysis.positions[0].state, HasSubstr("s, then stopped"));
  EXPECT_EQ(analysis.positions[1].ranks, "rank 1");
  EXPECT_THAT(analysis.positions[1].state, HasSubstr("s, then died"));
}

TEST(FlightDeaths, StoppedRankIsNotBehind) {
  const FlightAnalysis analysis =
      AnalyseFlight({LogOf(0, 3), LogOf(1, 3, /*called=*/1), LogOf(2, 3)},
                    {EndOf(0, HowEnded::kKilled), EndOf(1, HowEnded::kStopped),
                     EndOf(2, HowEnded::kStopped)});
  EXPECT_THAT(analysis.findings, ElementsAre(HasSubstr("rank 0")));
}

TEST(FlightDeaths, ButWhoAHungOneWaitedForIsAndNotTheHungOne) {
  const FlightAnalysis analysis =
      AnalyseFlight({LogOf(0, 3), LogOf(1, 3, /*called=*/1), LogOf(2, 3)},
                    {EndOf(0, HowEnded::kHung), EndOf(1, HowEnded::kStopped),
                     EndOf(2, HowEnded::kStopped)});
  EXPECT_THAT(analysis.findings,
              ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) is behind"),
                                HasSubstr(", where ranks 0, 2 wait"))));
  EXPECT_THAT(analysis.positions[0].state, HasSubstr(", then hung"));
}

TEST(FlightDeaths, HungRankIsReportedWithItsAgentsReason) {
  const FlightAnalysis analysis =
      AnalyseFlight({LogOf(0, 3), LogOf(1, 3, /*called=*/1), LogOf(2, 3)},
                    {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kHung),
                     EndOf(2, HowEnded::kStopped)});
  EXPECT_THAT(analysis.findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind"),
                          AllOf(HasSubstr("rank 1 (node1, pid 101) hung in no "
                                          "operation"),
                                HasSubstr("): words"))));
}

TEST(FlightDeaths, MismatchIsReportedInsteadOfHungRank) {
  FlightLog other = LogOf(1, 3);
  other.records[1].signature = SignatureOf(Barrier(), 2);
  EXPECT_THAT(
      AnalyseFlight({LogOf(0, 3), other, LogOf(2, 3)},
                    {EndOf(0, HowEnded::kHung), EndOf(1, HowEnded::kStopped),
                     EndOf(2, HowEnded::kStopped)})
          .findings,
      ElementsAre(HasSubstr("but rank 1 called barrier #2")));
}

// NCCL's transport only launches operations, so all operations look finished.
// Rank 1 called fewer operations than the others. Rank 0's agent killed rank 0,
// because rank 0 was silent. Only rank 1 must be blamed.
TEST(FlightDeaths, FewerCallsAreReportedInsteadOfHungRank) {
  std::vector<FlightLog> logs = {LogOf(0, 3), LogOf(1, 3, /*called=*/1),
                                 LogOf(2, 3)};
  for (FlightLog& log : logs) log.records.back().ended = kBegin + 3;
  EXPECT_THAT(AnalyseFlight(logs, {EndOf(0, HowEnded::kHung),
                                   EndOf(1, HowEnded::kStopped),
                                   EndOf(2, HowEnded::kStopped)})
                  .findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind")));
  // The logs show that rank 1 is behind, and its agent reports that rank 1
  // hung. So two findings name rank 1.
  EXPECT_THAT(AnalyseFlight(logs, {EndOf(1, HowEnded::kHung)}).findings,
              ElementsAre(HasSubstr("rank 1 (node1, pid 101) is behind"),
                          HasSubstr("rank 1 (node1, pid 101) hung"),
                          HasSubstr("rank 0 (node0, pid 100) ended without"),
                          HasSubstr("rank 2 (node2, pid 102) ended without")));
}

TEST(FlightDeaths, WhereNobodyElseIsToBlameAHungOneIs) {
  FlightLog hung = LogOf(0, 2);
  hung.reason = "a dump of its watchdog";
  EXPECT_THAT(
      AnalyseFlight({hung, LogOf(1, 2)},
                    {EndOf(0, HowEnded::kHung), EndOf(1, HowEnded::kStopped)})
          .findings,
      ElementsAre(HasSubstr("rank 0 (node0, pid 100) hung in all_reduce #2")));
}

TEST(FlightDeaths, DeadRankAloneIsBlamed) {
  EXPECT_THAT(
      AnalyseFlight({LogOf(0, 3), LogOf(1, 3), LogOf(2, 3, /*called=*/1)},
                    {EndOf(0, HowEnded::kKilled), EndOf(1, HowEnded::kHung),
                     EndOf(2, HowEnded::kStopped)})
          .findings,
      ElementsAre(HasSubstr("rank 0 (node0, pid 100) died")));
}

TEST(FlightDeaths, ManyHungRanksAreSummarised) {
  std::vector<FlightLog> logs;
  std::vector<FlightEnd> ends;
  for (int rank = 0; rank < 20; ++rank) {
    logs.push_back(LogOf(rank, 20));
    ends.push_back(EndOf(rank, HowEnded::kHung, kBegin + 30 - rank));
  }
  const FlightAnalysis analysis = AnalyseFlight(logs, ends);
  ASSERT_THAT(analysis.findings, SizeIs(9));
  EXPECT_THAT(analysis.findings[0], HasSubstr("rank 19 (node19"));
  EXPECT_EQ(analysis.findings[8], "and 12 others hung");
}

TEST(FlightDeaths, TheLastEndIsTheMomentThatWaitsAreCountedTo) {
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 2), LogOf(1, 2)},
      {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kKilled, kBegin + 22)},
      /*clock=*/kBegin + 99);
  EXPECT_EQ(analysis.positions[0].state, "in it for 20.0 s, then stopped");
}

TEST(FlightDeaths, DeathBetweenOperationsNamesTheLast) {
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 2), LogOf(1, 2, /*called=*/1)},
      {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kExited)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre(AllOf(HasSubstr("rank 1 (node1, pid 101) exited in no "
                                  "operation (its last was all_reduce "
                                  "#1"),
                        HasSubstr("): words"))));
}

TEST(FlightDeaths, WithoutADumpTheyAreNamedAllTheSame) {
  const FlightAnalysis analysis =
      AnalyseFlight({LogOf(0, 4)}, {EndOf(1, HowEnded::kKilled),
                                    EndOf(2, HowEnded::kNotStarted),
                                    EndOf(3, HowEnded::kStopped)});
  EXPECT_THAT(
      analysis.findings,
      ElementsAre(
          "rank 1 (node1, pid 101) died without a flight record: killed "
          "by SIGKILL (9)",
          "rank 2 (node2, pid 102) could not be started: words",
          HasSubstr("rank 0 (node0, pid 100) ended without a word")));
}

TEST(FlightDeaths, EarliestDeathIsFirst) {
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 2), LogOf(1, 2)}, {EndOf(0, HowEnded::kExited, kBegin + 12),
                                   EndOf(1, HowEnded::kKilled, kBegin + 11)});
  EXPECT_THAT(analysis.findings, ElementsAre(HasSubstr("rank 1 (node1"),
                                             HasSubstr("rank 0 (node0")));
}

// Rank 1 died. Because of this, an operation of rank 0 failed, and rank 0
// exited. Only rank 1 is reported as a cause.
TEST(FlightDeaths, RankWithAFailedOperationIsNoCause) {
  FlightLog victim = LogOf(0, 2);
  victim.reason = "all_reduce #2: rank 1 died";
  const FlightAnalysis analysis = AnalyseFlight(
      {victim, LogOf(1, 2)}, {EndOf(0, HowEnded::kExited, kBegin + 5),
                              EndOf(1, HowEnded::kKilled, kBegin + 11)});
  EXPECT_THAT(analysis.findings, ElementsAre(HasSubstr("rank 1 (node1")));
  EXPECT_THAT(analysis.positions[0].state, HasSubstr(", then exited"));
  EXPECT_EQ(analysis.stopped, "");
}

TEST(FlightDeaths, MismatchIsReportedWithTheDeath) {
  FlightLog other = LogOf(1, 2);
  other.records[1].signature = SignatureOf(Barrier(), 2);
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 2), other},
      {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kKilled)});
  EXPECT_THAT(analysis.findings,
              ElementsAre(HasSubstr("died in barrier #2"),
                          HasSubstr("rank 1 called barrier #2")));
}

TEST(FlightDeaths, RankInTheDeadRanksOperationIsNotBehind) {
  FlightLog dead = LogOf(0, 2);
  dead.records[1].ended = kBegin + 3;
  EXPECT_THAT(
      AnalyseFlight({dead, LogOf(1, 2)}, {EndOf(0, HowEnded::kKilled)})
          .findings,
      ElementsAre(HasSubstr("rank 0 (node0, pid 100) died"),
                  HasSubstr("rank 1 (node1, pid 101) ended without a word")));
}

TEST(FlightDeaths, ManyDeathsAreSummarised) {
  std::vector<FlightLog> logs;
  std::vector<FlightEnd> ends;
  for (int rank = 0; rank < 20; ++rank) {
    logs.push_back(LogOf(rank, 20));
    ends.push_back(EndOf(rank, HowEnded::kKilled));
  }
  const FlightAnalysis analysis = AnalyseFlight(logs, ends);
  ASSERT_THAT(analysis.findings, SizeIs(9));
  EXPECT_EQ(analysis.findings[8], "and 12 others ended by themselves");
}

TEST(FlightDeaths, OnlyStoppedOnesAreNobodysFault) {
  const FlightAnalysis analysis = AnalyseFlight(
      {LogOf(0, 2), LogOf(1, 2)},
      {EndOf(0, HowEnded::kStopped), EndOf(1, HowEnded::kStopped)});
  EXPECT_EQ(analysis.stopped, "ranks 0-1");
  EXPECT_THAT(analysis.findings,
              ElementsAre(AllOf(HasSubstr("nobody is behind"),
                                Not(HasSubstr("died")))));
}

}  // namespace
}  // namespace muster
