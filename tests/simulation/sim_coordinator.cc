#include "tests/simulation/sim_coordinator.h"

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/state_names.h"

namespace muster::simulation {
namespace {

const char* NameOf(rendezvous::DirectiveKind kind) {
  switch (kind) {
    case rendezvous::DirectiveKind::kWait:
      return "wait";
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
    job_ = std::make_unique<rendezvous::Job>(report.run_id, epoch_, report.spec,
                                             stage_->queue.now(),
                                             absl::StrCat("tag", epoch_));
    stage_->Watch([&](Checker& c) { c.OnCoordinatorStarted(epoch_); });
  }
  stage_->Watch([&](Checker& c) { c.OnReport(agent, stream, report); });
  Step(rendezvous::ReportArrived{stream, report});
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
  job_.reset();
  agents_.clear();
  armed_.reset();
  network_->CoordinatorDied();
}

void SimCoordinator::Restart() {
  if (up_) return;
  stage_->Note("the coordinator is back, without memory");
  up_ = true;
  ++epoch_;
}

void SimCoordinator::Step(const rendezvous::JobEvent& event) {
  const Instant now = stage_->queue.now();
  rendezvous::JobStep step = job_->Step(now, event);
  CoordinatorStepped stepped;
  stepped.epoch = epoch_;
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
  for (const rendezvous::Delivery& delivery : step.deliveries) {
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
