#ifndef MUSTER_TESTS_SIMULATION_PLAN_H_
#define MUSTER_TESTS_SIMULATION_PLAN_H_

#include <cstdint>
#include <optional>
#include <string>

#include "base/time.h"
#include "rendezvous/protocol/job_spec.h"
#include "tests/simulation/random.h"

namespace muster::simulation {

// The scenario of one seed: the job, its nodes, and the level of each fault (0:
// the fault never happens). Most seeds disable most faults, so each fault is
// tested alone as well as together with other faults.
struct Plan {
  rendezvous::JobSpec spec;
  // number of slots, each of which runs at most one agent; includes spares
  int slots = 1;
  int workers = 1;          // number of workers on each node
  bool node_ranks = false;  // whether slot k has --node-rank=k
  // Whether the agents of slot 0 and of the last slot have the same node rank.
  bool rival = false;
  // Whether a node whose node rank is in use waits until the rank is free
  // (Report::waits_for_place).
  bool patient = false;
  // Whether the coordinator writes a record of its job to a journal, which the
  // next coordinator reads.
  bool journal = false;
  Duration coordinator_timeout = Duration::zero();
  Duration latest_join = Duration::zero();
  // Time for which the workers of a round run until they succeed; nullopt: they
  // succeed only in the last phase of the simulation (see Cluster).
  std::optional<Duration> work;
  bool leaves_on_term = false;

  // --- faults of messages. drop, duplicate: shares (per mille) of all messages
  // that are lost or arrive twice.
  int drop = 0;
  int duplicate = 0;
  bool reorder = false;
  Duration max_delay = std::chrono::milliseconds(1);
  // share (per mille) of the messages that are delayed by up to max_straggle
  int straggle = 0;
  Duration max_straggle = Duration::zero();

  // --- faults of single nodes: probabilities per mille, drawn for each node
  // five times per simulated second
  int break_stream = 0;
  // share (per mille) of the stream breaks that the coordinator does not notice
  int half_open = 0;
  int kill = 0;
  // share (per mille) of the kills that are power losses: the node's stream is
  // not closed but stays silent
  int power_loss = 0;
  int pause = 0;
  int guardian_death = 0;
  int cut = 0;
  int worker_crash = 0;
  // probability (per mille), drawn for each node every 200 ms: one worker of
  // the node stops reporting but does not exit
  int hang = 0;
  // probability (per mille), drawn for each other node when a worker crashes: a
  // worker of that other node crashes, too
  int collateral = 0;
  // probability (per mille), drawn for each node every 200 ms: its agent gets
  // SIGUSR1, which is forwarded to all workers of the job
  int signal = 0;
  int leave = 0;
  int drain = 0;
  // probability (per mille), drawn for each node every 200 ms: its agent, or
  // every agent, gets SIGUSR2, the notice of a preemption
  int preempt = 0;
  // --- faults of several nodes or of the whole job: probabilities per mille,
  // drawn five times per simulated second; ctrl_c is drawn for each node
  int clog = 0;
  int coordinator_restart = 0;
  int ctrl_c = 0;

  // --- faults of workers: probabilities per mille for each worker or action
  int start_failure = 0;
  int ignores_term = 0;
  // probability (per mille): a worker takes seconds to die of SIGKILL
  int slow_to_die = 0;
  // probability (per mille): a worker leaves a child process behind
  int orphan = 0;
  // probability (per mille): taking the worker's stack fails
  int stack_lost = 0;
  // Interval at which workers report progress. Workers report only in plans
  // with hangs (`hang` > 0). A worker that is silent for longer than
  // hang_timeout counts as hanging.
  Duration report_every = Duration::zero();
  Duration hang_timeout = Duration::zero();

  // Signal that workers get at a preemption: 15 (SIGTERM), 0 (none), or 12
  // (SIGUSR2). After SIGUSR2, workers soon end successfully.
  int preempt_signal = 15;

  // --- health checks of nodes, and commands that announce preemptions
  // Whether the agents check the health of their nodes.
  bool checked = false;
  // share (per mille) of the health checks that fail
  int unhealthy = 0;
  Duration max_check = Duration::zero();
  Duration check_interval = Duration::zero();
  // share (per mille) of the announcement commands (--on-preempt) that never
  // end
  int slow_hook = 0;

  // --- check by pairs (JobSpec::network_check), if the plan has one
  // The slot whose connections are slow until the faults end; -1: none.
  int slow_slot = -1;
  // The number of GPUs that each node can measure with its partner: 8, if the
  // number of slots is even, else 0.
  int check_gpus() const { return slots % 2 == 0 ? 8 : 0; }
  // Shares (per mille) of the measurements that fail (failed_measurement) or
  // that get no answer (lost_measurement).
  int failed_measurement = 0;
  int lost_measurement = 0;
  // probability (per mille), drawn for each node every 200 ms in plans with
  // NetworkCheckTime::kSuspicion: the NVIDIA driver reports an error of a GPU
  int gpu_error = 0;
  Duration max_measurement = Duration::zero();

  // --- takeover
  // Whether coordinators run in the agents' processes. One of them then
  // coordinates the job, and the others are standbys. If false, there is one
  // coordinator, in a process outside of the nodes.
  bool takeover = false;
  // Whether the coordinator that runs with the first node (slot 0) writes a
  // record of its job to a journal. If no node knows a round, the next
  // coordinator there reads the record.
  bool host_journal = false;
  // Faults of the whole cluster: probabilities per mille, drawn five times per
  // simulated second. kill_coordinator, pause_coordinator: the process that
  // coordinates the job is killed or suspended. partition: the messages between
  // two groups of slots are dropped, in one direction or in both.
  int kill_coordinator = 0;
  int pause_coordinator = 0;
  int partition = 0;
  // Time without an answer after which an agent closes its connection.
  Duration link_timeout = Duration::zero();
  // Maximum error of a coordinator's wall clock. With takeovers, the
  // coordinator reads the clock each time it becomes a standby, and each
  // reading has another random error. With etcd, the error is drawn once for
  // each process.
  Duration max_skew = Duration::zero();

  // --- several daemons (rendezvousd) with one state in etcd
  // Number of daemons; 0: one coordinator without etcd, or takeovers.
  int daemons = 0;
  bool etcd() const { return daemons > 0; }
  // Probabilities per mille, drawn five times per simulated second.
  // kill_daemon: a daemon is killed, or ended with SIGTERM. pause_daemon: it is
  // suspended. Half of these faults happen to the leader. cut_daemon: messages
  // between a daemon and all agents are dropped. cut_etcd: messages between a
  // daemon and etcd are dropped. stop_etcd, slow_etcd: etcd does not answer, or
  // is slow.
  int kill_daemon = 0;
  int pause_daemon = 0;
  int cut_daemon = 0;
  int cut_etcd = 0;
  int stop_etcd = 0;
  int slow_etcd = 0;
  // Maximum error of the rate of a process's clock, in millionths. Each process
  // draws another one when it starts.
  int clock_ppm = 0;
  // Shortest and Longest return bounds of the time that passes while the clock
  // of a process shows `duration`.
  Duration Shortest(Duration duration) const {
    return duration - ClockError(duration);
  }
  Duration Longest(Duration duration) const {
    return duration + ClockError(duration);
  }
  // Twice the maximum error: a fast and a slow clock may be compared.
  Duration ClockError(Duration duration) const {
    return duration * 2 * clock_ppm / 1'000'000;
  }

  std::string Describe() const;
};

// Returns the generator of the random numbers that only plans with a takeover
// use.
Random TakeoverRandom(uint64_t seed);

// Draws the plan of a seed. `random` must be the generator of the same seed.
Plan DrawPlan(Random& random, uint64_t seed);

}  // namespace muster::simulation

#endif  // MUSTER_TESTS_SIMULATION_PLAN_H_
