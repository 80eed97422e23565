#include "tests/simulation/sim_coordinator.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/state_names.h"

namespace muster::simulation {
namespace {

// Streams of strangers have numbers from here on; the network never reaches it.
constexpr rendezvous::StreamId kFirstImpostor = uint64_t{1} << 40;

const char* NameOf(rendezvous::DirectiveKind kind) {
  switch (kind) {
    case rendezvous::DirectiveKind::kWait:
      return "wait";
    case rendezvous::DirectiveKind::kStandBy:
      return "stand by";
    case rendezvous::DirectiveKind::kMoved:
      return "moved";
    case rendezvous::DirectiveKind::kHold:
      return "hold";
    case rendezvous::DirectiveKind::kRun:
      return "run";
    case rendezvous::DirectiveKind::kStop:
      return "stop";
    case rendezvous::DirectiveKind::kFinished:
      return "finished";
    case rendezvous::DirectiveKind::kReleased:
      return "released";
    case rendezvous::DirectiveKind::kRefused:
      return "refused";
  }
  return "?";
}

}  // namespace

void SimCoordinator::Receive(rendezvous::StreamId stream,
                             const rendezvous::Report& report) {
  if (!up_) return;
  const AgentName agent = agents_.at(stream);
  if (job_ == nullptr) {
    stage_->memories[epoch_] = epoch_;
    job_ = std::make_unique<rendezvous::Job>(report.run_id, epoch_, report.spec,
                                             stage_->queue.now(),
                                             absl::StrCat("tag", epoch_));
    stage_->Watch([&](Checker& c) { c.OnCoordinatorStarted(epoch_); });
  }
  stage_->Watch([&](Checker& c) { c.OnReport(agent, stream, report); });
  last_reports_[agent.slot] = report;
  Step(rendezvous::ReportArrived{stream, report,
                                 absl::StrCat("address of h", agent.slot)});
}

void SimCoordinator::Impersonate(int slot) {
  auto last = last_reports_.find(slot);
  if (!up_ || job_ == nullptr || last == last_reports_.end()) return;
  rendezvous::Report report = last->second;
  const rendezvous::JobStatus status = job_->Status(stage_->queue.now());
  const bool is_held =
      std::any_of(status.nodes.begin(), status.nodes.end(),
                  [&](const rendezvous::NodeStatus& node) {
                    return node.node.incarnation == report.node.incarnation;
                  });
  if (!is_held || job_->finished()) return;
  stage_->Note(absl::StrCat("a stranger names n", slot));
  ++stage_->census["impostor"];
  report.place_key = "guessed";
  report.sequence += 1000;
  report.phase = rendezvous::NodePhase::kIdle;
  // Every other stranger names the node, but not its incarnation.
  impostor_stream_ = kFirstImpostor + ++impostors_;
  const bool knows_incarnation = impostors_ % 2 == 0;
  if (!knows_incarnation) report.node.incarnation = impostor_stream_;
  Step(rendezvous::ReportArrived{impostor_stream_, report, "elsewhere"});
  if (job_ != nullptr && knows_incarnation && !impostor_was_refused_) {
    stage_->Fail("a stranger who names an incarnation is not refused");
  }
  if (job_ != nullptr) Step(rendezvous::StreamClosed{impostor_stream_});
  impostor_stream_ = 0;
  impostor_was_refused_ = false;
}

void SimCoordinator::Closed(rendezvous::StreamId stream) {
  auto found = agents_.find(stream);
  if (found == agents_.end()) return;
  const AgentName agent = found->second;
  agents_.erase(found);
  if (!up_ || job_ == nullptr) return;
  stage_->Watch([&](Checker& c) { c.OnStreamClosed(agent, stream); });
  Step(rendezvous::StreamClosed{stream});
}

void SimCoordinator::Drain(int slot) {
  if (!up_ || job_ == nullptr) return;
  stage_->Note(absl::StrCat("drain n", slot));
  stage_->Watch([&](Checker& c) { c.OnLeaveAsked(slot); });
  Step(rendezvous::DrainAsked{absl::StrCat("n", slot)});
}

void SimCoordinator::Crash() {
  stage_->Note("the coordinator crashes");
  ++stage_->census["coordinator restart"];
  stage_->Watch([](Checker& c) { c.OnCoordinatorCrashed(); });
  up_ = false;
  crash_at_.reset();
  job_.reset();
  agents_.clear();
  last_reports_.clear();
  armed_.reset();
  network_->CoordinatorDied();
}

void SimCoordinator::Restart() {
  if (up_) return;
  up_ = true;
  ++epoch_;
  if (!journal_.has_value()) {
    stage_->Note("the coordinator is back, without memory");
    return;
  }
  stage_->Note("the coordinator is back, with its journal");
  ++stage_->census["coordinator continued"];
  const Instant now = stage_->queue.now();
  stage_->memories[epoch_] = stage_->memories.at(epoch_ - 1);
  if (const absl::Status sound = rendezvous::CheckRecord(journal_->record);
      !sound.ok()) {
    stage_->Fail(std::string(sound.message()));
  }
  job_ = std::make_unique<rendezvous::Job>(rendezvous::StateOf(
      journal_->record, epoch_, now, now - journal_->written_at));
  stage_->Watch([](Checker& c) { c.OnCoordinatorContinued(); });
  Arm(job_->NextDeadline());
}

void SimCoordinator::CrashAtChange(Moment moment,
                                   std::function<void()> crashed) {
  crash_at_ = moment;
  crashed_ = std::move(crashed);
}

bool SimCoordinator::CrashesAt(Moment moment) {
  if (crash_at_ != moment || stage_->healed) return false;
  stage_->Note(moment == Moment::kBeforeWrite ? "before the record is written"
                                              : "before anybody is told");
  ++stage_->census["crash at a change"];
  Crash();
  std::exchange(crashed_, nullptr)();
  return true;
}

void SimCoordinator::Step(const rendezvous::JobEvent& event) {
  const Instant now = stage_->queue.now();
  rendezvous::JobStep step = job_->Step(now, event);
  const bool is_recorded = stage_->plan.journal && step.record_changed;
  if (is_recorded) {
    if (CrashesAt(Moment::kBeforeWrite)) return;
    journal_ = Kept{job_->Record(), now};
  }
  CoordinatorStepped stepped;
  stepped.epoch = stage_->memories.at(epoch_);
  stepped.status = job_->Status(now);
  stepped.decisions = step.decisions;
  stepped.next_deadline = job_->NextDeadline();
  for (const rendezvous::Decision& decision : step.decisions) {
    ++stage_->census[decision.kind];
    if (decision.kind == "finish") {
      ++stage_->census[absl::StrCat(
          "job ", rendezvous::OutcomeText(stepped.status.verdict->outcome))];
    }
    stage_->Note(absl::StrCat("C ", decision.kind, " [", decision.round, "] ",
                              decision.node_id, ": ", decision.reason));
  }
  for (const rendezvous::Delivery& delivery : step.deliveries) {
    auto found = agents_.find(delivery.stream);
    if (impostor_stream_ != 0 && delivery.stream == impostor_stream_) {
      const rendezvous::DirectiveKind kind = delivery.directive.kind;
      impostor_was_refused_ = kind == rendezvous::DirectiveKind::kRefused;
      if (kind == rendezvous::DirectiveKind::kRun) {
        stage_->Fail("a stranger who names a node gets its place");
      }
    }
    if (found == agents_.end()) continue;
    const rendezvous::Directive& directive = delivery.directive;
    stepped.sent.push_back({found->second, directive});
    ++stage_->census[NameOf(directive.kind)];
    if (directive.reason.find("sign of life") != std::string::npos) {
      ++stage_->census["in contention"];
    }
    stage_->Note(absl::StrCat("C > n", found->second.slot, " #",
                              delivery.stream, " r", directive.revision, " ",
                              NameOf(directive.kind), " ",
                              directive.kind == rendezvous::DirectiveKind::kRun
                                  ? directive.place.round
                                  : directive.stop.round));
  }
  stage_->Watch([&](Checker& c) { c.OnStep(stepped); });
  if (is_recorded && CrashesAt(Moment::kAfterWrite)) return;
  for (const rendezvous::Delivery& delivery : step.deliveries) {
    if (!agents_.contains(delivery.stream)) continue;
    network_->SendDown(delivery.stream, delivery.directive);
  }
  Arm(stepped.next_deadline);
}

void SimCoordinator::Arm(std::optional<Instant> deadline) {
  if (armed_ == deadline) return;
  armed_ = deadline;
  if (!deadline.has_value()) return;
  stage_->queue.At(*deadline, [this, when = *deadline, epoch = epoch_] {
    if (epoch != epoch_ || job_ == nullptr || armed_ != when) return;
    armed_.reset();
    Step(rendezvous::TimePassed());
  });
}

}  // namespace muster::simulation
