#include "tests/simulation/cluster.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/restart_backoff.h"
#include "rendezvous/network_check/network_check.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

using rendezvous::Backing;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kFaultyTime = seconds(60);
constexpr Duration kTick = milliseconds(500);

// Maximum time until all nodes have the same coordinator again, after they had
// none or two. The time includes the worst case, in which too few nodes know
// the job: these nodes give up, and the job begins anew.
Duration TakeoverBound(const Plan& plan) {
  return plan.link_timeout + 2 * plan.coordinator_timeout +
         plan.spec.join_timeout + seconds(30);
}

// Whether the node stays a spare because the network check, a measurement
// between pairs of nodes, found it bad.
bool IsBadByPairs(const rendezvous::NodeStatus& node) {
  return node.health == rendezvous::Health::kUnhealthy &&
         node.unhealthy.find("in the check by pairs") != std::string::npos;
}

// Maximum time of the network check before a round. The check has O(log n)
// rounds, each with a time limit.
Duration CheckBound(const Plan& plan) {
  using rendezvous::NetworkCheck;
  if (plan.spec.network_check == rendezvous::NetworkCheckTime::kNever) {
    return Duration::zero();
  }
  return 8 * (plan.check_gpus() > 0 ? NetworkCheck::kGpuRoundTimeout
                                    : NetworkCheck::kRoundTimeout);
}

}  // namespace

Cluster::Cluster(uint64_t seed, Trace::Echo echo)
    : stage_(seed, echo),
      network_(&stage_, Ends()),
      etcd_(&stage_),
      faults_(&stage_, &network_, &coordinators_, &nodes_, &etcd_, &daemons_) {
  stage_.Note(absl::StrCat("seed ", seed, ": ", stage_.plan.Describe()));
  stage_.checkers = AllCheckers(stage_.plan);
  for (int i = 0; i < stage_.plan.daemons; ++i) AddDaemon(i);
  if (!stage_.plan.takeover && !stage_.plan.etcd()) AddCoordinator(kOutside);
  for (int slot = 0; slot < stage_.plan.slots; ++slot) {
    if (stage_.plan.takeover) AddCoordinator(slot);
    nodes_.push_back(std::make_unique<SimNode>(
        &stage_, &network_, slot,
        stage_.plan.takeover ? coordinators_.back().get() : nullptr));
    nodes_.back()->on_crash = [this](const WorkerModel& crashed) {
      faults_.Spread(crashed);
    };
  }
}

void Cluster::AddCoordinator(int host) {
  const auto tell = [this](int from, const std::string& endpoint,
                           uint64_t epoch) {
    const int to = HostOf(endpoint);
    network_.Tell(from, to, [this, from, to, epoch] {
      CoordinatorAt(to).Told(epoch, EndpointOf(from), Backing::kMajority);
    });
  };
  const auto ask = [this](int from, const std::string& endpoint,
                          uint64_t asking) {
    const int to = HostOf(endpoint);
    const auto answer = [this, from, to](uint64_t epoch,
                                         const std::string& leader) {
      network_.Tell(to, from, [this, from, epoch, leader] {
        CoordinatorAt(from).Told(epoch, leader, Backing::kMajority);
      });
    };
    network_.Tell(from, to, [this, from, to, asking, answer] {
      CoordinatorAt(to).Told(asking, EndpointOf(from), Backing::kMinority);
      CoordinatorAt(to).Asked(answer);
    });
  };
  const auto meet = [this](const std::string& endpoint,
                           const SimCoordinator::Assembly& assembly) {
    const int to = HostOf(endpoint);
    network_.Tell(HostOf(assembly.endpoint), to,
                  [this, to, assembly] { CoordinatorAt(to).Meet(assembly); });
  };
  coordinators_.push_back(std::make_unique<SimCoordinator>(
      &stage_, &network_, host,
      SimCoordinator::Exchange{.tell = tell, .ask = ask, .meet = meet},
      [this](int at) { return MayFound(at); }));
  // The checkers know the daemons with etcd as one coordinator, which is
  // started again with its record.
  const int watched = stage_.plan.etcd() ? kOutside : host;
  std::vector<std::unique_ptr<Checker>>& checkers =
      stage_.coordinator_checkers[watched];
  if (!checkers.empty()) return;
  checkers = CoordinatorCheckers(stage_.plan);
  auto room = std::make_unique<RoomWatch>(stage_.plan);
  rooms_[watched] = room.get();
  checkers.push_back(std::move(room));
  if (stage_.plan.takeover) checkers.push_back(faults_.NewRoundWatch());
}

void Cluster::AddDaemon(int number) {
  AddCoordinator(stage_.plan.slots + number);
  daemons_.push_back(std::make_unique<SimDaemon>(
      &stage_, &etcd_, coordinators_.back().get(), number,
      [this](uint64_t epoch) {
        stage_.Watch([&](Checker& c) { c.OnLeader(epoch); });
        CheckLeaders();
      }));
}

void Cluster::CheckLeaders() {
  for (const auto& daemon : daemons_) {
    if (!daemon->leads()) continue;
    stage_.Watch([&](Checker& c) { c.OnMayOrder(daemon->epoch()); });
  }
}

SimCoordinator& Cluster::CoordinatorAt(int host) {
  if (stage_.plan.etcd()) {
    return *coordinators_[static_cast<size_t>(host - stage_.plan.slots)];
  }
  return *coordinators_[host == kOutside ? 0 : static_cast<size_t>(host)];
}

const rendezvous::Job* Cluster::NewestJob() const {
  const SimCoordinator* newest = Newest();
  return newest == nullptr ? nullptr : newest->job();
}

Network::Ends Cluster::Ends() {
  // Returns the node on which `agent` runs. If this agent has ended, returns
  // null, and events for it are dropped.
  const auto living = [this](AgentName agent) -> SimNode* {
    SimNode* node = nodes_[agent.slot].get();
    const bool same =
        node->alive() && node->name().incarnation == agent.incarnation;
    return same ? node : nullptr;
  };
  return {
      .coordinator = [this](int host) { return CoordinatorAt(host).process(); },
      .attached =
          [this](int host, rendezvous::StreamId stream, AgentName agent) {
            CoordinatorAt(host).Attach(stream, agent);
          },
      .report =
          [this](int host, rendezvous::StreamId stream,
                 const rendezvous::Report& report) {
            CoordinatorAt(host).Receive(stream, report);
          },
      .closed =
          [this](int host, rendezvous::StreamId stream) {
            CoordinatorAt(host).Closed(stream);
          },
      .connected =
          [this, living](AgentName agent, rendezvous::StreamId stream) {
            if (SimNode* node = living(agent); node != nullptr) {
              node->Connected(stream);
            } else {
              network_.HangUp(stream);
            }
          },
      .dial_failed =
          [living](AgentName agent) {
            if (SimNode* node = living(agent); node != nullptr) {
              node->DialFailed();
            }
          },
      .directive =
          [living](AgentName agent, rendezvous::StreamId stream,
                   const rendezvous::Directive& directive) {
            if (SimNode* node = living(agent); node != nullptr) {
              node->Came(stream, directive);
            }
          },
      .broken =
          [living](AgentName agent, rendezvous::StreamId stream) {
            if (SimNode* node = living(agent); node != nullptr) {
              node->Broken(stream);
            }
          },
  };
}

bool Cluster::Finished() const {
  if (stage_.plan.takeover || stage_.plan.etcd()) return stage_.IsOver();
  return NewestJob() != nullptr && NewestJob()->finished();
}

// Whether the coordinator in node `host` may begin the job. Only the
// coordinator in node 0 may, and only while no living node knows a round of the
// job. A real coordinator would have to ask the nodes; the simulation looks at
// their state.
bool Cluster::MayFound(int host) const {
  return host == 0 &&
         std::none_of(nodes_.begin(), nodes_.end(),
                      [](const auto& node) { return node->knows_round(); });
}

void Cluster::Tick() {
  // With etcd, a tick waits for the events before it that wait for a record:
  // one of them may be the loss of the coordinator, for which time limits stop.
  etcd_.Tell(0, 0, [this] { stage_.Watch([](Checker& c) { c.OnTick(); }); });
  if (stage_.healed) ReplaceTheMissing();
  stage_.queue.In(kTick, [this] { Tick(); });
}

// Starts agents until at least min_nodes agents run. In a real cluster, an
// operator or an autoscaler does this.
void Cluster::ReplaceTheMissing() {
  if (Finished()) return;
  // With takeovers, nodes look for a coordinator in slot 0 first, so slot 0
  // must have an agent.
  if (stage_.plan.takeover && !nodes_.front()->alive()) {
    nodes_.front()->StartAgent();
  }
  int alive = 0;
  for (const auto& node : nodes_) {
    alive += node->alive() && !WaitsForPlace(*node) ? 1 : 0;
  }
  // Start an agent in each slot (simulated machine) without an agent, one slot
  // after another, until at least min_nodes agents run. An agent that waits for
  // another agent with the same node rank does not count.
  for (size_t tried = 0; tried < nodes_.size(); ++tried) {
    if (alive >= stage_.plan.spec.min_nodes) return;
    SimNode& node = *nodes_[next_started_];
    next_started_ = (next_started_ + 1) % nodes_.size();
    if (node.alive()) continue;
    node.StartAgent();
    alive += WaitsForPlace(node) ? 0 : 1;
  }
}

bool Cluster::WaitsForPlace(const SimNode& node) const {
  const Plan& plan = stage_.plan;
  if (!plan.rival || !plan.patient) return false;
  const int rival = plan.slots - 1;
  if (node.slot() != 0 && node.slot() != rival) return false;
  const SimNode& other = *nodes_[node.slot() == 0 ? rival : 0];
  if (!other.alive() || NewestJob() == nullptr) return false;
  const rendezvous::JobStatus status = NewestJob()->Status(stage_.queue.now());
  return std::any_of(status.nodes.begin(), status.nodes.end(),
                     [&](const rendezvous::NodeStatus& one) {
                       return one.node.incarnation == other.name().incarnation;
                     });
}

std::string Cluster::OutOfPlace(const SimNode& node,
                                const rendezvous::JobStatus& status) const {
  const std::string id = absl::StrCat("n", node.slot());
  for (const rendezvous::NodeStatus& one : status.nodes) {
    if (one.node.incarnation != node.name().incarnation) continue;
    if (one.group_rank.has_value()) {
      const agent::Lifecycle& agent = *node.lifecycle();
      const bool runs = agent.round() == status.round &&
                        (agent.phase() == rendezvous::NodePhase::kRunning ||
                         agent.phase() == rendezvous::NodePhase::kSucceeded);
      return runs ? "" : id + " does not run its part";
    }
    if (IsBadByPairs(one)) return "";
    if (one.health != rendezvous::Health::kHealthy) {
      return id + " is not known to be fit";
    }
    if (node.lifecycle()->phase() == rendezvous::NodePhase::kRunning) {
      return id + " runs what it should not";
    }
    // A quarantined node may stay a spare, because the job breaks no round to
    // admit it.
    if (one.judgement.state == rendezvous::HostState::kQuarantined) return "";
    const int watched = stage_.plan.etcd() ? kOutside : Newest()->host();
    return rooms_.at(watched)->MustLetIn(status)
               ? id + " waits although there is room"
               : "";
  }
  return WaitsForPlace(node) ? "" : id + " is not known to the coordinator";
}

std::string Cluster::Unsettled() const {
  if (Finished()) {
    for (const auto& node : nodes_) {
      if (node->alive()) {
        return absl::StrCat("the job is over, but n", node->slot(),
                            " is still there");
      }
    }
    return "";
  }
  if (NewestJob() == nullptr) return "there is no job";
  for (const auto& one : coordinators_) {
    if (one.get() != Newest() && one->job() != nullptr &&
        !one->job()->finished()) {
      return absl::StrCat(EndpointOf(one->host()), " coordinates, and so does ",
                          EndpointOf(Newest()->host()));
    }
  }
  const rendezvous::JobStatus status = NewestJob()->Status(stage_.queue.now());
  if (status.phase != rendezvous::JobPhase::kRunning) {
    return absl::StrCat("the job does not run: ", status.reason);
  }
  if (status.preemption.has_value()) return "the job is being preempted";
  for (const rendezvous::NodeStatus& one : status.nodes) {
    const bool lives =
        std::any_of(nodes_.begin(), nodes_.end(), [&](const auto& node) {
          return node->alive() &&
                 node->name().incarnation == one.node.incarnation;
        });
    const bool done = one.phase == rendezvous::NodePhase::kSucceeded;
    if (!lives && !done) return one.node.node_id + " is dead, and counted";
  }
  for (const auto& node : nodes_) {
    if (!node->alive()) continue;
    std::string out = OutOfPlace(*node, status);
    if (!out.empty()) return out;
  }
  return "";
}

void Cluster::Await(const char* what, Duration bound,
                    const std::function<std::string()>& settled) {
  const Instant end = stage_.queue.now() + bound;
  std::string why;
  while (stage_.failure.empty()) {
    why = settled();
    if (why.empty()) return;
    if (stage_.queue.now() >= end) {
      stage_.Fail(
          absl::StrCat(what, ": not within ", ToSeconds(bound), " s: ", why));
      return;
    }
    stage_.queue.RunUntil(stage_.queue.now() + kTick,
                          [this] { return !stage_.failure.empty(); });
  }
}

std::string Cluster::Succeeded() const {
  std::string unsettled = Unsettled();
  if (!unsettled.empty()) return unsettled;
  return Finished() ? "" : "the job has not ended";
}

std::string Cluster::Run() {
  const Plan& plan = stage_.plan;
  for (const auto& node : nodes_) {
    const Duration when =
        stage_.random.Between(Duration::zero(), plan.latest_join);
    stage_.queue.In(when, [&node = *node] { node.StartAgent(); });
  }
  for (const auto& daemon : daemons_) {
    stage_.queue.In(
        stage_.takeover_random.Between(Duration::zero(), seconds(1)),
        [&daemon = *daemon] { daemon.Start(); });
  }
  faults_.Begin();
  stage_.queue.In(kTick, [this] { Tick(); });
  stage_.queue.RunUntil(stage_.queue.now() + kFaultyTime,
                        [this] { return !stage_.failure.empty(); });
  if (stage_.queue.now() < faults_.calm_until()) {
    stage_.queue.RunUntil(faults_.calm_until(),
                          [this] { return !stage_.failure.empty(); });
  }
  if (!stage_.failure.empty()) return stage_.failure;

  faults_.Heal();
  // Let messages arrive that were sent before the faults ended.
  stage_.queue.RunUntil(stage_.queue.now() + plan.max_straggle + seconds(2),
                        [this] { return !stage_.failure.empty(); });
  const rendezvous::JobSpec& spec = plan.spec;
  // The maximum time until the job has recovered from all faults. It is the sum
  // of the longest times of all steps that a recovery may need, such as the
  // detection of lost nodes, the end of their rounds, and the back-off before
  // the next round.
  const Duration bound =
      3 * (spec.lease() + spec.shutdown_timeout + seconds(5)) + spec.last_call +
      spec.wait_for_replacement + 2 * spec.scale_up_cool_down +
      spec.preempt_grace + 2 * rendezvous::RestartBackoff::kMaxDelay +
      (plan.checked ? 3 * (plan.max_check + plan.check_interval)
                    : Duration::zero()) +
      CheckBound(plan) +
      (plan.takeover || plan.etcd() ? TakeoverBound(plan) : Duration::zero()) +
      seconds(15);
  Await("convergence", bound, [this] { return Unsettled(); });
  if (!stage_.failure.empty() || Finished()) return stage_.failure;

  stage_.Note("the workers succeed");
  stage_.finishing = true;
  for (const auto& node : nodes_) {
    if (node->workers() != nullptr) node->workers()->Finish();
  }
  Await("success", bound, [this] { return Succeeded(); });
  if (!stage_.failure.empty()) return stage_.failure;
  if (stage_.verdict->outcome != rendezvous::Outcome::kSucceeded) {
    stage_.Fail("success: the job ended otherwise: " + stage_.verdict->reason);
  }
  return stage_.failure;
}

}  // namespace muster::simulation
