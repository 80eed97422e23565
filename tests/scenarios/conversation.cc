#include "tests/scenarios/conversation.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/signal_names.h"

namespace muster {
namespace {

constexpr int kWorkers = 2;
constexpr uint64_t kEpoch = 1;
constexpr int kFirstPort = 40000;

std::string Words(const rendezvous::Report& report) {
  std::string words = rendezvous::PhaseText(report.phase);
  if (report.round > 0) absl::StrAppend(&words, ", round ", report.round);
  for (const rendezvous::Failure& failure : report.failures) {
    absl::StrAppend(&words, "; rank ", failure.rank,
                    failure.kind == rendezvous::FailureKind::kStoppedByUs
                        ? " was stopped"
                        : absl::StrCat(" failed: ", failure.message));
  }
  if (report.cancel.has_value()) {
    absl::StrAppend(&words, "; wants to end the job (",
                    rendezvous::SignalName(report.cancel->signal),
                    report.cancel->at_once ? ", at once)" : ")");
  }
  if (report.leave.has_value()) {
    absl::StrAppend(&words, "; wants to leave (", *report.leave, ")");
  }
  if (report.preemption.has_value()) {
    absl::StrAppend(&words, "; preempted (",
                    rendezvous::SignalName(report.preemption->signal), " at ",
                    report.preemption->host, ")");
  }
  if (report.health == rendezvous::Health::kUnchecked) {
    absl::StrAppend(&words, "; not checked yet");
  }
  if (report.health == rendezvous::Health::kUnhealthy) {
    absl::StrAppend(&words, "; unhealthy: ", report.unhealthy);
  }
  return words;
}

std::string Words(const rendezvous::Directive& directive) {
  switch (directive.kind) {
    case rendezvous::DirectiveKind::kWait:
      return absl::StrCat("wait: ", directive.reason);
    case rendezvous::DirectiveKind::kRun: {
      const rendezvous::Place& place = directive.place;
      return absl::StrCat(
          "run round ", place.round, " as node ", place.group_rank, " of ",
          place.group_world_size, ", ranks ", place.first_rank, "-",
          place.first_rank + kWorkers - 1, " of ", place.world_size,
          ", restart ", place.restart_count, ", master ", place.master_address,
          directive.preemption.has_value()
              ? absl::StrCat("; preempted, ",
                             ToSeconds(directive.preemption->left), " s left")
              : "");
    }
    case rendezvous::DirectiveKind::kStandBy:
      return "stand by";
    case rendezvous::DirectiveKind::kMoved:
      return "moved";
    case rendezvous::DirectiveKind::kHold:
      return absl::StrCat("hold: ", directive.reason);
    case rendezvous::DirectiveKind::kStop:
      return absl::StrCat("stop round ", directive.stop.round, " with ",
                          rendezvous::SignalName(directive.stop.signal),
                          ", grace ", ToSeconds(directive.stop.grace), " s");
    case rendezvous::DirectiveKind::kFinished:
      return absl::StrCat(
          "finished, exit code ", directive.verdict.exit_code, ": ",
          directive.verdict.reason,
          directive.acts_for_job &&
                  directive.verdict.outcome == rendezvous::Outcome::kPreempted
              ? " (acts for the job)"
              : "");
    case rendezvous::DirectiveKind::kReleased:
      return absl::StrCat("released: ", directive.reason);
    case rendezvous::DirectiveKind::kRefused:
      return absl::StrCat("refused: ", directive.reason);
  }
  return "?";
}

}  // namespace

Conversation::Conversation(const rendezvous::JobSpec& spec)
    : spec_(spec), job_("job", kEpoch, spec, now_) {}

void Conversation::Write(const std::string& line) {
  absl::StrAppendFormat(&transcript_, "%8.3f  %s\n",
                        ToSeconds(now_.time_since_epoch()), line);
}

void Conversation::Say(const std::string& what) {
  absl::StrAppend(&transcript_, "\n# ", what, "\n");
}

void Conversation::Start(const std::string& node) {
  agent::Lifecycle::Config config;
  config.run_id = "job";
  config.spec = spec_;
  config.endpoint = "coordinator:29400";
  config.node.node_id = node;
  config.node.host = node;
  config.node.address = node;
  config.node.incarnation = last_stream_ + 1;
  config.node.slots = kWorkers;
  config.signals_to_preempt = {SIGUSR1};
  if (checked_) config.health_interval = std::chrono::seconds(30);
  Agent& agent = agents_[node];
  agent.core = std::make_unique<agent::Lifecycle>(config, now_);
  agent.stream = ++last_stream_;
  by_stream_[agent.stream] = node;
  Step(node, agent::PortHeld{kFirstPort + static_cast<int>(agent.stream)});
  Step(node, agent::LinkUp{node});
  Settle();
}

void Conversation::Kill(const std::string& node) {
  const rendezvous::StreamId stream = agents_.at(node).stream;
  agents_.erase(node);
  by_stream_.erase(stream);
  StepJob(rendezvous::StreamClosed{stream});
  Settle();
}

void Conversation::WorkerExits(const std::string& node, int local_rank,
                               int code) {
  Agent& agent = agents_.at(node);
  agent.workers.erase(local_rank);
  std::optional<rendezvous::Failure> failure;
  if (code != 0) {
    failure.emplace();
    failure->exit_code = code;
    failure->local_rank = local_rank;
    failure->rank = agent.place.first_rank + local_rank;
    failure->pid = 1000 + failure->rank;
    failure->message = absl::StrCat("exit code ", code);
  }
  Step(node, agent::WorkerDown{.local_rank = local_rank, .failure = failure});
  if (agent.workers.empty()) Step(node, agent::WorkersGone());
  Settle();
}

void Conversation::WorkersSucceed(const std::string& node) {
  for (int i = 0; i < kWorkers; ++i) WorkerExits(node, i, 0);
}

void Conversation::Unhealthy(const std::string& node, const std::string& why) {
  checked_ = true;
  if (why.empty()) {
    unhealthy_.erase(node);
  } else {
    unhealthy_[node] = why;
  }
}

void Conversation::Signal(const std::string& node, int signal) {
  Step(node, agent::SignalCaught{signal});
  Settle();
}

void Conversation::Drain(const std::string& node) {
  StepJob(rendezvous::DrainAsked{node});
  Settle();
}

void Conversation::Wait(Duration duration) {
  const Instant end = now_ + duration;
  for (;;) {
    Instant next = end;
    next = std::min(next, job_.NextDeadline().value_or(end));
    for (const auto& [name, agent] : agents_) {
      next = std::min(next, agent.core->NextDeadline().value_or(end));
    }
    now_ = std::max(now_, next);
    if (now_ >= end) break;
    StepJob(rendezvous::TimePassed());
    for (const auto& [name, agent] : agents_) {
      to_agents_.emplace_back(name, agent::ClockTicked());
    }
    Settle();
  }
}

void Conversation::Settle() {
  while (!to_job_.empty() || !to_agents_.empty()) {
    if (!to_agents_.empty()) {
      const auto [node, event] = std::move(to_agents_.front());
      to_agents_.pop_front();
      if (agents_.contains(node)) Step(node, event);
    } else {
      const rendezvous::JobEvent event = std::move(to_job_.front());
      to_job_.pop_front();
      StepJob(event);
    }
  }
}

void Conversation::Step(const std::string& node,
                        const agent::LifecycleEvent& event) {
  Agent& agent = agents_.at(node);
  const agent::LifecycleStep step = agent.core->Step(now_, event);
  if (step.report.has_value()) {
    // If the agent repeats its last report (a keep-alive), do not write the
    // report to the transcript.
    const std::string words = Words(*step.report);
    if (words != agent.last_report) Write(absl::StrCat(node, " → ", words));
    agent.last_report = words;
    to_job_.emplace_back(rendezvous::ReportArrived{agent.stream, *step.report});
  }
  for (const auto& action : step.actions) {
    if (const auto* start = std::get_if<agent::StartWorkers>(&action)) {
      agent.place = start->place;
      for (int i = 0; i < kWorkers; ++i) {
        agent.workers.insert(i);
        to_agents_.emplace_back(node,
                                agent::WorkerUp{.local_rank = i, .pid = 1});
      }
    } else if (const auto* look = std::get_if<agent::LookAtWorkers>(&action)) {
      to_agents_.emplace_back(node, agent::WorkersSeen{.round = look->round});
    } else if (const auto* take = std::get_if<agent::TakeStacks>(&action)) {
      const int local_rank = take->workers.front().local_rank;
      Write(absl::StrCat(node, " looks at where rank ",
                         agent.place.first_rank + local_rank, " is"));
      to_agents_.emplace_back(
          node,
          agent::StackTaken{.round = take->round, .local_rank = local_rank});
    } else if (std::holds_alternative<agent::AnnouncePreemption>(action)) {
      Write(absl::StrCat(node, " tells its workers that they are preempted"));
      to_agents_.emplace_back(node, agent::PreemptionAnnounced());
    } else if (const auto* check = std::get_if<agent::StartCheck>(&action)) {
      const auto unhealthy = unhealthy_.find(node);
      const std::string why =
          unhealthy == unhealthy_.end() ? "" : unhealthy->second;
      Write(absl::StrCat(node, " is checked: ", why.empty() ? "healthy" : why));
      to_agents_.emplace_back(node, agent::HealthChecked{check->check, why});
    } else if (std::holds_alternative<agent::EndAnnouncement>(action) ||
               std::holds_alternative<agent::DropCheck>(action) ||
               std::holds_alternative<agent::DropMeasurement>(action)) {
      // Nothing is done for the actions EndAnnouncement, DropCheck and
      // DropMeasurement. They cancel an announcement, a health check or a
      // measurement that still runs, but in the scenarios each of these ends as
      // soon as it begins.
    } else if (const auto* pair = std::get_if<agent::MeasurePair>(&action)) {
      to_agents_.emplace_back(node,
                              agent::PairMeasured{{.epoch = pair->epoch,
                                                   .number = pair->check.number,
                                                   .round_trip_s = 0.001,
                                                   .bytes_per_s = 1e9,
                                                   .compute_s = 0.01}});
    } else if (std::holds_alternative<agent::CloseStore>(action)) {
      Write(absl::StrCat(node, " releases who waits in the round's store"));
    } else {
      StopWorkers(node, std::get<agent::SignalWorkers>(action).signal);
    }
  }
  if (step.leave.has_value()) {
    Write(absl::StrCat(node, " leaves with exit code ", step.leave->exit_code));
    const rendezvous::StreamId stream = agent.stream;
    agents_.erase(node);
    by_stream_.erase(stream);
    to_job_.emplace_back(rendezvous::StreamClosed{stream});
  }
}

// Stops all workers of `node` at once. In the scenarios every worker dies of
// the first signal.
void Conversation::StopWorkers(const std::string& node, int signal) {
  Agent& agent = agents_.at(node);
  if (agent.workers.empty()) return;
  for (int local_rank : std::exchange(agent.workers, {})) {
    rendezvous::Failure failure;
    failure.kind = rendezvous::FailureKind::kSignal;
    failure.signal = signal;
    failure.local_rank = local_rank;
    failure.rank = agent.place.first_rank + local_rank;
    failure.message =
        absl::StrCat("killed by ", rendezvous::SignalName(signal));
    to_agents_.emplace_back(
        node, agent::WorkerDown{.local_rank = local_rank, .failure = failure});
  }
  to_agents_.emplace_back(node, agent::WorkersGone());
}

void Conversation::StepJob(const rendezvous::JobEvent& event) {
  const rendezvous::JobStep step = job_.Step(now_, event);
  for (const rendezvous::Decision& decision : step.decisions) {
    Write(absl::StrCat("        [", decision.kind, "] ", decision.reason));
  }
  if (!step.refusal.empty()) {
    Write(absl::StrCat("        [refused] ", step.refusal));
  }
  for (const rendezvous::Delivery& delivery : step.deliveries) {
    const auto node = by_stream_.find(delivery.stream);
    if (node == by_stream_.end()) continue;
    Write(absl::StrCat("    ", node->second, " ← ", Words(delivery.directive)));
    to_agents_.emplace_back(node->second,
                            agent::DirectiveCame{delivery.directive});
  }
  // If the job reports faults of machines, a coordinator judges all machines
  // anew and passes the result to the job as the event HostsJudged. Here the
  // result is empty: in the scenarios the coordinator suspects no machine.
  if (!step.faults.empty()) StepJob(rendezvous::HostsJudged());
}

}  // namespace muster
