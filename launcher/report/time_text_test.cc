#include "launcher/report/time_text.h"

#include <algorithm>

#include "gtest/gtest.h"

namespace muster::launcher {
namespace {

using rendezvous::Activity;
using rendezvous::JobTime;
using rendezvous::LossCause;

JobTime Time(double productive_s, double starting_s) {
  JobTime time;
  time.spent_s[static_cast<size_t>(Activity::kProductive)] = productive_s;
  time.spent_s[static_cast<size_t>(Activity::kStarting)] = starting_s;
  return time;
}

void Lose(LossCause cause, const std::string& host, double pause_s,
          JobTime* time) {
  time->newest.push_back(
      {.cause = cause, .host = host, .nodes = 2, .lost_s = 2 * pause_s});
  JobTime::Sum& sum = time->by_cause[static_cast<size_t>(cause)];
  ++sum.incidents;
  sum.pause_s += pause_s;
}

// Fills in JobTime::by_host (the lost time by host), which older versions of
// Muster do not report.
void SumByHost(JobTime* time) {
  for (const rendezvous::Incident& incident : time->newest) {
    auto host = std::ranges::find(time->by_host, incident.host,
                                  &JobTime::HostLosses::host);
    if (host == time->by_host.end()) {
      host = time->by_host.insert(host, {.host = incident.host});
    }
    JobTime::Sum& sum = host->by_cause[static_cast<size_t>(incident.cause)];
    ++sum.incidents;
    sum.pause_s += incident.pause_s();
  }
}

TEST(TimeText, AJobWithoutLossesHasAShare) {
  EXPECT_EQ(TimeLine(Time(973, 27)), "97.3 % productive");
  EXPECT_EQ(TimeLine({}), "0.0 % productive");
}

TEST(TimeText, LossesAreNamedByCauseAndHostTheLargestFirst) {
  JobTime time = Time(90, 10);
  Lose(LossCause::kHang, "h1", 0.9, &time);
  Lose(LossCause::kWorker, "h2", 3, &time);
  Lose(LossCause::kNode, "h3", 4, &time);
  Lose(LossCause::kWorker, "h2", 4.1, &time);
  EXPECT_EQ(TimeLine(time),
            "90.0 % productive; 12.0s lost to 4 failures: worker on h2 7.1s, "
            "node h3 4.0s, hang on h1 0.90s");
  Lose(LossCause::kUnknown, "", 20, &time);
  EXPECT_EQ(TimeLine(time),
            "90.0 % productive; 32.0s lost to 5 failures: unknown to this "
            "coordinator 20.0s, worker on h2 7.1s, node h3 4.0s, others "
            "0.90s");
}

TEST(TimeText, LossesOfOldIncidentsAreNamedAsWell) {
  JobTime time = Time(90, 10);
  Lose(LossCause::kWorker, "h2", 3, &time);
  Lose(LossCause::kHang, "h2", 1, &time);
  SumByHost(&time);
  time.newest.clear();
  EXPECT_EQ(TimeLine(time),
            "90.0 % productive; 4.0s lost to 2 failures: worker on h2 3.0s, "
            "hang on h2 1.0s");
  // Losses of hosts that the list does not contain.
  Lose(LossCause::kNode, "h3", 0.5, &time);
  time.newest.clear();
  EXPECT_EQ(TimeLine(time),
            "90.0 % productive; 4.5s lost to 3 failures: worker on h2 3.0s, "
            "hang on h2 1.0s, others 0.50s");
}

TEST(TimeText, AChangeOfTheNodesIsNoFailure) {
  JobTime time = Time(90, 10);
  Lose(LossCause::kChange, "", 2, &time);
  EXPECT_EQ(TimeLine(time),
            "90.0 % productive; 2.0s lost to 1 interruption: change of the "
            "nodes 2.0s");
}

TEST(TimeText, HostsArePrintable) {
  JobTime time = Time(1, 0);
  Lose(LossCause::kNode, "h\x1b[31m", 1, &time);
  EXPECT_EQ(TimeLine(time).find('\x1b'), std::string::npos);
}

TEST(TimeText, ActivitiesAreSortedByTime) {
  EXPECT_EQ(ActivitiesLine(Time(25, 75)), "starting 75.0 %, productive 25.0 %");
  EXPECT_EQ(ActivitiesLine(Time(0.4, 999.6)), "starting 100.0 %");
  EXPECT_EQ(ActivitiesLine({}), "");
}

}  // namespace
}  // namespace muster::launcher
