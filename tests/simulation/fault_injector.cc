#include "tests/simulation/fault_injector.h"

#include <algorithm>
#include <csignal>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kInterval = milliseconds(200);
// Time from the break of a node's stream until a stranger reports with this
// node's id.
constexpr Duration kImpostorComes = milliseconds(40);

// Probabilities, per mille, in plans in which coordinators are killed.
// kKillInNewRound: the coordinator is killed when a round begins. kIsCalm:
// after that, no agent is started and no other fault happens for kCalm, so that
// the nodes that are left must elect a coordinator (TakeoverTimeChecker). This
// happens only in plans in which agents wait that long for a coordinator.
// kStaysAway: an ended agent is not started again before the faults end.
constexpr int kKillInNewRound = 150;
constexpr int kIsCalm = 600;
constexpr Duration kCalm = seconds(75);
// kDrainBeforeKill: an operator drains a node that does not host the
// coordinator. At most kDrained later, the coordinator is killed, so that the
// next coordinator must know of the drain.
constexpr int kStaysAway = 200;
constexpr int kDrainBeforeKill = 200;
constexpr Duration kDrained = milliseconds(300);
// Time within which most nodes of a new round begin the round.
constexpr Duration kRoundBegins = milliseconds(20);

// Calls a function whenever the coordinator has ordered a round to begin. The
// function gets the slot of the node that hosts the coordinator.
class RoundWatch : public Checker {
 public:
  RoundWatch(const Plan& plan, std::function<void(int)> began)
      : Checker(plan, "new rounds"), began_(std::move(began)) {}

  void OnStep(const CoordinatorStepped& step) override {
    const bool has_begun = std::ranges::any_of(
        step.decisions, [](const rendezvous::Decision& decision) {
          return decision.kind == "assign";
        });
    if (has_begun) began_(step.host);
  }

 private:
  const std::function<void(int)> began_;
};

}  // namespace

std::unique_ptr<Checker> FaultInjector::NewRoundWatch() {
  return std::make_unique<RoundWatch>(stage_->plan,
                                      [this](int host) { RoundBegan(host); });
}

void FaultInjector::Begin() {
  stage_->queue.In(kInterval, [this] { Tick(); });
}

void FaultInjector::Tick() {
  if (stage_->healed) return;
  Random& random = stage_->random;
  const Plan& plan = stage_->plan;
  if (stage_->queue.now() < calm_until_) {
    stage_->queue.In(kInterval, [this] { Tick(); });
    return;
  }
  for (const auto& node : *nodes_) {
    if (node->alive()) {
      TroubleNetwork(*node);
      TroubleNode(*node);
    } else {
      Revive(*node);
    }
  }
  if (random.Chance(plan.clog)) ClogSome();
  if (random.Chance(plan.coordinator_restart)) RestartCoordinator();
  if (plan.takeover) TroubleTakeover();
  if (plan.etcd()) TroubleDaemons();
  stage_->queue.In(kInterval, [this] { Tick(); });
}

void FaultInjector::TroubleNetwork(SimNode& node) {
  Random& random = stage_->random;
  const Plan& plan = stage_->plan;
  const int slot = node.slot();
  if (random.Chance(plan.break_stream) && node.stream() != 0) {
    stage_->Note(absl::StrCat("the stream of n", slot, " breaks"));
    ++stage_->census["stream broken"];
    network_->Break(node.stream());
    // After the break, a stranger reports twice with this node's id. The two
    // moments are fixed: an additional random draw would change all later draws
    // of the seed.
    for (Duration after : {kImpostorComes, 3 * kImpostorComes}) {
      stage_->queue.In(after, [this, slot] {
        SimCoordinator* newest = NewestOf(*coordinators_);
        if (!stage_->healed && newest != nullptr) newest->Impersonate(slot);
      });
    }
  }
  if (random.Chance(plan.cut)) {
    const Duration duration = random.Between(milliseconds(200), seconds(15));
    const int which = random.Below(3);
    stage_->Note(absl::StrCat("n", slot, " is cut off (", which, ") for ",
                              ToSeconds(duration), " s"));
    ++stage_->census["cut off"];
    using Direction = Network::Direction;
    if (which != 0) network_->Cut(slot, Direction::kUp, duration);
    if (which != 1) network_->Cut(slot, Direction::kDown, duration);
    stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
  }
}

void FaultInjector::TroubleNode(SimNode& node) {
  Random& random = stage_->random;
  const Plan& plan = stage_->plan;
  if (random.Chance(plan.worker_crash)) node.workers()->CrashOne();
  if (random.Chance(plan.hang)) node.workers()->HangOne();
  if (node.alive() && random.Chance(plan.pause) && !node.paused()) {
    Pause(node, random.Between(milliseconds(100), seconds(15)));
  }
  if (node.alive() && random.Chance(plan.guardian_death)) node.LoseGuardian();
  // Plans without GPU errors draw no number for them, so that their other
  // faults remain the same.
  if (plan.gpu_error > 0 && random.Chance(plan.gpu_error)) node.FailGpu();
  if (random.Chance(plan.signal)) node.Catch(SIGUSR1);
  if (random.Chance(plan.leave)) {
    stage_->Watch([&](Checker& c) { c.OnLeaveAsked(node.slot()); });
    node.Catch(SIGTERM);
    if (random.Chance(200)) node.Catch(SIGTERM);
  }
  if (random.Chance(plan.drain)) {
    SimCoordinator* newest = NewestOf(*coordinators_);
    if (newest != nullptr) newest->Drain(node.slot());
  }
  if (random.Chance(plan.preempt)) Preempt(node);
  if (random.Chance(plan.ctrl_c)) CtrlC(node);
  if (node.alive() && random.Chance(plan.kill)) {
    Kill(node, random.Chance(plan.power_loss) ? Network::Death::kPower
                                              : Network::Death::kProcess);
  }
}

void FaultInjector::Pause(SimNode& node, Duration duration) {
  node.Pause();
  stage_->queue.In(duration, [&node, of = node.name().incarnation] {
    if (node.name().incarnation == of) node.Resume();
  });
}

void FaultInjector::Kill(SimNode& node, Network::Death how) {
  const SimCoordinator* newest = NewestOf(*coordinators_);
  if (newest != nullptr && newest->host() == node.slot() &&
      newest->job()->finished()) {
    return;
  }
  const bool had_workers = node.workers()->alive();
  node.Kill(how);
  // When workers are killed, their connections to workers of other nodes break
  // before any agent knows of the kill. So some of those other workers may
  // crash soon (Spread).
  if (had_workers) Spread(*node.workers());
}

SimNode* FaultInjector::CoordinatingNode() const {
  const SimCoordinator* newest = NewestOf(*coordinators_);
  if (newest == nullptr || newest->job()->finished()) return nullptr;
  SimNode* node = (*nodes_)[newest->host()].get();
  return node->alive() ? node : nullptr;
}

void FaultInjector::TroubleTakeover() {
  Random& random = stage_->takeover_random;
  const Plan& plan = stage_->plan;
  for (const auto& node : *nodes_) {
    if (!network_->IsTroubled(node->slot())) continue;
    stage_->Watch([&](Checker& c) { c.OnTrouble(node->slot()); });
  }
  SimNode* node = CoordinatingNode();
  if (node != nullptr && random.Chance(plan.kill_coordinator)) {
    ++stage_->census["coordinator killed"];
    const Network::Death how =
        random.Chance(300) ? Network::Death::kPower : Network::Death::kProcess;
    const int drained = random.Below(static_cast<int>(nodes_->size()));
    if (random.Chance(kDrainBeforeKill) && drained != node->slot()) {
      NewestOf(*coordinators_)->Drain(drained);
      stage_->queue.In(random.Between(Duration::zero(), kDrained), [this, how] {
        SimNode* host = CoordinatingNode();
        if (!stage_->healed && host != nullptr) {
          Kill(*host, how);
        }
      });
    } else {
      Kill(*node, how);
    }
    return;
  }
  if (node != nullptr && !node->paused() &&
      random.Chance(plan.pause_coordinator)) {
    ++stage_->census["coordinator paused"];
    Pause(*node, random.Between(milliseconds(100), seconds(15)));
  }
  if (random.Chance(plan.partition)) Partition();
}

void FaultInjector::NoteTroubleEverywhere() {
  for (const auto& node : *nodes_) {
    stage_->Watch([&](Checker& c) { c.OnTrouble(node->slot()); });
  }
}

SimDaemon* FaultInjector::DrawDaemon() {
  Random& random = stage_->takeover_random;
  SimDaemon* drawn =
      (*daemons_)[static_cast<size_t>(random.Below(stage_->plan.daemons))]
          .get();
  if (random.Chance(500)) {
    for (const auto& one : *daemons_) {
      if (one->leads()) drawn = one.get();
    }
  }
  return drawn->alive() ? drawn : nullptr;
}

void FaultInjector::TroubleDaemons() {
  Random& random = stage_->takeover_random;
  const Plan& plan = stage_->plan;
  for (const auto& daemon : *daemons_) {
    // A process manager starts a daemon that has ended again.
    if (!daemon->alive() && random.Chance(100)) daemon->Start();
  }
  if (random.Chance(plan.kill_daemon)) {
    if (SimDaemon* daemon = DrawDaemon(); daemon != nullptr) {
      NoteTroubleEverywhere();
      const bool is_killed = random.Chance(700);
      ++stage_->census[is_killed ? "daemon killed" : "daemon terminated"];
      is_killed ? daemon->Kill() : daemon->Terminate();
    }
  }
  if (random.Chance(plan.pause_daemon)) {
    SimDaemon* daemon = DrawDaemon();
    if (daemon != nullptr && !daemon->paused()) {
      NoteTroubleEverywhere();
      ++stage_->census["daemon paused"];
      daemon->Pause();
      stage_->queue.In(random.Between(milliseconds(50), seconds(5)),
                       [this, daemon] {
                         NoteTroubleEverywhere();
                         daemon->Resume();
                       });
    }
  }
  if (random.Chance(plan.cut_daemon)) {
    const int host = plan.slots + random.Below(plan.daemons);
    const Duration duration = random.Between(milliseconds(200), seconds(15));
    const int which = random.Below(3);
    stage_->Note(absl::StrCat(EndpointOf(host), " is cut off (", which,
                              ") for ", ToSeconds(duration), " s"));
    ++stage_->census["daemon cut off"];
    using Direction = Network::Direction;
    if (which != 0) network_->Cut(host, Direction::kUp, duration);
    if (which != 1) network_->Cut(host, Direction::kDown, duration);
    NoteTroubleEverywhere();
    stage_->queue.In(duration, [this] { NoteTroubleEverywhere(); });
  }
  TroubleEtcd();
}

void FaultInjector::TroubleEtcd() {
  Random& random = stage_->takeover_random;
  const Plan& plan = stage_->plan;
  const Duration duration = random.Between(milliseconds(100), seconds(6));
  const auto note = [&](const std::string& what) {
    stage_->Note(absl::StrCat(what, " for ", ToSeconds(duration), " s"));
    ++stage_->census[what.substr(what.find("etcd"))];
    NoteTroubleEverywhere();
  };
  if (random.Chance(plan.cut_etcd)) {
    const int daemon = random.Below(plan.daemons);
    constexpr SimEtcd::Lost kWays[] = {SimEtcd::Lost::kRequests,
                                       SimEtcd::Lost::kAnswers,
                                       SimEtcd::Lost::kBoth};
    etcd_->Cut(daemon, kWays[random.Below(3)], duration);
    note(absl::StrCat("d", daemon, " is cut off from etcd"));
  }
  if (random.Chance(plan.stop_etcd)) {
    etcd_->Stop(duration);
    note("etcd is stopped");
  }
  if (random.Chance(plan.slow_etcd)) {
    etcd_->Slow(random.Between(milliseconds(10), seconds(2)),
                random.Chance(500) ? 1000 : 150, duration);
    note("etcd is slow");
  }
}

void FaultInjector::RoundBegan(int host) {
  Random& random = stage_->takeover_random;
  if (stage_->healed || stage_->plan.kill_coordinator == 0 ||
      stage_->queue.now() < calm_until_ || !random.Chance(kKillInNewRound)) {
    return;
  }
  SimNode* node = (*nodes_)[host].get();
  // If the node that hosts the coordinator loses its power, some or most of the
  // orders to begin the round may get lost.
  const Network::Death how =
      random.Chance(500) ? Network::Death::kPower : Network::Death::kProcess;
  const int lost = random.Chance(500) ? 400 : 800;
  for (const auto& one : *nodes_) {
    if (how != Network::Death::kPower || !random.Chance(lost)) continue;
    network_->Cut(one->slot(), Network::Direction::kDown, 2 * kRoundBegins);
  }
  stage_->queue.In(random.Between(Duration::zero(), kRoundBegins),
                   [this, node, how, of = node->name().incarnation] {
                     if (stage_->healed || CoordinatingNode() != node ||
                         node->name().incarnation != of) {
                       return;
                     }
                     ++stage_->census["coordinator killed in a new round"];
                     Kill(*node, how);
                     if (stage_->plan.coordinator_timeout < kCalm ||
                         !stage_->takeover_random.Chance(kIsCalm)) {
                       return;
                     }
                     stage_->Note("no further fault for some time");
                     calm_until_ = stage_->queue.now() + kCalm;
                   });
}

// Splits the simulated machines (slots) into two groups at random, and drops
// messages between the two groups for up to 20 s, in one direction or in both.
void FaultInjector::Partition() {
  Random& random = stage_->takeover_random;
  const Duration duration = random.Between(milliseconds(500), seconds(20));
  // If `directions` is 0 or 1, the partition drops messages in one direction
  // only. If it is 2 or 3, the partition drops messages in both directions.
  const int directions = random.Below(4);
  std::vector<bool> side(nodes_->size());
  std::string text;
  for (auto&& is_first : side) {
    is_first = random.Chance(500);
    text += is_first ? "A" : "B";
  }
  for (size_t from = 0; from < side.size(); ++from) {
    for (size_t to = 0; to < side.size(); ++to) {
      if (side[from] == side[to]) continue;
      if (directions == 0 && side[from]) continue;
      if (directions == 1 && !side[from]) continue;
      network_->CutPair(static_cast<int>(from), static_cast<int>(to), duration);
      stage_->Watch([&](Checker& c) { c.OnTrouble(static_cast<int>(to)); });
    }
  }
  stage_->Note(absl::StrCat("the slots are parted ", text, " (", directions,
                            ") for ", ToSeconds(duration), " s"));
  ++stage_->census["partition"];
}

// Sends the notice of a preemption (SIGUSR2) to the node `by` or to all nodes.
// Sometimes sends it to `by` a second time, as real clusters do.
void FaultInjector::Preempt(SimNode& by) {
  Random& random = stage_->random;
  ++stage_->census["preempted"];
  stage_->Watch([](Checker& c) { c.OnPreemptionAsked(); });
  const bool all = random.Chance(500);
  for (const auto& node : *nodes_) {
    if (node->alive() && (all || node.get() == &by)) node->Catch(SIGUSR2);
  }
  if (!random.Chance(300)) return;
  stage_->queue.In(random.Between(Duration::zero(), seconds(5)),
                   [&by, of = by.name().incarnation] {
                     if (by.name().incarnation == of) by.Catch(SIGUSR2);
                   });
}

void FaultInjector::CtrlC(SimNode& node) {
  stage_->Watch([](Checker& c) { c.OnCancelAsked(); });
  node.Catch(SIGINT);
  if (stage_->random.Chance(300)) {
    stage_->queue.In(stage_->random.Between(Duration::zero(), seconds(3)),
                     [&node, of = node.name().incarnation] {
                       if (node.name().incarnation == of) node.Catch(SIGINT);
                     });
  }
}

// Starts an ended agent again after a random time, as an init system does.
void FaultInjector::Revive(SimNode& node) {
  const SimCoordinator* newest = NewestOf(*coordinators_);
  const bool is_over =
      stage_->plan.takeover || stage_->plan.etcd()
          ? stage_->IsOver()
          : newest->job() != nullptr && newest->job()->finished();
  if (node.name().incarnation == 0 || is_over) return;
  if (stage_->random.Chance(60) && !StaysAway(node)) node.StartAgent();
}

bool FaultInjector::StaysAway(const SimNode& node) {
  if (stage_->plan.kill_coordinator == 0) return false;
  auto& [incarnation, stays] = away_[node.slot()];
  if (incarnation != node.name().incarnation) {
    incarnation = node.name().incarnation;
    stays = stage_->takeover_random.Chance(kStaysAway);
  }
  return stays;
}

// Holds back the messages of several nodes for a while, then releases them node
// by node in random order. The messages of one node then arrive close together.
void FaultInjector::ClogSome() {
  Random& random = stage_->random;
  std::vector<int> slots;
  for (const auto& node : *nodes_) {
    if (random.Chance(500)) slots.push_back(node->slot());
  }
  Duration when = Duration::zero();
  for (int slot : slots) {
    stage_->queue.In(when, [this, slot] {
      if (stage_->healed) return;
      stage_->Note(absl::StrCat("n", slot, " is clogged"));
      stage_->Watch([&](Checker& c) { c.OnTrouble(slot); });
      ++stage_->census["clogged"];
      network_->Clog(slot);
    });
    when += random.Between(Duration::zero(), milliseconds(300));
  }
  while (!slots.empty()) {
    const int at = random.Below(static_cast<int>(slots.size()));
    const int slot = slots[at];
    slots.erase(slots.begin() + at);
    when += random.Between(Duration::zero(), seconds(3));
    stage_->queue.In(when, [this, slot] {
      stage_->Note(absl::StrCat("n", slot, " is unclogged"));
      network_->Unclog(slot);
    });
  }
}

// Restarts the coordinator; with takeovers, kills its node instead. With a
// journal, half of the restarts happen while the record changes. Without a
// journal, does nothing after the job has ended: a restart would lose the
// verdict, which agents still need.
void FaultInjector::RestartCoordinator() {
  if (stage_->plan.takeover) {
    SimNode* node = CoordinatingNode();
    if (node != nullptr) Kill(*node, Network::Death::kProcess);
    return;
  }
  if (stage_->plan.etcd()) return;
  SimCoordinator* coordinator = coordinators_->front().get();
  const rendezvous::Job* job = coordinator->job();
  if (!coordinator->up()) return;
  const auto restart = [this, coordinator] {
    stage_->queue.In(stage_->random.Between(milliseconds(50), seconds(6)),
                     [coordinator] { coordinator->Restart(); });
  };
  if (stage_->plan.journal && job != nullptr) {
    using Moment = SimCoordinator::Moment;
    if (stage_->random.Chance(500)) {
      coordinator->CrashAtChange(stage_->random.Chance(500)
                                     ? Moment::kBeforeWrite
                                     : Moment::kAfterWrite,
                                 restart);
    } else {
      coordinator->Crash();
      restart();
    }
    return;
  }
  if (job != nullptr && job->finished()) return;
  for (const auto& node : *nodes_) {
    stage_->Watch([&](Checker& c) { c.OnTrouble(node->slot()); });
  }
  coordinator->Crash();
  restart();
}

void FaultInjector::Spread(const WorkerModel& crashed) {
  for (const auto& node : *nodes_) {
    WorkerModel* workers = node->workers();
    if (workers == nullptr || workers == &crashed || !workers->alive() ||
        workers->round() != crashed.round() ||
        workers->epoch() != crashed.epoch() ||
        !stage_->random.Chance(stage_->plan.collateral)) {
      continue;
    }
    stage_->queue.In(stage_->random.Between(milliseconds(1), seconds(2)),
                     [this, workers, round = crashed.round()] {
                       if (!stage_->healed && workers->round() == round) {
                         workers->CrashOne();
                       }
                     });
  }
}

void FaultInjector::Heal() {
  stage_->Note("all is healed");
  stage_->healed = true;
  network_->Heal();
  if (stage_->plan.etcd()) {
    etcd_->Heal();
    for (const auto& daemon : *daemons_) {
      daemon->Resume();
      daemon->Start();
    }
  } else if (!stage_->plan.takeover) {
    coordinators_->front()->Restart();
  }
  for (const auto& node : *nodes_) node->Resume();
  stage_->Watch([](Checker& c) { c.OnHealed(); });
}

}  // namespace muster::simulation
