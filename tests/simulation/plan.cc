#include "tests/simulation/plan.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "rendezvous/protocol/electorate.h"

namespace muster::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Draws the level of a fault. With a probability of `likely` per mille it is a
// number from 1 to `most`; otherwise 0, which means no such fault.
int Level(Random& random, int likely, int most) {
  const bool on = random.Chance(likely);
  const int level = random.Between(1, most);
  return on ? level : 0;
}

rendezvous::JobSpec DrawSpec(Random& random) {
  rendezvous::JobSpec spec;
  spec.max_nodes = random.Between(1, 5);
  spec.min_nodes =
      random.Chance(300) ? spec.max_nodes : random.Between(1, spec.max_nodes);
  spec.max_restarts = random.Chance(300) ? 0 : random.Between(1, 20);
  spec.join_timeout = seconds(random.Between(6, 100));
  spec.last_call = random.Between(Duration::zero(), seconds(4));
  spec.wait_for_replacement =
      random.Chance(700) ? Duration::zero()
                         : random.Between(Duration::zero(), seconds(8));
  spec.shutdown_timeout = random.Chance(150)
                              ? Duration::zero()
                              : random.Between(milliseconds(100), seconds(4));
  spec.keep_alive_interval = random.Between(milliseconds(300), seconds(2));
  spec.keep_alive_misses = random.Between(2, 5);
  spec.reconnect_grace = random.Between(Duration::zero(), seconds(1));
  spec.scale_up = random.Chance(700) ? rendezvous::ScaleUp::kRestart
                                     : rendezvous::ScaleUp::kNever;
  spec.scale_up_cool_down = random.Between(Duration::zero(), seconds(8));
  spec.preempt_grace = random.Between(Duration::zero(), seconds(8));
  spec.rejoin_timeout = random.Chance(700)
                            ? spec.join_timeout
                            : random.Between(Duration::zero(), seconds(8));
  return spec;
}

// Makes the random numbers for takeovers independent of all others. So seeds
// without a takeover keep their results. With this value, no seed of
// Simulation.SeedsThatOnceFailedPass has a takeover.
constexpr uint64_t kTakeoverSalt = 0x74616b656f7ce754;

void DrawTakeover(uint64_t seed, Plan& plan) {
  Random random = TakeoverRandom(seed);
  const bool possible =
      plan.spec.max_nodes >= 3 && !plan.journal && !plan.rival;
  if (!random.Chance(600) || !possible) return;
  plan.takeover = true;
  // Takeover::kAuto is safe only if at most max_nodes agents of the job run. So
  // make only max_nodes slots, each of which runs at most one agent.
  const bool is_auto = random.Chance(500);
  if (is_auto) plan.slots = plan.spec.max_nodes;
  plan.spec.takeover =
      is_auto ? rendezvous::Takeover::kAuto : rendezvous::Takeover::kMajority;
  plan.kill_coordinator = Level(random, 500, 25);
  plan.pause_coordinator = Level(random, 300, 15);
  plan.partition = Level(random, 400, 20);
  plan.link_timeout = random.Between(seconds(1), seconds(6));
  plan.max_skew = random.Chance(500) ? seconds(10) : Duration::zero();
  plan.host_journal = random.Chance(500);
  if (random.Chance(400)) plan.coordinator_timeout = minutes(2);
}

// Makes the random numbers for daemons with etcd independent of all others.
// With this value, no seed of Simulation.SeedsThatOnceFailedPass has them.
constexpr uint64_t kEtcdSalt = 0x65746364206c6561;

void DrawEtcd(uint64_t seed, Plan& plan) {
  Random random(seed ^ kEtcdSalt);
  if (!random.Chance(300) || plan.takeover || plan.journal) return;
  plan.daemons = random.Between(2, 3);
  plan.kill_daemon = Level(random, 600, 20);
  plan.pause_daemon = Level(random, 500, 20);
  plan.cut_daemon = Level(random, 300, 15);
  plan.cut_etcd = Level(random, 500, 30);
  plan.stop_etcd = Level(random, 300, 10);
  plan.slow_etcd = Level(random, 400, 20);
  plan.clock_ppm = random.Chance(700) ? 200 : 50'000;
  plan.max_skew = random.Chance(700) ? milliseconds(50) : Duration(seconds(30));
  plan.link_timeout = random.Between(seconds(1), seconds(6));
  plan.coordinator_restart = 0;
}

// Makes the random numbers for large jobs independent of all others.
constexpr uint64_t kLargeSalt = 0x6c617267656a6f62;

// Gives some jobs with takeovers more nodes than messages list
// (kMaxListedElectors): other rules hold for such jobs.
void DrawLargeJob(uint64_t seed, Plan& plan) {
  Random random(seed ^ kLargeSalt);
  if (!random.Chance(150) || !plan.takeover) return;
  const int spares = plan.slots - plan.spec.max_nodes;
  plan.spec.max_nodes = random.Between(rendezvous::kMaxListedElectors + 1, 12);
  plan.spec.min_nodes = random.Chance(500)
                            ? plan.spec.max_nodes
                            : random.Between(2, plan.spec.max_nodes);
  plan.slots = plan.spec.max_nodes + spares;
}

// Makes the random numbers for the network check independent of all others.
// With this value, no seed of Simulation.SeedsThatOnceFailedPass has a network
// check.
constexpr uint64_t kCheckSalt = 0x6e6574776f726c7a;

void DrawNetworkCheck(uint64_t seed, Plan& plan) {
  Random random(seed ^ kCheckSalt);
  if (!random.Chance(200)) return;
  plan.spec.network_check = random.Chance(500)
                                ? rendezvous::NetworkCheckTime::kStart
                                : rendezvous::NetworkCheckTime::kSuspicion;
  if (random.Chance(500)) plan.slow_slot = random.Below(plan.slots);
  plan.failed_measurement = Level(random, 400, 300);
  plan.lost_measurement = Level(random, 300, 200);
  plan.max_measurement = random.Between(milliseconds(10), seconds(3));
  if (plan.spec.network_check == rendezvous::NetworkCheckTime::kSuspicion) {
    plan.gpu_error = Level(random, 700, 20);
  }
}

}  // namespace

Random TakeoverRandom(uint64_t seed) { return Random(seed ^ kTakeoverSalt); }

Plan DrawPlan(Random& random, uint64_t seed) {
  Plan plan;
  plan.spec = DrawSpec(random);
  plan.slots = plan.spec.max_nodes + random.Below(3);
  plan.workers = random.Between(1, 3);
  plan.node_ranks = random.Chance(250);
  if (plan.node_ranks) plan.slots = plan.spec.max_nodes;
  plan.rival = plan.node_ranks && random.Chance(300);
  if (plan.rival) ++plan.slots;
  // Derive this option from another one instead of drawing it: an additional
  // random number would change all later random numbers of every seed.
  plan.patient = plan.spec.max_restarts % 2 == 0;
  plan.journal = seed % 4 == 3;
  plan.coordinator_timeout = random.Between(seconds(4), seconds(40));
  plan.latest_join = random.Chance(500)
                         ? milliseconds(100)
                         : random.Between(seconds(1), seconds(20));
  const Duration work = random.Between(seconds(5), seconds(40));
  if (random.Chance(300)) plan.work = work;
  plan.leaves_on_term = random.Chance(300);

  plan.drop = Level(random, 250, 200);
  plan.duplicate = Level(random, 300, 200);
  plan.reorder = random.Chance(300);
  plan.max_delay = random.Chance(500)
                       ? milliseconds(2)
                       : random.Between(milliseconds(2), milliseconds(300));
  plan.straggle = Level(random, 250, 60);
  plan.max_straggle = random.Between(seconds(1), seconds(20));

  plan.break_stream = Level(random, 350, 30);
  plan.half_open = Level(random, 500, 1000);
  plan.kill = Level(random, 350, 12);
  plan.power_loss = Level(random, 500, 1000);
  plan.pause = Level(random, 250, 15);
  plan.cut = Level(random, 250, 15);
  plan.worker_crash = Level(random, 400, 15);
  plan.collateral = Level(random, 500, 1000);
  plan.signal = Level(random, 200, 20);
  plan.leave = plan.leaves_on_term ? Level(random, 700, 4) : 0;
  plan.drain = Level(random, 200, 4);
  plan.clog = Level(random, 200, 20);
  plan.coordinator_restart = Level(random, 200, 15);
  plan.ctrl_c = Level(random, 150, 8);
  plan.guardian_death = Level(random, 150, 5);

  plan.start_failure = Level(random, 80, 30);
  plan.ignores_term = Level(random, 300, 600);
  plan.slow_to_die = Level(random, 150, 200);
  plan.orphan = Level(random, 300, 500);
  plan.hang = Level(random, 250, 15);
  plan.stack_lost = Level(random, 300, 500);
  plan.report_every = random.Between(milliseconds(200), seconds(1));
  plan.hang_timeout = random.Between(seconds(2), seconds(6));

  plan.preempt = Level(random, 150, 8);
  constexpr int kPreemptSignals[] = {15, 12, 0};
  plan.preempt_signal = kPreemptSignals[random.Below(3)];
  plan.slow_hook = Level(random, 300, 1000);
  plan.checked = random.Chance(250);
  plan.unhealthy = plan.checked ? Level(random, 800, 600) : 0;
  plan.max_check = random.Between(milliseconds(1), seconds(2));
  plan.check_interval = random.Between(milliseconds(200), seconds(4));
  DrawTakeover(seed, plan);
  DrawLargeJob(seed, plan);
  DrawEtcd(seed, plan);
  DrawNetworkCheck(seed, plan);
  return plan;
}

std::string Plan::Describe() const {
  return absl::StrCat(
      spec.min_nodes, ":", spec.max_nodes, " nodes, ", slots, " slots, ",
      workers, " workers each, ", spec.max_restarts, " restarts, lease ",
      ToSeconds(spec.lease()), " s, reconnect ",
      ToSeconds(spec.reconnect_grace), " s, grace ",
      ToSeconds(spec.shutdown_timeout), " s, join ",
      ToSeconds(spec.join_timeout), " s, rejoin ",
      ToSeconds(spec.rejoin_timeout), " s, last call ",
      ToSeconds(spec.last_call), " s, cool-down ",
      ToSeconds(spec.scale_up_cool_down), " s",
      node_ranks ? ", node ranks" : "", rival ? ", a rival" : "",
      patient ? ", patient" : "", journal ? ", a journal" : "", "; drop ", drop,
      " duplicate ", duplicate, " reorder ", reorder ? 1 : 0, " straggle ",
      straggle, " break ", break_stream, " kill ", kill, " pause ", pause,
      " cut ", cut, " crash ", worker_crash, " hang ", hang, " clog ", clog,
      " restart ", coordinator_restart, " ctrl-c ", ctrl_c, " drain ", drain,
      " leave ", leave, " preempt ", preempt, " unhealthy ", unhealthy,
      spec.network_check == rendezvous::NetworkCheckTime::kNever
          ? ""
          : absl::StrCat("; check by pairs, slow slot ", slow_slot, " failed ",
                         failed_measurement, " lost ", lost_measurement,
                         " GPU error ", gpu_error),
      takeover
          ? absl::StrCat(
                "; takeover ",
                spec.takeover == rendezvous::Takeover::kAuto ? "auto"
                                                             : "majority",
                " kill ", kill_coordinator, " pause ", pause_coordinator,
                " partition ", partition, " link ", ToSeconds(link_timeout),
                " s, absent ", ToSeconds(coordinator_timeout), " s",
                host_journal ? ", a journal" : "")
          : "",
      etcd() ? absl::StrCat("; ", daemons, " daemons, kill ", kill_daemon,
                            " pause ", pause_daemon, " cut ", cut_daemon,
                            " etcd: cut ", cut_etcd, " stop ", stop_etcd,
                            " slow ", slow_etcd, "; clocks ", clock_ppm,
                            " ppm, ", ToSeconds(max_skew), " s; link ",
                            ToSeconds(link_timeout), " s, absent ",
                            ToSeconds(coordinator_timeout), " s")
             : "");
}

}  // namespace muster::simulation
