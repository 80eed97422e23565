#include "agent/lifecycle/lifecycle_fixture.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster::agent {
namespace {

rendezvous::Failure FailureOf(int local_rank, rendezvous::FailureKind kind) {
  rendezvous::Failure failure;
  failure.kind = kind;
  failure.rank = 2 + local_rank;
  failure.local_rank = local_rank;
  failure.exit_code = 3;
  failure.message = "exit code 3";
  return failure;
}

}  // namespace

Lifecycle::Config LifecycleFixture::QuickConfig() {
  Lifecycle::Config config;
  config.run_id = "train";
  config.node.node_id = "a";
  config.node.incarnation = 42;
  config.node.host = "a";
  config.node.slots = 2;
  config.spec.shutdown_timeout = std::chrono::seconds(10);
  config.spec.keep_alive_interval = std::chrono::seconds(1);
  config.endpoint = "head:29400";
  config.policy.connect_timeout = std::chrono::seconds(20);
  config.policy.coordinator_timeout = std::chrono::seconds(30);
  return config;
}

LifecycleFixture::LifecycleFixture(Lifecycle::Config config)
    : lifecycle_(std::move(config), now_) {}

LifecycleStep LifecycleFixture::Step(const LifecycleEvent& event) {
  last_step_ = lifecycle_.Step(now_, event);
  for (const auto& action : last_step_.actions) {
    if (const auto* start = std::get_if<StartWorkers>(&action)) {
      starts.push_back(start->place);
    } else if (const auto* close = std::get_if<CloseStore>(&action)) {
      closed_stores.push_back(close->reason);
    } else if (std::holds_alternative<RenewNcclId>(action)) {
      ++renewals;
    } else if (const auto* look = std::get_if<LookAtWorkers>(&action)) {
      looks.push_back(*look);
    } else if (const auto* take = std::get_if<TakeStacks>(&action)) {
      stacks_asked.push_back(*take);
    } else if (const auto* tell = std::get_if<AnnouncePreemption>(&action)) {
      announced.push_back(tell->notice);
    } else if (const auto* end = std::get_if<EndAnnouncement>(&action)) {
      announcements_ended.push_back(end->why);
    } else if (const auto* check = std::get_if<StartCheck>(&action)) {
      checks.push_back(check->check);
    } else if (std::holds_alternative<DropCheck>(action)) {
      ++checks_dropped;
    } else if (const auto* pair = std::get_if<MeasurePair>(&action)) {
      measurements.push_back(*pair);
    } else if (std::holds_alternative<DropMeasurement>(action)) {
      ++measurements_dropped;
    } else {
      const auto& signal = std::get<SignalWorkers>(action);
      if (signal.local_rank) {
        to_one.emplace_back(*signal.local_rank, signal.signal);
        continue;
      }
      signals.push_back(signal.signal);
      if (signal.everything) everything.push_back(signal.signal);
    }
  }
  if (last_step_.report.has_value()) reports.push_back(*last_step_.report);
  if (!last_step_.ends.empty()) ends.push_back(last_step_.ends);
  for (const std::string& line : last_step_.notices) notices.push_back(line);
  for (const std::string& line : last_step_.losses) losses.push_back(line);
  if (last_step_.leave.has_value()) leave = last_step_.leave;
  const bool looks_now = std::any_of(
      last_step_.actions.begin(), last_step_.actions.end(),
      [](const auto& a) { return std::holds_alternative<LookAtWorkers>(a); });
  if (looks_now && seen.has_value()) {
    WorkersSeen found = *seen;
    found.round = looks.back().round;
    Step(found);
  }
  return last_step_;
}

void LifecycleFixture::Wait(Duration duration) {
  const Instant end = now_ + duration;
  for (;;) {
    const std::optional<Instant> deadline = lifecycle_.NextDeadline();
    MUSTER_CHECK(!deadline.has_value() || *deadline > now_)
        << "a deadline that has passed";
    if (!deadline.has_value() || *deadline > end) break;
    now_ = *deadline;
    Step(ClockTicked());
  }
  now_ = end;
}

void LifecycleFixture::Connect() { Step(LinkUp{"10.0.0.1"}); }

void LifecycleFixture::Disconnect(absl::Status why) {
  Step(LinkDown{std::move(why)});
}

void LifecycleFixture::Tell(rendezvous::Directive directive) {
  directive.epoch = epoch_;
  directive.revision = ++revision_;
  Step(DirectiveCame{directive});
}

void LifecycleFixture::TellSame(rendezvous::Directive directive) {
  directive.epoch = epoch_;
  directive.revision = revision_;
  Step(DirectiveCame{directive});
}

void LifecycleFixture::TellRun(int round) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kRun);
  directive.place.round = round;
  directive.place.group_rank = 1;
  directive.place.group_world_size = 2;
  directive.place.first_rank = 2;
  directive.place.world_size = 4;
  directive.place.run_tag = "tag";
  directive.answered_report = reports.empty() ? 0 : reports.back().sequence;
  Tell(directive);
}

void LifecycleFixture::TellStop(int round, Duration grace) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kStop);
  directive.reason = "rank 0 on b: exit code 3";
  directive.stop = {.round = round, .signal = 15, .grace = grace};
  Tell(directive);
}

void LifecycleFixture::TellWait() {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kWait);
  directive.reason = "1 of 2 nodes here";
  Tell(directive);
}

void LifecycleFixture::TellFinished(int exit_code) {
  rendezvous::Directive directive =
      DirectiveOf(rendezvous::DirectiveKind::kFinished);
  directive.verdict.exit_code = exit_code;
  if (exit_code != 0) directive.verdict.outcome = rendezvous::Outcome::kFailed;
  directive.verdict.reason = "over";
  directive.stop.grace = std::chrono::seconds(10);
  Tell(directive);
}

void LifecycleFixture::Up(int local_rank) {
  Step(WorkerUp{local_rank, 100 + local_rank});
}

void LifecycleFixture::Down(int local_rank) {
  Step(WorkerDown{local_rank, {}});
}

void LifecycleFixture::Fails(int local_rank, rendezvous::FailureKind kind) {
  Step(WorkerDown{local_rank, FailureOf(local_rank, kind)});
}

void LifecycleFixture::FailsAfterRecording(int local_rank, Duration ago) {
  rendezvous::Failure failure =
      FailureOf(local_rank, rendezvous::FailureKind::kExitCode);
  failure.error_file = "error.json";
  Step(WorkerDown{
      .local_rank = local_rank, .failure = failure, .recorded_ago = ago});
}

void LifecycleFixture::FailsByItself(int local_rank) {
  Step(WorkerDown{
      .local_rank = local_rank,
      .failure = FailureOf(local_rank, rendezvous::FailureKind::kExitCode),
      .by_itself = true});
}

void LifecycleFixture::Says(int local_rank, const ProgressMessage& message) {
  ProgressMessage said = message;
  said.alive = true;
  Step(WorkersReported{{{local_rank, said}}});
}

void LifecycleFixture::AllDown() {
  Down(0);
  Down(1);
  Gone();
}

void LifecycleFixture::Run(int round) {
  Connect();
  TellRun(round);
  Up(0);
  Up(1);
}

void LifecycleFixture::Forget() {
  signals.clear();
  everything.clear();
  to_one.clear();
  renewals = 0;
  starts.clear();
  closed_stores.clear();
  looks.clear();
  stacks_asked.clear();
  announced.clear();
  announcements_ended.clear();
  checks.clear();
  checks_dropped = 0;
  measurements.clear();
  measurements_dropped = 0;
  losses.clear();
  reports.clear();
  ends.clear();
  notices.clear();
  leave.reset();
}

rendezvous::Directive DirectiveOf(rendezvous::DirectiveKind kind) {
  rendezvous::Directive directive;
  directive.kind = kind;
  return directive;
}

}  // namespace muster::agent
