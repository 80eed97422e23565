#include "rendezvous/job/job_ledger.h"

#include <chrono>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace muster::rendezvous {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

NodeTime Time(int productive_s, std::vector<RoundLoss> losses = {}) {
  NodeTime time{.losses = std::move(losses)};
  time.ledger[Activity::kProductive] = seconds(productive_s);
  time.ledger[Activity::kStarting] = seconds(10);
  return time;
}

RoundLoss Lost(int round, int lost_s) {
  return {.round = round, .lost = seconds(lost_s)};
}

TEST(JobLedger, TimeIsTheSumOverNodes) {
  JobLedger ledger;
  ledger.Tell({}, Time(30));
  ledger.Tell({}, Time(10));
  ledger.Tell(Time(10), Time(20));
  const JobTime time = ledger.Read(1);
  EXPECT_DOUBLE_EQ(time.productive_s(), 50);
  EXPECT_DOUBLE_EQ(time.total_s(), 70);
  EXPECT_DOUBLE_EQ(time.ratio(), 50.0 / 70);
}

TEST(JobLedger, TimeThatIsTakenBackLeavesNothing) {
  JobLedger ledger;
  NodeTime running;
  NodeTime initialising;
  for (const int milliseconds : {100, 200, 700}) {
    running.ledger[Activity::kRunning] =
        std::chrono::milliseconds(milliseconds);
    ledger.Tell({}, running);
  }
  for (const int milliseconds : {100, 200, 700}) {
    running.ledger[Activity::kRunning] =
        std::chrono::milliseconds(milliseconds);
    ledger.Tell(running, initialising);
  }
  EXPECT_EQ(ledger.Read(1).total_s(), 0);
}

TEST(JobLedger, ARatioWithoutTimeIsZero) {
  EXPECT_EQ(JobLedger().Read(1).ratio(), 0);
}

TEST(JobLedger, TheMeanOfTheNodesIsThePause) {
  JobLedger ledger;
  ledger.Count(1, LossCause::kWorker, "h1", "rank 3 failed");
  ledger.Tell({}, Time(1, {Lost(1, 4)}));
  ledger.Tell({}, Time(1, {Lost(1, 2)}));
  ledger.Tell(Time(1, {Lost(1, 2)}), Time(1, {Lost(1, 6)}));
  const JobTime time = ledger.Read(2);
  ASSERT_THAT(time.newest, SizeIs(1));
  EXPECT_EQ(time.newest[0].cause, LossCause::kWorker);
  EXPECT_EQ(time.newest[0].host, "h1");
  EXPECT_EQ(time.newest[0].why, "rank 3 failed");
  EXPECT_DOUBLE_EQ(time.newest[0].lost_s, 10);
  EXPECT_DOUBLE_EQ(time.newest[0].pause_s(), 5);
  EXPECT_EQ(time.losses().incidents, 1);
  EXPECT_DOUBLE_EQ(time.losses().pause_s, 5);
}

TEST(JobLedger, TheFirstCauseOfARoundHolds) {
  JobLedger ledger;
  ledger.Count(1, LossCause::kWorker, "h1", "rank 3 failed");
  ledger.Count(1, LossCause::kNode, "h2", "lost");
  EXPECT_EQ(ledger.Read(2).newest.at(0).host, "h1");
}

TEST(JobLedger, AnEndThatNoRoundFollowedIsNoIncident) {
  JobLedger ledger;
  ledger.Tell({}, Time(1, {Lost(5, 4)}));
  EXPECT_THAT(ledger.Read(5).newest, IsEmpty());
  // Once round 6 exists, round 5 counts as ended early. Only an earlier
  // coordinator knew the cause, so the cause is unknown here.
  const JobTime later = ledger.Read(6);
  ASSERT_THAT(later.newest, SizeIs(1));
  EXPECT_EQ(later.newest[0].cause, LossCause::kUnknown);
}

TEST(JobLedger, LossesThatANodeDoesNotTellAnyMoreStay) {
  JobLedger ledger;
  ledger.Count(1, LossCause::kWorker, "", "");
  ledger.Count(2, LossCause::kWorker, "", "");
  ledger.Tell({}, Time(1, {Lost(1, 4)}));
  ledger.Tell(Time(1, {Lost(1, 4)}), Time(1, {Lost(2, 3)}));
  EXPECT_DOUBLE_EQ(ledger.Read(3).losses().pause_s, 7);
}

TEST(JobLedger, OldIncidentsStayInTheSums) {
  JobLedger ledger;
  NodeTime told;
  for (int round = 1; round <= 20; ++round) {
    const NodeTime next = Time(round, {Lost(round, 1)});
    ledger.Count(round, LossCause::kNode, "h", "lost");
    ledger.Tell(told, next);
    told = next;
  }
  const JobTime time = ledger.Read(21);
  EXPECT_THAT(time.newest, SizeIs(kMaxIncidents));
  EXPECT_EQ(time.newest.back().round, 20);
  EXPECT_EQ(time.losses().incidents, 20);
  EXPECT_DOUBLE_EQ(time.losses().pause_s, 20);
  // Round 1 is older than the kMaxIncidents newest incidents, so Count has no
  // effect for it.
  ledger.Count(1, LossCause::kHang, "h", "hung");
  EXPECT_EQ(ledger.Read(21).losses().incidents, 20);
}

// Lets the round end early because of a worker on `host`, and one node lose
// `lost_s` seconds by that.
void Fail(int round, const std::string& host, int lost_s, JobLedger* ledger) {
  ledger->Count(round, LossCause::kWorker, host, "failed");
  ledger->Tell({}, Time(0, {Lost(round, lost_s)}));
}

TEST(JobLedger, EachHostHasItsLosses) {
  JobLedger ledger;
  for (int round = 1; round <= 40; round += 2) {
    Fail(round, "h1", 1, &ledger);
    Fail(round + 1, "h2", 2, &ledger);
  }
  ledger.Count(41, LossCause::kHang, "h2", "hung");
  ledger.Tell({}, Time(0, {Lost(41, 5)}));
  ledger.Count(42, LossCause::kChange, "", "drained");
  const JobTime time = ledger.Read(43);
  ASSERT_THAT(time.by_host, SizeIs(3));
  EXPECT_EQ(time.by_host[0].host, "h2");
  EXPECT_EQ(time.by_host[0].total().incidents, 21);
  EXPECT_DOUBLE_EQ(time.by_host[0].total().pause_s, 45);
  const JobTime::Sum hangs =
      time.by_host[0].by_cause[static_cast<size_t>(LossCause::kHang)];
  EXPECT_EQ(hangs.incidents, 1);
  EXPECT_DOUBLE_EQ(hangs.pause_s, 5);
  EXPECT_EQ(time.by_host[1].host, "h1");
  EXPECT_DOUBLE_EQ(time.by_host[1].total().pause_s, 20);
  EXPECT_EQ(time.by_host[2].host, "");
  EXPECT_EQ(time.by_host[2].total().incidents, 1);
  EXPECT_EQ(time.other_hosts().incidents, 0);
  EXPECT_EQ(time.other_hosts().pause_s, 0);
}

TEST(JobLedger, HostsWithSmallLossesAreSummedAsOthers) {
  JobLedger ledger;
  const int hosts = static_cast<int>(kMaxLossHosts) + 36;
  for (int i = 1; i <= hosts; ++i) {
    Fail(i, "h" + std::to_string(i), i, &ledger);
  }
  const JobTime time = ledger.Read(hosts + 1);
  ASSERT_THAT(time.by_host, SizeIs(kMaxLossHosts));
  EXPECT_EQ(time.by_host.front().host, "h100");
  EXPECT_EQ(time.by_host.back().host, "h37");
  EXPECT_EQ(time.other_hosts().incidents, 36);
  EXPECT_DOUBLE_EQ(time.other_hosts().pause_s, 36 * 37 / 2);
  EXPECT_EQ(time.losses().incidents, hosts);
}

TEST(JobLedger, ANewCoordinatorKnowsTheLossesOfTheHosts) {
  JobLedger ledger;
  for (int round = 1; round <= 20; ++round) Fail(round, "h1", 1, &ledger);
  Fail(21, "h2", 7, &ledger);
  JobLedger next(ledger.Without({}, 22));
  JobTime time = next.Read(22);
  ASSERT_THAT(time.by_host, SizeIs(2));
  EXPECT_EQ(time.by_host[0].host, "h1");
  EXPECT_EQ(time.by_host[0].total().incidents, 20);
  EXPECT_NEAR(time.by_host[0].total().pause_s, 20, 1e-9);
  EXPECT_EQ(time.by_host[1].host, "h2");
  EXPECT_NEAR(time.by_host[1].total().pause_s, 7, 1e-9);
  // Of a record whose hosts are cut, the newest rounds count once.
  JobTime cut = ledger.Without({}, 22);
  cut.by_host.pop_back();
  time = JobLedger(cut).Read(22);
  ASSERT_THAT(time.by_host, SizeIs(2));
  EXPECT_NEAR(time.by_host[1].total().pause_s, 7, 1e-9);
}

TEST(JobLedger, ANewCoordinatorGoesOnWithTheSums) {
  JobLedger ledger;
  NodeTime gone;
  for (int round = 1; round <= 20; ++round) {
    const NodeTime next = Time(round, {Lost(round, 1)});
    ledger.Count(round, LossCause::kNode, "h", "lost");
    ledger.Tell(gone, next);
    gone = next;
  }
  const NodeTime here = Time(100, {Lost(20, 3)});
  ledger.Tell({}, here);
  const JobTime before = ledger.Read(21);

  JobLedger next(ledger.Without({&here}, 21));
  EXPECT_DOUBLE_EQ(next.Read(21).productive_s(), 20);
  next.Tell({}, here);
  const JobTime after = next.Read(21);
  EXPECT_EQ(after.spent_s, before.spent_s);
  EXPECT_EQ(after.losses().incidents, before.losses().incidents);
  EXPECT_NEAR(after.losses().pause_s, before.losses().pause_s, 1e-9);
  EXPECT_EQ(after.newest.back().nodes, 2);
}

}  // namespace
}  // namespace muster::rendezvous
