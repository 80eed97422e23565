#ifndef MUSTER_TESTS_SIMULATION_PLAN_H_
#define MUSTER_TESTS_SIMULATION_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "tests/simulation/random.h"

namespace muster::simulation {

// The scenario of one seed: the job, its nodes, and the level of each fault. A
// level of 0 disables a fault. Most seeds disable most faults, so that each
// fault is tested alone as well as together with others.
struct Plan {
  rendezvous::JobSpec spec;
  int slots = 1;            // number of places for agents, spares included
  int workers = 1;          // number of workers on each node
  bool node_ranks = false;  // slot k has --node-rank=k
  // The agents of slot 0 and of the last slot have the same node rank.
  bool rival = false;
  // A node whose node rank is taken waits for it (Report::waits_for_place).
  bool patient = false;
  // The coordinator keeps a record of its job, which the next one finds.
  bool journal = false;
  Duration coordinator_timeout = Duration::zero();
  Duration latest_join = Duration::zero();
  // Time for which the workers of a round run; nullopt: until phase 3
  // (Cluster).
  std::optional<Duration> work;
  bool leaves_on_term = false;

  // --- messages, per mille
  int drop = 0;
  int duplicate = 0;
  bool reorder = false;
  Duration max_delay = std::chrono::milliseconds(1);
  int straggle = 0;  // messages that are delayed by up to max_straggle
  Duration max_straggle = Duration::zero();

  // --- faults of each node, per mille, drawn five times a second
  int break_stream = 0;
  // part of the broken streams of which the coordinator does not learn
  int half_open = 0;
  int kill = 0;
  int power_loss = 0;  // part of the kills after which the stream stays silent
  int pause = 0;
  int guardian_death = 0;
  int cut = 0;
  int worker_crash = 0;
  int hang = 0;  // a worker stops reporting but does not exit
  // part of the crashes after which workers of other nodes crash as well
  int collateral = 0;
  int signal = 0;  // SIGUSR1 to an agent, which forwards it to all workers
  int leave = 0;
  int drain = 0;
  int preempt = 0;  // SIGUSR2 to an agent: the notice of a preemption
  // --- faults of the whole cluster
  int clog = 0;
  int coordinator_restart = 0;
  int ctrl_c = 0;

  // --- faults of workers, per mille
  int start_failure = 0;
  int ignores_term = 0;
  int slow_to_die = 0;  // the worker takes seconds to die of SIGKILL
  int orphan = 0;       // the worker leaves a child process behind
  int stack_lost = 0;   // taking the worker's stack fails
  // Interval of the workers' reports; a longer silence is a hang. Zero: workers
  // do not report.
  Duration report_every = Duration::zero();
  Duration hang_timeout = Duration::zero();

  // The signal that workers get at a preemption; 12: they end soon and
  // successfully.
  int preempt_signal = 15;

  // --- faults of nodes, per mille
  bool checked = false;
  int unhealthy = 0;  // part of the health checks that fail
  Duration max_check = Duration::zero();
  Duration check_interval = Duration::zero();
  int slow_hook = 0;  // part of the announcement hooks that never end

  // --- takeover
  // The coordinator of the job is in one of the agents' processes, and those of
  // the other processes stand by. Else one process outside of the nodes hosts
  // the only coordinator.
  bool takeover = false;
  // Faults of the whole cluster, per mille, drawn five times a second: the
  // process that coordinates the job is killed or suspended; no message passes
  // between two groups of slots, in one direction or in both.
  int kill_coordinator = 0;
  int pause_coordinator = 0;
  int partition = 0;
  // Time without an answer after which an agent gives up a connection.
  Duration link_timeout = Duration::zero();
  // limit of the difference of a slot's clock to the true time
  Duration max_skew = Duration::zero();

  std::string Describe() const;
};

// The generator of all draws that only plans with a takeover make.
Random TakeoverRandom(uint64_t seed);

// `random` must be that of `seed`.
Plan DrawPlan(Random& random, uint64_t seed);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_PLAN_H_
