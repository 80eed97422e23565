#include "launcher/run_report/run_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launcher/run_report/sample_events.h"

namespace muster::launcher {
namespace {

using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ReportBuilderTest : public testing::Test {
 protected:
  void Add(double time, int round, std::string kind, std::string reason = "") {
    builder_.Add(EventOf(time, round, std::move(kind), std::move(reason)));
  }
  void Break(double time, int round, int rank) {
    RecordedEvent event = EventOf(time, round, "break", "round is broken");
    event.failure = Killed(rank, "h2");
    builder_.Add(event);
  }
  void State(double time, int round, const RecordedState& state) {
    RecordedEvent event = EventOf(time, round, "state");
    event.state = state;
    builder_.Add(event);
  }
  void Steps(double time, int round, int64_t least, int64_t most) {
    RecordedState state;
    state.phase = "running";
    state.world_size = 4;
    state.progress = RecordedProgress{.ranks = 4,
                                      .least_step = least,
                                      .max_step = most,
                                      .loss = std::nullopt};
    State(time, round, state);
  }
  static RecordedState Finished(const std::string& outcome,
                                std::vector<rendezvous::Incident> incidents) {
    RecordedState state;
    state.phase = "finished";
    state.verdict = RecordedVerdict{.outcome = outcome};
    state.time.newest = std::move(incidents);
    return state;
  }
  ReportBuilder builder_;
};

rendezvous::Incident Lost(int round, double seconds) {
  return {.round = round,
          .cause = rendezvous::LossCause::kWorker,
          .host = "h2",
          .why = "rank 1 was killed",
          .nodes = 1,
          .lost_s = seconds};
}

TEST_F(ReportBuilderTest, InterruptionHasCulpritLossAndRepeatedSteps) {
  Add(10, 0, "join");
  Add(11, 1, "assign", "round 1 begins: 2 nodes");
  Steps(12, 1, 1, 2);
  Steps(20, 1, 30, 31);
  Break(21, 1, 1);
  Add(24, 2, "assign", "round 2 begins: 2 nodes");
  Steps(25, 2, 21, 22);
  Steps(30, 2, 50, 50);
  Add(40, 2, "finish", "every worker succeeded");
  State(40, 2, Finished("succeeded", {Lost(1, 4.5)}));
  const RunReport report = builder_.Take();
  EXPECT_EQ(report.first_time, 10);
  EXPECT_EQ(report.last_time, 40);
  EXPECT_EQ(report.workers, 4);
  ASSERT_THAT(report.rounds, SizeIs(2));
  EXPECT_EQ(report.rounds[0].end, 21);
  EXPECT_EQ(report.rounds[1].ended_by, ReportRound::End::kFinished);
  ASSERT_THAT(report.interruptions, SizeIs(1));
  const ReportInterruption& one = report.interruptions[0];
  EXPECT_EQ(one.round, 1);
  EXPECT_EQ(one.time, 21);
  EXPECT_EQ(one.why, "rank 1 was killed");
  EXPECT_EQ(one.failure->rank, 1);
  EXPECT_EQ(one.incident->pause_s(), 4.5);
  EXPECT_EQ(one.next_round, 24);
  EXPECT_EQ(one.repeated_steps, 31 - 21 + 1);
  EXPECT_EQ(report.verdict->outcome, "succeeded");
  EXPECT_THAT(report.samples, SizeIs(4));
}

TEST_F(ReportBuilderTest, ResumeAfterTheLastStepRepeatsNone) {
  Add(1, 1, "assign");
  Steps(2, 1, 30, 30);
  Break(3, 1, 0);
  Add(4, 2, "assign");
  Steps(5, 2, 40, 41);
  const RunReport report = builder_.Take();
  ASSERT_THAT(report.interruptions, SizeIs(1));
  EXPECT_EQ(report.interruptions[0].repeated_steps, 0);
}

TEST_F(ReportBuilderTest, BlameReplacesTheCause) {
  Add(1, 1, "assign");
  Break(2, 1, 0);
  RecordedEvent blame = EventOf(3, 1, "blame", "h2 was lost");
  blame.failure = Killed(3, "h2");
  builder_.Add(blame);
  Add(4, 2, "assign");
  EXPECT_EQ(builder_.Take().interruptions[0].failure->rank, 3);
}

TEST_F(ReportBuilderTest, BlameOfADrainHasNoFailure) {
  Add(1, 1, "assign");
  Break(2, 1, 0);
  Add(3, 1, "blame", "h2 goes");
  Add(4, 2, "assign");
  const RunReport report = builder_.Take();
  EXPECT_FALSE(report.interruptions[0].failure.has_value());
  EXPECT_EQ(report.interruptions[0].why, "h2 goes");
}

TEST_F(ReportBuilderTest, CancelledJobHasNoInterruption) {
  Add(1, 1, "assign");
  Add(2, 1, "break", "round 1 is broken: cancelled: Ctrl-C");
  Add(3, 1, "finish", "cancelled: Ctrl-C");
  const RunReport report = builder_.Take();
  EXPECT_THAT(report.interruptions, IsEmpty());
  EXPECT_EQ(report.rounds[0].why, "cancelled: Ctrl-C");
}

TEST_F(ReportBuilderTest, FailedJobHasAnInterruptionWithoutANextRound) {
  Add(1, 1, "assign");
  Break(2, 1, 1);
  Add(3, 1, "finish", "rank 1 was killed");
  State(3, 1, Finished("failed", {Lost(1, 0)}));
  const RunReport report = builder_.Take();
  ASSERT_THAT(report.interruptions, SizeIs(1));
  EXPECT_EQ(report.interruptions[0].next_round, 0);
}

TEST_F(ReportBuilderTest, LogWithoutAnEndHasNoVerdict) {
  Add(1, 1, "assign");
  Steps(2, 1, 1, 1);
  const RunReport report = builder_.Take();
  EXPECT_FALSE(report.verdict.has_value());
  EXPECT_EQ(report.finish_reason, "");
  EXPECT_EQ(report.newest_phase, "running");
  EXPECT_EQ(report.rounds[0].ended_by, ReportRound::End::kUnknown);
}

TEST_F(ReportBuilderTest, RoundWhoseBeginningIsNotInTheLogIsKept) {
  Break(5, 7, 2);
  const RunReport report = builder_.Take();
  ASSERT_THAT(report.rounds, SizeIs(1));
  EXPECT_EQ(report.rounds[0].number, 7);
  EXPECT_EQ(report.rounds[0].cause->rank, 2);
}

TEST_F(ReportBuilderTest, NewRunOfTheSameNameReplacesTheEarlierOne) {
  Add(1, 1, "assign");
  Add(2, 1, "finish", "every worker succeeded");
  Add(3, 1, "leave");
  Add(10, 0, "join");
  Add(11, 1, "assign");
  EXPECT_EQ(builder_.earlier_runs(), 1);
  const RunReport report = builder_.Take();
  EXPECT_EQ(report.first_time, 10);
  EXPECT_THAT(report.rounds, SizeIs(1));
  EXPECT_EQ(report.finish_reason, "");
}

TEST_F(ReportBuilderTest, LateJoinOfALaterRoundIsNoNewRun) {
  Add(1, 1, "assign");
  Break(2, 1, 0);
  Add(3, 2, "assign");
  Add(4, 2, "finish", "every worker succeeded");
  Add(5, 2, "join");
  EXPECT_EQ(builder_.earlier_runs(), 0);
  EXPECT_THAT(builder_.Take().rounds, SizeIs(2));
}

TEST_F(ReportBuilderTest, NodesThatLeftKeepTheirTimes) {
  RecordedState state;
  state.nodes = {
      {.node_id = "a", .group_rank = 0, .first_rank = 0, .slots = 2},
      {.node_id = "b", .group_rank = 1, .first_rank = 2, .slots = 2}};
  (*state.nodes)[0].host = "ha";
  State(1, 1, state);
  state.nodes = {
      {.node_id = "b", .group_rank = 0, .first_rank = 0, .slots = 2}};
  State(2, 2, state);
  const RunReport report = builder_.Take();
  EXPECT_THAT(report.node_times,
              ElementsAre(Field(&RecordedNode::node_id, "b"),
                          Field(&RecordedNode::node_id, "a")));
  EXPECT_EQ(report.nodes, 1);
  EXPECT_EQ(HostOfRank(report, 5), "");
}

TEST_F(ReportBuilderTest, DecisionsAboutHealthAreListed) {
  const std::vector<std::string> kinds = {
      "unhealthy", "healthy", "fault", "suspect", "quarantine", "ban", "free"};
  for (const std::string& kind : kinds) Add(1, 1, kind, "b is " + kind);
  Add(2, 1, "assign");
  Add(3, 1, "straggler", "slow");
  const RunReport report = builder_.Take();
  ASSERT_THAT(report.health, SizeIs(kinds.size()));
  for (size_t i = 0; i < kinds.size(); ++i) {
    EXPECT_EQ(report.health[i].kind, kinds[i]);
    EXPECT_EQ(report.health[i].reason, "b is " + kinds[i]);
  }
  EXPECT_THAT(report.stragglers, SizeIs(1));
}

TEST_F(ReportBuilderTest, ListsAreBounded) {
  for (int i = 1; i <= 3000; ++i) {
    Add(i, i, "assign");
    Steps(i + 0.1, i, i, i);
    Break(i + 0.5, i, i);
    Add(i + 0.6, i, "straggler", "slow");
    Add(i + 0.6, i, "unhealthy", "bad");
    RecordedState state = Finished("", {Lost(i, 1)});
    state.verdict.reset();
    state.nodes.emplace();
    for (int node = 0; node < 4; ++node) {
      state.nodes->push_back({.node_id = std::to_string(4 * i + node)});
    }
    State(i + 0.7, i, state);
  }
  const RunReport report = builder_.Take();
  EXPECT_LE(report.rounds.size(), 5 * RunReport::kMaxRounds / 4);
  EXPECT_EQ(report.rounds.size() + report.rounds_dropped, 3000u);
  EXPECT_EQ(report.rounds.back().number, 3000);
  EXPECT_LE(report.notes.size(), 5 * RunReport::kMaxNotes / 4);
  EXPECT_LE(report.stragglers.size(), 5 * RunReport::kMaxNotes / 4);
  EXPECT_LE(report.health.size(), 5 * RunReport::kMaxNotes / 4);
  EXPECT_LE(report.samples.size(), RunReport::kMaxSamples);
  EXPECT_GE(report.samples.size(), RunReport::kMaxSamples / 2);
  EXPECT_EQ(report.samples.front().time, 1.1);
  EXPECT_EQ(report.node_times.size(), RunReport::kMaxNodes);
  EXPECT_THAT(WantedOutputs(report), SizeIs(kMaxWantedOutputs));
}

TEST_F(ReportBuilderTest, RanksThatFailedAreWanted) {
  Add(1, 1, "assign");
  Break(2, 1, 1);
  Add(3, 2, "assign");
  Break(4, 2, 3);
  Add(5, 3, "assign");
  const std::vector<WantedOutput> wanted = WantedOutputs(builder_.Take());
  ASSERT_THAT(wanted, SizeIs(2));
  EXPECT_EQ(wanted[0].round, 2);
  EXPECT_EQ(wanted[0].rank, 3);
  EXPECT_EQ(wanted[0].host, "h2");
  EXPECT_THAT(wanted[0].why, HasSubstr("ended round 2"));
}

TEST_F(ReportBuilderTest, WithoutAFailureTheFirstRanksAreWanted) {
  Add(1, 1, "assign");
  RecordedState state;
  state.world_size = 2;
  State(2, 1, state);
  EXPECT_THAT(WantedOutputs(builder_.Take()), SizeIs(2));
}

TEST_F(ReportBuilderTest, NoRankOfASuccessIsWanted) {
  Add(1, 1, "assign");
  Add(2, 1, "finish", "every worker succeeded");
  State(3, 1, Finished("succeeded", {}));
  EXPECT_THAT(WantedOutputs(builder_.Take()), IsEmpty());
}

}  // namespace
}  // namespace muster::launcher
