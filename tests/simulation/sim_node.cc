#include "tests/simulation/sim_node.h"

#include <algorithm>
#include <csignal>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

SimNode::SimNode(Stage* stage, Network* network, int slot, SimCoordinator* own)
    : stage_(stage), network_(network), slot_(slot), own_(own) {}

void SimNode::StartAgent() {
  if (alive()) return;
  const Plan& plan = stage_->plan;
  ++starts_;
  incarnation_ = static_cast<uint64_t>(slot_ + 1) * 1'000'000 + starts_;
  agent::Lifecycle::Config config;
  config.run_id = "sim";
  config.spec = plan.spec;
  config.endpoint = EndpointOf(FirstHost());
  if (plan.takeover) config.standby_endpoint = EndpointOf(slot_);
  config.policy.connect_timeout = plan.coordinator_timeout;
  config.policy.coordinator_timeout = plan.coordinator_timeout;
  config.policy.hangs = {agent::HangDetection::kGiven, plan.hang_timeout};
  config.policy.waits_for_place = plan.patient;
  if (plan.leaves_on_term) config.policy.signals_to_leave = {15};
  config.policy.signals_to_forward = {SIGUSR1};
  config.signals_to_preempt = {SIGUSR2};
  config.preempt_signal = plan.preempt_signal;
  if (plan.checked) config.health_interval = plan.check_interval;
  if (plan.spec.network_check != rendezvous::NetworkCheckTime::kNever) {
    config.check_port = 30000 + slot_;
    config.check_gpus = stage_->plan.check_gpus();
  }
  rendezvous::NodeIdentity& node = config.node;
  node.node_id = absl::StrCat("n", slot_);
  node.incarnation = incarnation_;
  config.place_key = absl::StrCat("key ", incarnation_);
  node.host = absl::StrCat("h", slot_);
  node.pid = static_cast<int64_t>(incarnation_);
  node.slots = plan.workers;
  if (plan.node_ranks) {
    const bool is_rival = plan.rival && slot_ == plan.slots - 1;
    node.node_rank = is_rival ? 0 : slot_;
  }
  stage_->Note(absl::StrCat("n", slot_, " starts, incarnation ", starts_));
  if (own_ != nullptr) own_->Begin();
  if (plan.etcd()) {
    clock_ = SimClock(
        stage_->queue.now(), Duration::zero(),
        stage_->takeover_random.Between(-plan.clock_ppm, plan.clock_ppm));
  }
  lifecycle_ = std::make_unique<agent::Lifecycle>(config, Now());
  models_.push_back(std::make_unique<WorkerModel>(
      stage_, name(),
      [this, of = incarnation_](const agent::LifecycleEvent& event) {
        if (of == incarnation_) Post(event);
      }));
  workers_ = models_.back().get();
  workers_->on_crash = on_crash;
  stream_ = 0;
  coming_up_.clear();
  talking_on_ = Up();
  answered_ = leader_ = FirstHost();
  standbys_.clear();
  knows_round_ = false;
  backoff_ = Duration::zero();
  paused_ = false;
  inbox_.clear();
  armed_.reset();
  stage_->Watch([&](Checker& c) { c.OnAgentStarted(name()); });
  Step(agent::PortHeld{20000 + slot_});
  held_nccl_id_ = NewNcclId();
  Step(agent::NcclIdReady{held_nccl_id_});
  Dial();
}

std::string SimNode::NewNcclId() {
  return absl::StrCat("n", slot_, " id ", ++nccl_ids_);
}

void SimNode::RenewNcclId() {
  held_nccl_id_ = NewNcclId();
  const uint64_t begun = incarnation_;
  stage_->queue.In(milliseconds(30), [this, begun, id = held_nccl_id_] {
    if (incarnation_ == begun && id == held_nccl_id_) {
      Post(agent::NcclIdReady{id});
    }
  });
}

// Simulates the --on-preempt command: it runs for a random time, or until it is
// stopped.
void SimNode::Announce() {
  ++stage_->census["announced"];
  const int announcement = ++announcement_;
  if (stage_->random.Chance(stage_->plan.slow_hook)) return;
  stage_->queue.In(stage_->random.Between(Duration::zero(), seconds(3)),
                   [this, announcement, of = incarnation_] {
                     if (incarnation_ != of || announcement_ != announcement) {
                       return;
                     }
                     Post(agent::PreemptionAnnounced());
                   });
}

void SimNode::CheckHealth(uint64_t check) {
  ++stage_->census["checked"];
  wanted_check_ = check;
  stage_->queue.In(
      stage_->random.Between(milliseconds(1), stage_->plan.max_check),
      [this, check, of = incarnation_] {
        if (incarnation_ != of || wanted_check_ != check) return;
        const bool unhealthy =
            !stage_->healed && stage_->random.Chance(stage_->plan.unhealthy);
        if (unhealthy) ++stage_->census["found unhealthy"];
        Post(agent::HealthChecked{check, unhealthy ? "a GPU is gone" : ""});
      });
}

void SimNode::MeasurePair(const agent::MeasurePair& action) {
  const Plan& plan = stage_->plan;
  ++stage_->census["measured"];
  const uint64_t wanted = ++wanted_measurement_;
  rendezvous::PairMeasurement measured{.epoch = action.epoch,
                                       .number = action.check.number,
                                       .round_trip_s = 0.001,
                                       .bytes_per_s = 1e9,
                                       .compute_s = 0.01};
  const std::string slow = absl::StrCat("h", plan.slow_slot);
  const bool is_slow = slot_ == plan.slow_slot || action.check.partner == slow;
  if (action.check.gpus > 0) {
    measured.gpu_kind = "8 x simulated";
    measured.gpu_bytes_per_s = 1e11;
    measured.gpu_compute_s = 0.02;
  }
  if (!stage_->healed) {
    if (is_slow && action.check.gpus > 0) {
      measured.gpu_bytes_per_s = 1e9;
    } else if (is_slow) {
      measured.bytes_per_s = 1e7;
    }
    if (stage_->random.Chance(plan.failed_measurement)) {
      measured.failure = "the connection broke";
    }
    if (stage_->random.Chance(plan.lost_measurement)) return;
  }
  stage_->queue.In(
      stage_->random.Between(milliseconds(1), plan.max_measurement),
      [this, wanted, measured, of = incarnation_] {
        if (incarnation_ != of || wanted_measurement_ != wanted) return;
        Post(agent::PairMeasured{measured});
      });
}

void SimNode::Dial() { DialFrom(answered_); }

void SimNode::DialFrom(int first) {
  attempt_ = KnownHosts();
  auto at = std::find(attempt_.begin(), attempt_.end(), first);
  if (at == attempt_.end()) at = attempt_.insert(attempt_.begin(), first);
  std::rotate(attempt_.begin(), at, attempt_.end());
  tried_ = 0;
  dialling_ = true;
  network_->Dial(name(), attempt_.front());
}

std::vector<int> SimNode::KnownHosts() const {
  const Plan& plan = stage_->plan;
  std::vector<int> hosts = {FirstHost()};
  // A user lists all daemons. They send no standbys.
  for (int i = 1; i < plan.daemons; ++i) hosts.push_back(plan.slots + i);
  if (!plan.takeover) return hosts;
  const auto add = [&hosts](int host) {
    if (std::find(hosts.begin(), hosts.end(), host) == hosts.end()) {
      hosts.push_back(host);
    }
  };
  add(leader_);
  for (int host : standbys_) add(host);
  add(answered_);
  return hosts;
}

void SimNode::Reconnect(const agent::Reconnect& reconnect) {
  // Without a stream there is nothing to end: the agent is already connecting
  // to a coordinator.
  if (stream_ == 0) return;
  stage_->Watch([&](Checker& c) { c.OnMovedOn(slot_); });
  network_->HangUp(std::exchange(stream_, 0));
  int first = answered_;
  if (!reconnect.endpoint.empty()) {
    first = HostOf(reconnect.endpoint);
  } else {
    const std::vector<int> hosts = KnownHosts();
    const auto at = std::find(hosts.begin(), hosts.end(), answered_);
    first = at + 1 == hosts.end() ? hosts.front() : *(at + 1);
  }
  const uint64_t redial = ++redials_;
  stage_->queue.In(reconnect.pause, [this, first, redial, of = incarnation_] {
    if (alive() && incarnation_ == of && redials_ == redial) DialFrom(first);
  });
}

// Tells this node's own coordinator (`own_`) which coordinator the node's agent
// follows after the event.
void SimNode::Follow(const agent::LifecycleEvent& event,
                     const agent::LifecycleStep& step) {
  using rendezvous::DirectiveKind;
  if (own_ == nullptr) return;
  if (std::holds_alternative<agent::LinkDown>(event) ||
      step.reconnect.has_value()) {
    own_->Follow(std::nullopt);
    return;
  }
  const auto* came = std::get_if<agent::DirectiveCame>(&event);
  if (came == nullptr || came->directive.kind == DirectiveKind::kStandBy ||
      came->directive.kind == DirectiveKind::kRefused ||
      talking_on_.stream == 0) {
    return;
  }
  own_->Follow(
      rendezvous::Standby::Leader{.endpoint = EndpointOf(talking_on_.host),
                                  .epoch = came->directive.epoch});
  own_->Learn(came->directive);
}

void SimNode::End() {
  workers_->Die();
  lifecycle_.reset();
  inbox_.clear();
  paused_ = false;
  stage_->Watch([&](Checker& c) { c.OnAgentEnded(name()); });
}

void SimNode::Kill(Network::Death how) {
  if (!alive()) return;
  stage_->Note(absl::StrCat(
      "n", slot_,
      how == Network::Death::kPower ? " loses its power" : " is killed"));
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot_); });
  ++stage_->census["agent killed"];
  last_leave_.reset();
  End();
  network_->AgentDied(std::exchange(stream_, 0), how);
  if (own_ != nullptr) own_->Die(how);
}

void SimNode::Pause() {
  if (!alive() || paused_) return;
  stage_->Note(absl::StrCat("n", slot_, " is paused"));
  ++stage_->census["agent paused"];
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot_); });
  stage_->Watch([&](Checker& c) { c.OnAgentPaused(name()); });
  paused_ = true;
  if (own_ != nullptr) own_->Pause();
}

void SimNode::Resume() {
  if (!alive() || !paused_) return;
  stage_->Note(absl::StrCat("n", slot_, " goes on"));
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot_); });
  stage_->Watch([&](Checker& c) { c.OnAgentResumed(name()); });
  paused_ = false;
  if (own_ != nullptr) own_->Resume();
  std::deque<agent::LifecycleEvent> inbox;
  inbox.swap(inbox_);
  const uint64_t resumed = incarnation_;
  // Like agent.cc, handle the workers' reports that arrived during the
  // suspension before all other events.
  agent::WorkersReported reported;
  for (const agent::LifecycleEvent& event : inbox) {
    if (const auto* one = std::get_if<agent::WorkersReported>(&event)) {
      reported.said.insert(reported.said.end(), one->said.begin(),
                           one->said.end());
    }
  }
  if (!reported.said.empty()) Step(reported);
  for (const agent::LifecycleEvent& event : inbox) {
    const bool told = std::holds_alternative<agent::WorkersReported>(event);
    if (!told && alive() && incarnation_ == resumed) Step(event);
  }
  if (alive() && incarnation_ == resumed) Step(agent::ClockTicked());
}

void SimNode::LoseGuardian() {
  if (!alive()) return;
  stage_->Note(absl::StrCat("n", slot_, " loses its guardian"));
  ++stage_->census["guardian died"];
  stage_->Watch([&](Checker& c) { c.OnTrouble(slot_); });
  workers_->Die();
  Post(agent::GuardianDied{"the guardian died"});
}

void SimNode::Catch(int signal) {
  if (!alive()) return;
  stage_->Note(absl::StrCat("n", slot_, " catches signal ", signal));
  Post(agent::SignalCaught{signal});
}

void SimNode::FailGpu() {
  if (!alive()) return;
  stage_->Note(absl::StrCat("a GPU of n", slot_, " fails"));
  ++stage_->census["GPU error"];
  Post(agent::NodeFaultSeen{.kind = rendezvous::FaultKind::kXid,
                            .text = "GPU 0: XID 79"});
}

void SimNode::Connected(rendezvous::StreamId stream) {
  stream_ = stream;
  dialling_ = false;
  backoff_ = Duration::zero();
  answered_ = attempt_.at(tried_);
  coming_up_.push_back({stream, answered_});
  const std::string address = absl::StrCat("10.0.0.", slot_ + 1);
  Post(agent::LinkUp{.own_address = address,
                     .addresses = {absl::StrCat("10.1.0.", slot_ + 1)},
                     .coordinator = EndpointOf(answered_)});
}

void SimNode::DialFailed() {
  if (++tried_ < attempt_.size()) {
    network_->Dial(name(), attempt_[tried_]);
    return;
  }
  dialling_ = false;
  const uint64_t dialled = incarnation_;
  backoff_ = std::clamp<Duration>(backoff_ * 2, milliseconds(50), seconds(1));
  stage_->queue.In(backoff_, [this, dialled] {
    if (alive() && incarnation_ == dialled && stream_ == 0) Dial();
  });
  Post(agent::LinkDown{absl::UnavailableError("refused")});
}

void SimNode::Came(rendezvous::StreamId stream,
                   const rendezvous::Directive& directive) {
  if (stream != stream_) return;
  Post(agent::DirectiveCame{directive});
}

void SimNode::Broken(rendezvous::StreamId stream) {
  if (stream != stream_) {
    if (dialling_) DialFailed();
    return;
  }
  stream_ = 0;
  Post(agent::LinkDown{absl::UnavailableError("reset")});
  if (alive()) Dial();
}

void SimNode::Post(const agent::LifecycleEvent& event) {
  if (!alive()) return;
  if (paused_) {
    inbox_.push_back(event);
  } else {
    Step(event);
  }
}

void SimNode::Step(const agent::LifecycleEvent& event) {
  if (const auto* came = std::get_if<agent::DirectiveCame>(&event)) {
    stage_->Watch([&](Checker& c) { c.OnDirective(name(), came->directive); });
    if (own_ == nullptr) {
      told_epoch_ = stage_->memories.at(came->directive.epoch);
    }
  }
  if (std::holds_alternative<agent::LinkUp>(event)) {
    talking_on_ = coming_up_.front();
    coming_up_.pop_front();
  }
  const agent::LifecycleStep step = lifecycle_->Step(Now(), event);
  stage_->Watch(
      [&](Checker& c) { c.OnAgentStepped(name(), step, NextDeadline()); });
  Follow(event, step);
  Perform(step);
}

void SimNode::Perform(const agent::LifecycleStep& step) {
  for (const std::string& notice : step.notices) {
    stage_->Note(absl::StrCat("n", slot_, " says: ", notice));
  }
  for (const auto& action : step.actions) {
    if (const auto* start = std::get_if<agent::StartWorkers>(&action)) {
      stage_->Note(absl::StrCat("n", slot_, " starts the workers of round ",
                                start->place.round));
      workers_->Start(own_ == nullptr ? told_epoch_ : start->place.epoch,
                      start->place);
      if (start->place.nccl_id == held_nccl_id_) RenewNcclId();
    } else if (std::holds_alternative<agent::RenewNcclId>(action)) {
      RenewNcclId();
    } else if (const auto* look = std::get_if<agent::LookAtWorkers>(&action)) {
      workers_->Look(*look);
    } else if (const auto* take = std::get_if<agent::TakeStacks>(&action)) {
      stage_->Note(absl::StrCat("n", slot_, " looks at worker ",
                                take->workers.front().local_rank));
      workers_->TakeStack(*take);
    } else if (std::holds_alternative<agent::AnnouncePreemption>(action)) {
      Announce();
    } else if (std::holds_alternative<agent::EndAnnouncement>(action)) {
      ++announcement_;
    } else if (const auto* check =
                   std::get_if<muster::agent::StartCheck>(&action)) {
      CheckHealth(check->check);
    } else if (std::holds_alternative<agent::DropCheck>(action)) {
      wanted_check_ = 0;
    } else if (const auto* pair = std::get_if<agent::MeasurePair>(&action)) {
      MeasurePair(*pair);
    } else if (std::holds_alternative<agent::DropMeasurement>(action)) {
      ++wanted_measurement_;
    } else if (const auto* close = std::get_if<agent::CloseStore>(&action)) {
      stage_->Note(
          absl::StrCat("n", slot_, " closes its store: ", close->reason));
    } else {
      const auto& signal = std::get<agent::SignalWorkers>(action);
      stage_->Note(absl::StrCat("n", slot_, " signals its workers ",
                                signal.signal,
                                signal.everything ? ", and everything" : ""));
      workers_->Signal(signal);
    }
  }
  if (step.report.has_value()) {
    const rendezvous::Report& report = *step.report;
    stage_->Note(absl::StrCat(
        "n", slot_, " > ", own_ == nullptr ? "C" : EndpointOf(talking_on_.host),
        " #", talking_on_.stream, " s", report.sequence, " seen ",
        report.seen_epoch, "/", report.seen_revision, " ",
        rendezvous::PhaseText(report.phase), " ", report.round,
        report.failures.empty()
            ? ""
            : absl::StrCat(", ", report.failures.size(), " failures"),
        report.leave.has_value() ? ", leaves" : "",
        report.preemption.has_value() ? ", preempted" : "",
        report.health == rendezvous::Health::kHealthy     ? ""
        : report.health == rendezvous::Health::kUnhealthy ? ", unhealthy"
                                                          : ", unchecked",
        report.cancel.has_value() ? ", cancels" : "",
        own_ == nullptr
            ? ""
            : absl::StrCat(
                  ", promised ", report.promised_epoch, " electorate ",
                  report.electorate.epoch, ": ", report.electorate.world.epoch,
                  "/", report.electorate.world.round, " ",
                  report.electorate.rank, "/", report.electorate.nodes)));
    knows_round_ = report.place.has_value() || report.electorate.nodes > 0;
    network_->SendUp(talking_on_.stream, report);
  }
  if (step.standbys.has_value()) {
    leader_ = answered_;
    standbys_.clear();
    for (const std::string& endpoint : *step.standbys) {
      standbys_.push_back(HostOf(endpoint));
    }
    if (own_ != nullptr) own_->SetStandbys(*step.standbys);
  }
  if (step.leave.has_value()) {
    last_leave_ = step.leave;
    if (workers_->alive()) {
      stage_->Fail(absl::StrCat("n", slot_, " leaves while workers are left"));
    }
    stage_->Note(absl::StrCat("n", slot_, " leaves with ",
                              step.leave->exit_code, ": ", step.leave->reason));
    stage_->Watch([&](Checker& c) { c.OnTrouble(slot_); });
    End();
    network_->HangUp(std::exchange(stream_, 0));
    if (own_ != nullptr) own_->AgentLeft();
    return;
  }
  if (step.reconnect.has_value()) Reconnect(*step.reconnect);
  Arm();
}

int SimNode::FirstHost() const {
  const Plan& plan = stage_->plan;
  return plan.etcd() ? plan.slots : plan.takeover ? 0 : kOutside;
}

std::optional<Instant> SimNode::NextDeadline() const {
  const std::optional<Instant> deadline = lifecycle_->NextDeadline();
  if (!deadline.has_value()) return deadline;
  return clock_.When(*deadline);
}

void SimNode::Arm() {
  const std::optional<Instant> deadline = NextDeadline();
  if (armed_ == deadline) return;
  armed_ = deadline;
  if (!deadline.has_value()) return;
  stage_->queue.At(*deadline, [this, when = *deadline, of = incarnation_] {
    if (!alive() || of != incarnation_ || armed_ != when) return;
    armed_.reset();
    Post(agent::ClockTicked());
  });
}

}  // namespace muster::simulation
