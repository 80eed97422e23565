#include "launcher/run_report/recorded_event.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "rendezvous/events/event_log.h"

namespace muster::launcher {
namespace {

using rendezvous::Activity;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::Pair;

constexpr double kTime = 1772373909.25;

rendezvous::JobStatus SomeJob() {
  rendezvous::JobStatus job;
  job.run_id = "a-job";
  job.round = 3;
  job.phase = rendezvous::JobPhase::kFinished;
  job.reason = "2 nodes";
  job.world_size = 4;
  job.restarts_used = 1;
  job.spec.max_restarts = 2;
  job.spec.command = "2 workers: t.py --api-key=k";
  job.age = std::chrono::seconds(60);
  for (const char* name : {"n1", "n2"}) {
    rendezvous::NodeStatus node;
    node.node.node_id = name;
    node.node.host = std::string(name) + ".example";
    node.node.slots = 2;
    node.group_rank = static_cast<int>(job.nodes.size());
    node.time.ledger[Activity::kProductive] = std::chrono::seconds(50);
    node.progress.push_back({.local_rank = 1,
                             .step = 7 + static_cast<int>(job.nodes.size()),
                             .loss = std::numeric_limits<double>::quiet_NaN(),
                             .tokens_per_s = 10});
    job.nodes.push_back(node);
  }
  job.time.spent_s[static_cast<size_t>(Activity::kProductive)] = 100;
  job.time.by_cause[0] = {.incidents = 1, .pause_s = 2.5};
  job.time.newest = {{.round = 2,
                      .cause = rendezvous::LossCause::kHang,
                      .host = "h",
                      .why = "hung",
                      .nodes = 2,
                      .lost_s = 5}};
  job.time.by_host = {{.host = "h"}};
  job.time.by_host[0].by_cause[1] = {.incidents = 1, .pause_s = 2.5};
  job.slow_ranks = {
      {.rank = 3, .host = "n2.example", .gpu = "5", .ratio = 1.5}};
  job.verdict = rendezvous::Verdict{
      .outcome = rendezvous::Outcome::kFailed, .exit_code = 3, .reason = "why"};
  job.verdict->time = job.time;
  return job;
}

TEST(RecordedEvent, StateIsReadAsItWasWritten) {
  const auto event = ParseEvent(
      rendezvous::StateLine(SomeJob(), rendezvous::StateDetail::kNodes, kTime));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->time, kTime);
  EXPECT_EQ(event->run_id, "a-job");
  EXPECT_EQ(event->round, 3);
  EXPECT_EQ(event->kind, "state");
  EXPECT_EQ(event->reason, "2 nodes");
  ASSERT_TRUE(event->state.has_value());
  const RecordedState& state = *event->state;
  EXPECT_EQ(state.phase, "finished");
  EXPECT_EQ(state.age_s, 60);
  EXPECT_EQ(state.world_size, 4);
  EXPECT_EQ(state.restarts_used, 1);
  EXPECT_EQ(state.max_restarts, 2);
  ASSERT_TRUE(state.progress.has_value());
  EXPECT_EQ(state.progress->ranks, 2);
  EXPECT_EQ(state.progress->least_step, 7);
  EXPECT_EQ(state.progress->max_step, 8);
  EXPECT_TRUE(std::isnan(*state.progress->loss));
  EXPECT_EQ(state.progress->tokens_per_s, 20);
  EXPECT_EQ(state.time.productive_s(), 100);
  EXPECT_EQ(state.time.by_cause[0].incidents, 1);
  EXPECT_EQ(state.time.by_cause[0].pause_s, 2.5);
  ASSERT_EQ(state.time.newest.size(), 1u);
  EXPECT_EQ(state.time.newest[0].round, 2);
  EXPECT_EQ(state.time.newest[0].cause, rendezvous::LossCause::kHang);
  EXPECT_EQ(state.time.newest[0].host, "h");
  EXPECT_EQ(state.time.newest[0].why, "hung");
  EXPECT_EQ(state.time.newest[0].pause_s(), 2.5);
  ASSERT_EQ(state.time.by_host.size(), 1u);
  EXPECT_EQ(state.time.by_host[0].host, "h");
  EXPECT_EQ(state.time.by_host[0].by_cause[1].incidents, 1);
  EXPECT_EQ(state.time.by_host[0].total().pause_s, 2.5);
  ASSERT_EQ(state.slow_ranks.size(), 1u);
  EXPECT_EQ(state.slow_ranks[0].rank, 3);
  EXPECT_EQ(state.slow_ranks[0].gpu, "5");
  EXPECT_EQ(state.slow_ranks[0].ratio, 1.5);
  ASSERT_TRUE(state.verdict.has_value());
  EXPECT_EQ(state.verdict->outcome, "failed");
  EXPECT_EQ(state.verdict->exit_code, 3);
  EXPECT_EQ(state.verdict->reason, "why");
  ASSERT_TRUE(state.nodes.has_value());
  ASSERT_EQ(state.nodes->size(), 2u);
  EXPECT_EQ((*state.nodes)[1].node_id, "n2");
  EXPECT_EQ((*state.nodes)[1].host, "n2.example");
  EXPECT_EQ((*state.nodes)[1].first_rank, 2);
  EXPECT_EQ((*state.nodes)[1].slots, 2);
  EXPECT_EQ(
      (*state.nodes)[1].spent_s[static_cast<size_t>(Activity::kProductive)],
      50);
  EXPECT_THAT(state.settings,
              testing::Contains(
                  Pair("command", "2 workers: t.py --api-key=[left out]")));
}

TEST(RecordedEvent, TimeOfTheVerdictCounts) {
  rendezvous::JobStatus job = SomeJob();
  job.verdict->time.spent_s[static_cast<size_t>(Activity::kProductive)] = 42;
  const auto event = ParseEvent(
      rendezvous::StateLine(job, rendezvous::StateDetail::kSummary, kTime));
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->state->time.productive_s(), 42);
}

TEST(RecordedEvent, StatesOfManyNodesAreBounded) {
  rendezvous::JobStatus job = SomeJob();
  job.nodes.resize(1000, job.nodes[0]);
  const std::string line =
      rendezvous::StateLine(job, rendezvous::StateDetail::kNodes, kTime);
  EXPECT_LT(line.size(), 100'000u);
  const auto event = ParseEvent(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->state->nodes->size(), rendezvous::kMaxStateNodes);
  EXPECT_EQ(event->state->nodes_omitted, 1000 - 128);
  EXPECT_LT(rendezvous::StateLine(job, rendezvous::StateDetail::kSummary, kTime)
                .size(),
            5000u);
}

TEST(RecordedEvent, FailureIsReadAsItWasWritten) {
  rendezvous::Decision decision{.kind = "break", .round = 2};
  decision.reason = "round 2 is broken";
  decision.failure.emplace();
  decision.failure->kind = rendezvous::FailureKind::kSignal;
  decision.failure->signal = 9;
  decision.failure->rank = 1;
  decision.failure->local_rank = 0;
  decision.failure->pid = 4242;
  decision.failure->host = "h";
  decision.failure->node_id = "n";
  decision.failure->unix_time = kTime;
  decision.failure->message = "killed";
  decision.failure->error_file = "/e";
  decision.failure->traceback = "Traceback\n  x\n";
  decision.failure->stderr_tail = {"one", "  two\xff"};
  decision.failure->stack = {"main"};
  const auto event =
      ParseEvent(rendezvous::DecisionJson("a-job", decision, kTime));
  ASSERT_TRUE(event.has_value() && event->failure.has_value());
  const rendezvous::Failure& failure = *event->failure;
  EXPECT_EQ(failure.kind, rendezvous::FailureKind::kSignal);
  EXPECT_EQ(failure.signal, 9);
  EXPECT_EQ(failure.rank, 1);
  EXPECT_EQ(failure.local_rank, 0);
  EXPECT_EQ(failure.pid, 4242);
  EXPECT_EQ(failure.host, "h");
  EXPECT_EQ(failure.node_id, "n");
  EXPECT_EQ(failure.unix_time, kTime);
  EXPECT_EQ(failure.message, "killed");
  EXPECT_EQ(failure.error_file, "/e");
  EXPECT_THAT(failure.traceback, HasSubstr("Traceback\n  x"));
  EXPECT_THAT(failure.stderr_tail, ElementsAre("one", "  two\xef\xbf\xbd"));
  EXPECT_THAT(failure.stack, ElementsAre("main"));
}

TEST(RecordedEvent, KindsOfFailuresAreReadAsTheyWereWritten) {
  for (int kind = 0; kind <= static_cast<int>(rendezvous::FailureKind::kHung);
       ++kind) {
    rendezvous::Decision decision{.kind = "failure"};
    decision.failure.emplace();
    decision.failure->kind = static_cast<rendezvous::FailureKind>(kind);
    const auto event =
        ParseEvent(rendezvous::DecisionJson("a-job", decision, kTime));
    ASSERT_TRUE(event.has_value() && event->failure.has_value()) << kind;
    EXPECT_EQ(event->failure->kind, decision.failure->kind) << kind;
  }
}

TEST(RecordedEvent, DecisionWithoutFailureHasNone) {
  const std::string line = rendezvous::DecisionJson(
      "a-job", {.kind = "join", .node_id = "n1", .reason = "n1 joins"}, kTime);
  EXPECT_THAT(line, Not(HasSubstr("failure")));
  const auto event = ParseEvent(line);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->node, "n1");
  EXPECT_FALSE(event->failure.has_value());
}

TEST(RecordedEvent, OtherTextIsNoEvent) {
  const std::string line =
      rendezvous::DecisionJson("a-job", {.kind = "join"}, kTime);
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("null"),
        line.substr(0, line.size() / 2), std::string(1 << 14, '['),
        std::string(R"({"time":"yesterday","kind":"join"})"),
        std::string(R"({"time":7,"kind":"join"})"),
        std::string(R"({"time":"2026-03-01T14:05:09.250Z","kind":""})"),
        line + std::string(kMaxEventLineBytes, ' ')}) {
    EXPECT_FALSE(ParseEvent(text).has_value()) << text.substr(0, 80);
  }
}

TEST(RecordedEvent, WrongTypesAndHugeNumbersCountAsAbsent) {
  const auto event = ParseEvent(
      R"({"time":"2026-03-01T14:05:09.250Z","run_id":3,"round":1e300,)"
      R"("kind":"state","node":[],"reason":{},"failure":[],"state":)"
      R"({"age_seconds":-1,"world_size":99999999999999999999,"nodes":[1,"x",)"
      R"({"slots":-3,"group_rank":9e99}],"time":[],"progress":)"
      R"({"least_step":18446744073709551615,"max_step":1e300,"loss":"inf",)"
      R"("tokens_per_s":-5},"slow_ranks":{},"verdict":7,"settings":[1]}})");
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->run_id, "");
  EXPECT_EQ(event->round, 0);
  EXPECT_FALSE(event->failure.has_value());
  ASSERT_TRUE(event->state.has_value());
  EXPECT_EQ(event->state->age_s, 0);
  EXPECT_EQ(event->state->world_size, 0);
  ASSERT_EQ(event->state->nodes->size(), 3u);
  EXPECT_EQ((*event->state->nodes)[2].slots, 0);
  EXPECT_EQ((*event->state->nodes)[2].group_rank, std::nullopt);
  EXPECT_EQ(event->state->progress->least_step, std::nullopt);
  EXPECT_EQ(event->state->progress->max_step, std::nullopt);
  EXPECT_TRUE(std::isinf(*event->state->progress->loss));
  EXPECT_EQ(event->state->progress->tokens_per_s, 0);
  EXPECT_FALSE(event->state->verdict.has_value());
  EXPECT_TRUE(event->state->settings.empty());
}

TEST(RecordedEvent, TextsAreBounded) {
  rendezvous::Decision decision{.kind = "break"};
  decision.reason = std::string(100'000, 'r');
  const auto event =
      ParseEvent(rendezvous::DecisionJson("a-job", decision, kTime));
  ASSERT_TRUE(event.has_value());
  EXPECT_LE(event->reason.size(), 2048u);
}

TEST(ParseIsoTime, ReadsWhatIsoTextWrites) {
  EXPECT_EQ(ParseIsoTime(rendezvous::IsoText(kTime)), kTime);
  EXPECT_EQ(ParseIsoTime("1970-01-01T00:00:00.000Z"), 0);
  for (const char* text :
       {"", "2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z",
        "2026-03-01T24:00:00.000Z", "2026-03-01 14:05:09.250Z",
        "2026-03-01T14:05:09.25Z", "2026-03-01T14:05:0x.250Z",
        "1969-03-01T14:05:09.250Z"}) {
    EXPECT_EQ(ParseIsoTime(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace muster::launcher
