#ifndef MUSTER_TESTS_SIMULATION_PLAN_H_
#define MUSTER_TESTS_SIMULATION_PLAN_H_

#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "tests/simulation/random.h"

namespace muster::simulation {

// What one seed does: the job, its nodes, and how much of what goes wrong.
// A level of 0 means never; most seeds leave most faults out, so that each is
// seen alone as well as with others.
struct Plan {
  rendezvous::JobSpec spec;
  int slots = 1;            // places for agents, spares among them
  int workers = 1;          // of each node
  bool node_ranks = false;  // slot k has --node-rank=k
  // Slot 0's agent has a rival of the same node rank: the last slot.
  bool rival = false;
  // Nodes wait for a place that another one holds: Report::waits_for_place.
  bool patient = false;
  Duration coordinator_timeout = Duration::zero();
  Duration latest_join = Duration::zero();
  // How long the workers of a round work; nothing: until phase 3.
  std::optional<Duration> work;
  bool leaves_on_term = false;

  // --- messages, in a thousand
  int drop = 0;
  int duplicate = 0;
  bool reorder = false;
  Duration max_delay = std::chrono::milliseconds(1);
  int straggle = 0;  // messages that take up to max_straggle
  Duration max_straggle = Duration::zero();

  // --- faults, in a thousand, at each node, five times a second
  int break_stream = 0;
  int half_open = 0;  // of broken streams: the coordinator is not told
  int kill = 0;
  int power_loss = 0;  // of kills: the stream does not break
  int pause = 0;
  int guardian_death = 0;
  int cut = 0;
  int worker_crash = 0;
  int hang = 0;        // a worker stays, and says nothing any more
  int collateral = 0;  // of crashes: each other node's workers follow
  int signal = 0;      // SIGUSR1
  int leave = 0;
  int drain = 0;
  int preempt = 0;  // the cluster's SIGUSR2
  // --- of the whole cluster
  int clog = 0;
  int coordinator_restart = 0;
  int ctrl_c = 0;

  // --- workers, in a thousand
  int start_failure = 0;
  int ignores_term = 0;
  int slow_to_die = 0;  // SIGKILL takes seconds
  int orphan = 0;       // leaves a child behind
  int stack_lost = 0;   // nothing comes of looking where a worker is
  // Where workers may hang, they report so often, and such a silence is a hang.
  Duration report_every = Duration::zero();
  Duration hang_timeout = Duration::zero();

  // What workers get at a preemption; 12: they end soon, with success.
  int preempt_signal = 15;

  // --- nodes, in a thousand
  bool checked = false;
  int unhealthy = 0;  // checks that a node does not pass
  Duration max_check = Duration::zero();
  Duration check_interval = Duration::zero();
  int slow_hook = 0;  // takes as long as it likes

  std::string Describe() const;
};

Plan DrawPlan(Random& random);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_PLAN_H_
