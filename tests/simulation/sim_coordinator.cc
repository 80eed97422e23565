#include "tests/simulation/sim_coordinator.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "rendezvous/protocol/job_status.h"

namespace muster::simulation {
namespace {

using rendezvous::Standby;

// First stream number of strangers. The network never assigns so high a number.
constexpr rendezvous::StreamId kFirstImpostor = uint64_t{1} << 40;

// A coordinator may outlive the agent in its process. The process then ends
// when the job no longer needs the coordinator, or when the coordinator has had
// no stream for kAbandoned. Both are checked at intervals of kLook.
constexpr Duration kLook = std::chrono::milliseconds(100);
constexpr Duration kAbandoned = std::chrono::seconds(2);
constexpr int kTimesCounted = 3;  // how often Judge counts each machine fault
// The number of nodes that is passed to NodeMemory. It quarantines at most
// 1/kShare of this number at a time, which is two.
constexpr int kNodesForShare = 2 * rendezvous::NodeMemory::kShare;
constexpr Duration kAnnounceInterval = std::chrono::seconds(1);

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

// Returns the number of the newest round that began before the record was
// written.
int LastRound(const rendezvous::JobRecord& record) {
  return std::max(record.round, record.claimed_round);
}

}  // namespace

SimCoordinator* NewestOf(
    const std::vector<std::unique_ptr<SimCoordinator>>& coordinators) {
  if (coordinators.front()->host() == kOutside) {
    return coordinators.front().get();
  }
  // Compare first by whether the job is unfinished, and then by epoch. The
  // coordinator with the highest epoch may have lost most nodes and ended the
  // job for the others, while an older coordinator still runs the job.
  // Daemons with etcd are compared by epoch alone: an older one whose job is
  // unfinished has lost the leadership.
  const auto rank = [](const SimCoordinator& one) {
    const bool is_first = !one.job()->finished() && !one.shares_records();
    return std::pair(is_first, one.epoch());
  };
  SimCoordinator* newest = nullptr;
  for (const auto& one : coordinators) {
    if (one->job() == nullptr) continue;
    if (newest == nullptr || rank(*newest) < rank(*one)) newest = one.get();
  }
  return newest;
}

Network::Process SimCoordinator::process() const {
  using Process = Network::Process;
  if (up_) return paused_ ? Process::kSuspended : Process::kUp;
  return without_power_ ? Process::kWithoutPower : Process::kDown;
}

void SimCoordinator::Attach(rendezvous::StreamId stream, AgentName agent) {
  agents_[stream] = agent;
}

void SimCoordinator::StartJob(const rendezvous::Report& report) {
  stage_->memories[epoch_] = epoch_;
  stage_->newest_epoch = std::max(stage_->newest_epoch, epoch_);
  stage_->coordinating.insert(epoch_);
  began_ = epoch_;
  job_ = std::make_unique<rendezvous::Job>(
      report.run_id, epoch_, report.spec, Now(), absl::StrCat("tag", epoch_),
      stage_->plan.takeover ? EndpointOf(host_) : "");
  Tell([epoch = epoch_](Checker& c) { c.OnCoordinatorStarted(epoch); });
}

void SimCoordinator::Receive(rendezvous::StreamId stream,
                             const rendezvous::Report& report) {
  if (!up_) return;
  Post([this, stream, report] { Hear(stream, report); });
}

void SimCoordinator::Hear(rendezvous::StreamId stream,
                          const rendezvous::Report& report) {
  const auto found = agents_.find(stream);
  if (found == agents_.end()) return;
  const AgentName agent = found->second;
  if (standby_ != nullptr) {
    Perform(standby_->Hear(stage_->queue.now(), stream, report));
    return;
  }
  if (term_.has_value() && !term_->leads()) return;
  if (job_ == nullptr) StartJob(report);
  Tell([agent, stream, report](Checker& c) {
    c.OnReport(agent, stream, report);
  });
  last_reports_[agent.slot] = report;
  if (recalled_.has_value() && report.knows_round()) recalled_->verdict.reset();
  const bool is_own = agent.slot == host_;
  Step(rendezvous::ReportArrived{
      stream, report, is_own ? "" : absl::StrCat("address of h", agent.slot)});
}

void SimCoordinator::Impersonate(int slot) {
  auto last = last_reports_.find(slot);
  if (shares_records()) return;
  if (!up_ || paused_ || job_ == nullptr || last == last_reports_.end()) return;
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
  // A stranger is a simulated attacker that reports with the id of a node. Half
  // of the strangers know only this id. The other half also know the
  // incarnation with which the node's agent reports.
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
  Post([this, stream] {
    auto found = agents_.find(stream);
    if (found == agents_.end()) return;
    const AgentName agent = found->second;
    agents_.erase(found);
    if (standby_ != nullptr) standby_->Forget(stream);
    if (!up_ || job_ == nullptr) return;
    if (term_.has_value() && !term_->leads()) return;
    Tell([agent, stream](Checker& c) { c.OnStreamClosed(agent, stream); });
    Step(rendezvous::StreamClosed{stream});
  });
}

void SimCoordinator::Drain(int slot) {
  if (!up_ || paused_ || job_ == nullptr) return;
  stage_->Note(absl::StrCat("drain n", slot));
  stage_->Watch([&](Checker& c) { c.OnLeaveAsked(slot); });
  Step(rendezvous::DrainAsked{absl::StrCat("n", slot)});
}

void SimCoordinator::Crash() {
  stage_->Note("the coordinator crashes");
  ++stage_->census["coordinator restart"];
  CountCheckCutShort();
  stage_->WatchCoordinator(host_, [](Checker& c) { c.OnCoordinatorCrashed(); });
  up_ = false;
  crash_at_.reset();
  job_.reset();
  if (!journal_.has_value()) memory_ = rendezvous::NodeMemory();
  agents_.clear();
  last_reports_.clear();
  armed_.reset();
  network_->CoordinatorDied(host_, Network::Death::kProcess);
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
  stage_->WatchCoordinator(host_,
                           [](Checker& c) { c.OnCoordinatorContinued(); });
  Step(Judgement());
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

Instant SimCoordinator::Now() const {
  const Instant now = stage_->queue.now();
  return term_.has_value() ? term_->clock->Read(now) : now;
}

void SimCoordinator::Tell(std::function<void(Checker&)> tell) {
  if (!term_.has_value()) {
    stage_->WatchCoordinator(WatchedAs(), tell);
    return;
  }
  term_->etcd->Tell(
      term_->number, 0,
      [stage = stage_, host = WatchedAs(), tell = std::move(tell)] {
        stage->WatchCoordinator(host, tell);
      });
}

void SimCoordinator::Step(const rendezvous::JobEvent& event) {
  // As in DrivenJob: a process that was suspended may no longer be the leader.
  if (term_.has_value() && !term_->leads()) return;
  const Instant now = Now();
  rendezvous::JobStep step = job_->Step(now, event);
  FollowEpoch();
  while (!step.faults.empty() && !step.deposed) Judge(step);
  if (term_.has_value()) {
    CoordinatorStepped stepped = Describe(step);
    stepped.is_recorded = step.record_changed;
    Hold(step, std::move(stepped));
    Arm(job_->NextDeadline());
    return;
  }
  const bool is_recorded = stage_->plan.journal && step.record_changed;
  if (is_recorded && CrashesAt(Moment::kBeforeWrite)) return;
  const bool host_records =
      stage_->plan.host_journal && host_ == 0 && step.record_changed;
  if ((is_recorded || host_records) && !step.deposed) {
    journal_ = Kept{job_->Record(), now};
    learned_round_ = 0;
    learned_restarts_ = 0;
  }
  CoordinatorStepped stepped = Describe(step);
  stepped.is_recorded = is_recorded;
  if (!step.deposed) CheckRecalled(stepped.status);
  Count(epoch_, stepped);
  if (!step.deposed) stage_->WatchStep(host_, stepped);
  if (is_recorded && CrashesAt(Moment::kAfterWrite)) return;
  Send(step.deliveries);
  if (step.deposed) {
    const std::string name = host_ == kOutside ? "C" : EndpointOf(host_);
    stage_->Note(absl::StrCat(name, " is deposed"));
    ++stage_->census["deposed"];
    StopJob();
    StandBy(host_ == 0 ? Standby::Kind::kFormerFounder
                       : Standby::Kind::kSuccessor);
    if (agent_left_) Die(Network::Death::kProcess);
    return;
  }
  Arm(stepped.next_deadline);
}

CoordinatorStepped SimCoordinator::Describe(const rendezvous::JobStep& step) {
  CoordinatorStepped stepped;
  stepped.host = WatchedAs();
  stepped.epoch = stage_->memories.at(epoch_);
  stepped.status = job_->Status(Now());
  if (recalled_.has_value()) stepped.recalled_round = LastRound(*recalled_);
  stepped.decisions = step.decisions;
  stepped.next_deadline = job_->NextDeadline();
  if (term_.has_value() && stepped.next_deadline.has_value()) {
    stepped.next_deadline = term_->clock->When(*stepped.next_deadline);
  }
  const std::string name = host_ == kOutside ? "C" : EndpointOf(host_);
  for (const rendezvous::Decision& decision : step.decisions) {
    stage_->Note(absl::StrCat(name, " ", decision.kind, " [", decision.round,
                              "] ", decision.node_id, ": ", decision.reason));
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
    NoteSent(found->second.slot, delivery);
  }
  return stepped;
}

void SimCoordinator::Count(uint64_t epoch, const CoordinatorStepped& stepped) {
  for (const rendezvous::Decision& decision : stepped.decisions) {
    ++stage_->census[decision.kind];
    if (decision.kind != "finish") continue;
    ++stage_->census[absl::StrCat(
        "job ", rendezvous::OutcomeText(stepped.status.verdict->outcome))];
    stage_->NoteVerdict(epoch, *stepped.status.verdict);
  }
}

void SimCoordinator::Send(const Deliveries& deliveries) {
  for (const rendezvous::Delivery& delivery : deliveries) {
    if (!agents_.contains(delivery.stream)) continue;
    if (term_.has_value()) {
      stage_->Watch([&](Checker& c) { c.OnMayOrder(epoch_); });
    }
    network_->SendDown(delivery.stream, delivery.directive);
  }
}

void SimCoordinator::Hold(const rendezvous::JobStep& step,
                          CoordinatorStepped stepped) {
  if (step.record_changed) held_.CountChange();
  term_->etcd->Tell(term_->number, held_.changes(),
                    [this, epoch = epoch_, stepped = std::move(stepped)] {
                      Count(epoch, stepped);
                      stage_->WatchStep(kOutside, stepped);
                    });
  Deliveries deliveries = step.deliveries;
  if (!held_.Hold(deliveries)) Send(deliveries);
  Write();
}

void SimCoordinator::Write() {
  if (!held_.BeginWrite()) return;
  term_->put({.record = job_->Record(),
              .memory = memory_,
              .changes = held_.changes(),
              .began = began_});
}

void SimCoordinator::RecordIsDurable() {
  // The daemon's journal calls its jobs from a thread of its own, so the call
  // waits for the end of a suspension, too.
  const std::vector<Deliveries> held = held_.EndWrite();
  if (!term_->leads()) return;
  for (const Deliveries& deliveries : held) Send(deliveries);
  Write();
}

void SimCoordinator::Lead(Term term, std::optional<SimEtcd::Kept> kept,
                          Duration elapsed) {
  term_ = std::move(term);
  ++life_;
  up_ = true;
  epoch_ = term_->epoch;
  held_ = {};
  memory_ = kept.has_value() ? kept->memory : rendezvous::NodeMemory();
  ++stage_->census[kept.has_value() ? "leader continued" : "leader elected"];
  term_->etcd->Tell(
      term_->number, 0,
      [stage = stage_, epoch = epoch_, continues = kept.has_value()] {
        const uint64_t before = std::exchange(stage->served_epoch, epoch);
        const bool was_paused = std::exchange(stage->served_is_paused, false);
        if (before != 0 && !was_paused) {
          stage->WatchCoordinator(kOutside,
                                  [](Checker& c) { c.OnCoordinatorCrashed(); });
        }
        if (!continues) return;
        stage->WatchCoordinator(kOutside,
                                [](Checker& c) { c.OnCoordinatorContinued(); });
      });
  if (!kept.has_value()) return;
  began_ = kept->began;
  stage_->memories[epoch_] = began_;
  stage_->newest_epoch = std::max(stage_->newest_epoch, epoch_);
  if (const absl::Status sound = rendezvous::CheckRecord(kept->record);
      !sound.ok()) {
    stage_->Fail(std::string(sound.message()));
  }
  job_ = std::make_unique<rendezvous::Job>(
      rendezvous::StateOf(kept->record, epoch_, Now(), elapsed));
  Step(Judgement());
}

void SimCoordinator::EndTerm() {
  if (!up_) return;
  CountCheckCutShort();
  term_->etcd->Tell(term_->number, 0, [stage = stage_, epoch = epoch_] {
    if (stage->served_epoch != epoch) return;
    stage->served_epoch = 0;
    if (std::exchange(stage->served_is_paused, false)) return;
    stage->WatchCoordinator(kOutside,
                            [](Checker& c) { c.OnCoordinatorCrashed(); });
  });
  ++life_;
  up_ = paused_ = false;
  job_.reset();
  agents_.clear();
  last_reports_.clear();
  inbox_.clear();
  armed_.reset();
  network_->CoordinatorDied(host_, Network::Death::kProcess);
  term_.reset();
}

void SimCoordinator::FollowEpoch() {
  const uint64_t epoch = job_->epoch();
  if (epoch == epoch_) return;
  stage_->memories[epoch] = epoch;
  stage_->newest_epoch = std::max(stage_->newest_epoch, epoch);
  stage_->coordinating.erase(epoch_);
  stage_->coordinating.insert(epoch);
  epoch_ = epoch;
  // A timer that was set for the old epoch does nothing when it expires. So
  // note that no timer is set.
  armed_.reset();
}

void SimCoordinator::Judge(rendezvous::JobStep& step) {
  const Duration now = stage_->queue.now().time_since_epoch();
  // Each fault counts several times, so that machines are quarantined in the
  // short time of a simulation.
  for (const rendezvous::HostFault& fault : step.faults) {
    for (int i = 0; i < kTimesCounted; ++i) {
      rendezvous::HostFault one = fault;
      one.ordinal = 0;
      memory_.Record(now, kNodesForShare, one);
    }
  }
  int& most = stage_->census["machines in quarantine"];
  most = std::max(most, memory_.quarantined());
  rendezvous::JobStep judged = job_->Step(Now(), Judgement());
  const auto append = [](auto& to, auto& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
  };
  append(step.deliveries, judged.deliveries);
  append(step.decisions, judged.decisions);
  step.record_changed = step.record_changed || judged.record_changed;
  step.deposed = judged.deposed;
  step.faults = std::move(judged.faults);
}

rendezvous::HostsJudged SimCoordinator::Judgement() const {
  return {std::make_shared<rendezvous::HostView>(
      memory_.View(stage_->queue.now().time_since_epoch()))};
}

void SimCoordinator::NoteSent(int slot, const rendezvous::Delivery& delivery) {
  const rendezvous::Directive& directive = delivery.directive;
  const bool is_run = directive.kind == rendezvous::DirectiveKind::kRun;
  CheckReleased(agents_.at(delivery.stream), directive);
  stage_->Note(absl::StrCat(
      host_ == kOutside ? "C" : EndpointOf(host_), " > n", slot, " #",
      delivery.stream, " r", directive.revision, " ", NameOf(directive.kind),
      " ", is_run ? directive.place.round : directive.stop.round,
      host_ == kOutside
          ? ""
          : absl::StrCat(" epoch ", directive.epoch, " electorate ",
                         directive.electorate.world.epoch, "/",
                         directive.electorate.world.round, " ",
                         directive.electorate.rank, "/",
                         directive.electorate.nodes, " standbys ",
                         absl::StrJoin(directive.standbys, " "), " ",
                         is_run ? "" : directive.reason)));
}

void SimCoordinator::CheckReleased(AgentName agent,
                                   const rendezvous::Directive& directive) {
  const rendezvous::Handover::Released one = {
      .node_id = absl::StrCat("n", agent.slot),
      .incarnation = agent.incarnation};
  if (std::ranges::find(released_before_, one) == released_before_.end()) {
    return;
  }
  ++stage_->census["released agent comes to a successor"];
  if (directive.kind == rendezvous::DirectiveKind::kRun &&
      directive.place.epoch == directive.epoch) {
    stage_->Fail(absl::StrCat("n", agent.slot,
                              ", which was drained, gets a place from the "
                              "next coordinator"));
  }
}

void SimCoordinator::Arm(std::optional<Instant> deadline) {
  if (armed_ == deadline) return;
  armed_ = deadline;
  if (!deadline.has_value()) return;
  const Instant at =
      term_.has_value() ? term_->clock->When(*deadline) : *deadline;
  stage_->queue.At(at, [this, when = *deadline, epoch = epoch_] {
    Post([this, when, epoch] {
      if (epoch != epoch_ || job_ == nullptr || armed_ != when) return;
      armed_.reset();
      Step(rendezvous::TimePassed());
    });
  });
}

void SimCoordinator::Post(std::function<void()> event) {
  if (paused_) {
    inbox_.push_back(std::move(event));
  } else {
    event();
  }
}

void SimCoordinator::StandBy(Standby::Kind kind) {
  const Plan& plan = stage_->plan;
  Random& random = stage_->takeover_random;
  const Duration clock = stage_->queue.now().time_since_epoch() + plan.max_skew;
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(
          random.Between(clock - plan.max_skew, clock + plan.max_skew));
  uint64_t drawn = 0;
  do {
    drawn = random.Next() >> (64 - rendezvous::kDrawnEpochBits);
  } while (!stage_->drawn_epochs.insert(drawn).second);
  const uint64_t candidate = (static_cast<uint64_t>(milliseconds.count())
                              << rendezvous::kDrawnEpochBits) |
                             drawn;
  standby_ = std::make_unique<Standby>(kind, candidate);
  standby_->Follow(followed_);
  met_.clear();
  took_over_ = false;
}

void SimCoordinator::Begin() {
  // The coordinator may still run although the slot's last agent has ended. End
  // its process before the new agent starts.
  if (up_) {
    const bool is_done =
        job_ != nullptr && job_->finished() && !job_->OwesVerdict();
    if (is_done) ForgetRecord();
    Die(Network::Death::kProcess);
  }
  agent_left_ = false;
  ++life_;
  up_ = true;
  without_power_ = false;
  standbys_.clear();
  learned_epoch_ = 0;
  StandBy(may_found_(host_) ? Standby::Kind::kFounder
          : host_ == 0      ? Standby::Kind::kFormerFounder
                            : Standby::Kind::kSuccessor);
  AnnounceAgain(life_);
}

void SimCoordinator::StopJob() {
  if (job_ == nullptr) return;
  stage_->WatchCoordinator(host_, [](Checker& c) { c.OnCoordinatorCrashed(); });
  stage_->coordinating.erase(epoch_);
  job_.reset();
  recalled_.reset();
  last_reports_.clear();
  armed_.reset();
}

void SimCoordinator::CountCheckCutShort() {
  if (job_ == nullptr) return;
  const std::string reason = job_->Status(Now()).reason;
  if (reason.find("are checked by pairs") == std::string::npos) return;
  ++stage_->census["check cut short"];
}

void SimCoordinator::Die(Network::Death how) {
  if (!up_) return;
  if (job_ != nullptr) {
    stage_->Note(absl::StrCat("the coordinator c", host_, " is gone"));
    ++stage_->census["coordinating process ended"];
    CountCheckCutShort();
  }
  ++life_;
  up_ = false;
  paused_ = false;
  without_power_ = how == Network::Death::kPower;
  StopJob();
  memory_ = rendezvous::NodeMemory();
  standby_.reset();
  followed_.reset();
  agents_.clear();
  inbox_.clear();
  network_->CoordinatorDied(host_, how);
}

void SimCoordinator::Pause() {
  if (!up_ || paused_) return;
  paused_ = true;
  if (!term_.has_value()) {
    stage_->WatchCoordinator(host_,
                             [](Checker& c) { c.OnCoordinatorPaused(); });
    return;
  }
  term_->etcd->Tell(term_->number, 0, [stage = stage_, epoch = epoch_] {
    if (stage->served_epoch != epoch || stage->served_is_paused) return;
    stage->served_is_paused = true;
    stage->WatchCoordinator(kOutside,
                            [](Checker& c) { c.OnCoordinatorPaused(); });
  });
}

void SimCoordinator::Resume() {
  if (!paused_) return;
  paused_ = false;
  if (!term_.has_value()) {
    stage_->WatchCoordinator(host_,
                             [](Checker& c) { c.OnCoordinatorResumed(); });
  } else {
    term_->etcd->Tell(term_->number, 0, [stage = stage_, epoch = epoch_] {
      if (stage->served_epoch != epoch) return;
      if (!std::exchange(stage->served_is_paused, false)) return;
      stage->WatchCoordinator(kOutside,
                              [](Checker& c) { c.OnCoordinatorResumed(); });
    });
  }
  std::deque<std::function<void()>> inbox;
  inbox.swap(inbox_);
  const uint64_t resumed = life_;
  for (const auto& event : inbox) {
    if (life_ == resumed) event();
  }
}

void SimCoordinator::Follow(
    const std::optional<rendezvous::Standby::Leader>& leader) {
  followed_ = leader;
  if (leader.has_value() && leader->endpoint == EndpointOf(host_)) {
    followed_.reset();
  }
  if (standby_ != nullptr) standby_->Follow(followed_);
}

void SimCoordinator::Told(uint64_t epoch, const std::string& endpoint,
                          rendezvous::Backing backing) {
  if (!up_) return;
  Post([this, epoch, endpoint, backing] {
    if (followed_.has_value() && followed_->endpoint == endpoint) return;
    if (job_ != nullptr) Step(rendezvous::CoordinatorTold{epoch, backing});
    // Pass the announcement to the standby in this process. The process may
    // have become a standby only now, because the announcement has ended this
    // coordinator's job.
    if (standby_ != nullptr) {
      Perform(standby_->Told(stage_->queue.now(), epoch, endpoint, backing));
    }
  });
}

void SimCoordinator::Asked(
    const std::function<void(uint64_t epoch, const std::string&)>& tell) {
  if (!up_) return;
  Post([this, tell] {
    if (Announces()) {
      tell(epoch_, EndpointOf(host_));
    } else if (standby_ != nullptr) {
      const auto leader = standby_->Known(stage_->queue.now());
      if (leader.has_value()) tell(leader->epoch, leader->endpoint);
    }
  });
}

void SimCoordinator::Perform(const rendezvous::Standby::Step& step) {
  for (const rendezvous::Delivery& delivery : step.deliveries) {
    const auto found = agents_.find(delivery.stream);
    if (found == agents_.end()) continue;
    ++stage_->census[NameOf(delivery.directive.kind)];
    NoteSent(found->second.slot, delivery);
    network_->SendDown(delivery.stream, delivery.directive);
  }
  if (step.elected.has_value()) TakeOver(*step.elected);
}

void SimCoordinator::TakeOver(uint64_t epoch) {
  const std::map<rendezvous::StreamId, rendezvous::Report> reports =
      standby_->reports();
  const auto replayed = standby_->Replay();
  const std::optional<rendezvous::Handover> handover = standby_->handover();
  took_over_ = std::ranges::any_of(
      reports, [](const auto& one) { return one.second.promised_epoch > 0; });
  standby_.reset();
  epoch_ = epoch;
  if (took_over_) stage_->NoteTakeover();
  stage_->Note(absl::StrCat(EndpointOf(host_), " coordinates with epoch ",
                            epoch, " and ", reports.size(), " nodes"));
  ++stage_->census[stage_->newest_epoch == 0 ? "founded" : "elected"];
  StartJob(reports.begin()->second);
  released_before_.clear();
  if (handover.has_value()) {
    released_before_ = handover->released;
    job_->Inherit(*handover);
  }
  if (std::ranges::none_of(
          reports, [](const auto& one) { return one.second.knows_round(); })) {
    Recall();
  }
  const uint64_t life = life_;
  const rendezvous::Job* const job = job_.get();
  for (const auto& [stream, report] : replayed) {
    if (life_ == life && job_.get() == job) {
      Hear(stream, report);
    }
  }
}

void SimCoordinator::Recall() {
  recalled_.reset();
  if (!journal_.has_value()) return;
  recalled_ = journal_->record;
  if (LastRound(*recalled_) < learned_round_ ||
      recalled_->restarts_used < learned_restarts_) {
    stage_->Fail(absl::StrCat("the record knows round ", LastRound(*recalled_),
                              " and ", recalled_->restarts_used,
                              " restarts, not round ", learned_round_, " and ",
                              learned_restarts_, " restarts"));
  }
  if (const absl::Status sound = rendezvous::CheckRecord(*recalled_);
      !sound.ok()) {
    stage_->Fail(std::string(sound.message()));
  }
  job_->Recall(*recalled_, stage_->queue.now() - journal_->written_at);
  const bool is_over = rendezvous::IsEnding(*recalled_);
  stage_->Note(absl::StrCat("c", host_, " recalls round ",
                            LastRound(*recalled_),
                            is_over ? ", the last one" : ""));
  ++stage_->census["recalled"];
  if (is_over) ++stage_->census["verdict recalled"];
}

void SimCoordinator::CheckRecalled(const rendezvous::JobStatus& status) {
  if (!recalled_.has_value()) return;
  const std::optional<rendezvous::Verdict>& verdict = recalled_->verdict;
  const bool is_over = verdict.has_value() &&
                       verdict->outcome != rendezvous::Outcome::kPreempted &&
                       verdict->outcome != rendezvous::Outcome::kTimedOut;
  if (is_over) {
    if (status.round > 0) stage_->Fail("a job begins a round after its end");
    if (status.verdict.has_value() &&
        (status.verdict->outcome != verdict->outcome ||
         status.verdict->exit_code != verdict->exit_code)) {
      stage_->Fail("a recorded verdict has changed");
    }
  }
  if (status.round > 0 && status.round <= LastRound(*recalled_)) {
    stage_->Fail(absl::StrCat("round ", status.round, " begins after round ",
                              LastRound(*recalled_)));
  }
  if (status.restarts_used < recalled_->restarts_used) {
    stage_->Fail(absl::StrCat(status.restarts_used, " restarts used after ",
                              recalled_->restarts_used));
  }
}

void SimCoordinator::ForgetRecord() {
  const std::optional<rendezvous::Verdict> verdict = job_->Record().verdict;
  const bool goes_on =
      verdict.has_value() && verdict->outcome == rendezvous::Outcome::kTimedOut;
  if (!goes_on) journal_.reset();
}

void SimCoordinator::Learn(const rendezvous::Directive& directive) {
  if (standby_ == nullptr || directive.epoch < learned_epoch_) return;
  learned_epoch_ = directive.epoch;
  standby_->Learn(directive);
  if (directive.kind == rendezvous::DirectiveKind::kFinished &&
      directive.verdict.outcome != rendezvous::Outcome::kTimedOut) {
    journal_.reset();
  }
  if (!journal_.has_value()) return;
  if (directive.kind == rendezvous::DirectiveKind::kRun) {
    learned_round_ = std::max(learned_round_, directive.place.round);
  }
  learned_restarts_ =
      std::max(learned_restarts_, directive.restarts_used.value_or(0));
  const Instant now = stage_->queue.now();
  if (!rendezvous::LearnFrom(directive, now - journal_->written_at,
                             journal_->record)) {
    return;
  }
  journal_->written_at = now;
  ++stage_->census["learned for the record"];
}

bool SimCoordinator::Announces() const {
  return job_ != nullptr && took_over_ && job_->MayAnnounce();
}

void SimCoordinator::AnnounceAgain(uint64_t life) {
  stage_->queue.In(kAnnounceInterval, [this, life] {
    Post([this, life] {
      if (life_ != life) return;
      AnnounceNow();
      AnnounceAgain(life);
    });
  });
}

void SimCoordinator::AnnounceNow() {
  const std::vector<std::string>& standbys =
      job_ != nullptr ? job_->standbys() : standbys_;
  std::set<std::string> others = {EndpointOf(0)};
  others.insert(standbys.begin(), standbys.end());
  if (standby_ != nullptr) others.insert(met_.begin(), met_.end());
  others.erase(EndpointOf(host_));
  const int assembled =
      standby_ == nullptr ? 0 : standby_->Assembled(stage_->queue.now());
  for (const std::string& other : others) {
    if (assembled > 0) {
      exchange_.meet(other, {.endpoint = EndpointOf(host_),
                             .nodes = assembled,
                             .promised = standby_->HighestPromise()});
    }
    if (Announces()) exchange_.tell(host_, other, epoch_);
    if (job_ != nullptr && job_->MayAsk()) exchange_.ask(host_, other, epoch_);
  }
}

void SimCoordinator::Meet(const Assembly& other) {
  if (!up_) return;
  Post([this, other] {
    if (job_ != nullptr) {
      Step(rendezvous::CoordinatorTold{other.promised,
                                       rendezvous::Backing::kPromise});
    }
    if (standby_ == nullptr) return;
    if (met_.size() < rendezvous::kMaxStandbys) met_.insert(other.endpoint);
    const Standby::Step step =
        standby_->Meet(stage_->queue.now(), other, EndpointOf(host_));
    if (!step.deliveries.empty()) ++stage_->census["assembly moved"];
    Perform(step);
  });
}

void SimCoordinator::AgentLeft() {
  if (!up_) return;
  agent_left_ = true;
  attended_ = stage_->queue.now();
  if (job_ == nullptr) {
    Die(Network::Death::kProcess);
  } else {
    CloseWhenDeserted(life_);
  }
}

void SimCoordinator::CloseWhenDeserted(uint64_t life) {
  stage_->queue.In(kLook, [this, life] {
    if (life_ != life || !agent_left_) return;
    const Instant now = stage_->queue.now();
    if (!agents_.empty()) attended_ = now;
    const bool is_done =
        job_ != nullptr && job_->finished() && !job_->OwesVerdict();
    if (agents_.empty() && (is_done || now >= attended_ + kAbandoned)) {
      if (is_done) ForgetRecord();
      Die(Network::Death::kProcess);
    } else {
      CloseWhenDeserted(life);
    }
  });
}

}  // namespace muster::simulation
