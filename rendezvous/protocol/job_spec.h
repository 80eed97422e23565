#ifndef MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::rendezvous {

// The treatment of a spare for which the current world has room.
enum class ScaleUp {
  kNever,  // The node stays a spare until the round ends for another reason.
  // The round is ended to give the spare a place, once the round has run for
  // JobSpec::scale_up_cool_down.
  kRestart,
};

// The process that serves the key-value store of a round's workers.
enum class StoreHost {
  kAgent,  // The agent of the node with group rank 0.
  // The worker of rank 0 (--worker-store), as with PyTorch's init method
  // env://.
  kWorker,
};

// The connections of the job's workers that are encrypted (--encrypt).
enum class Encryption {
  kNone,
  // Connections between nodes that Muster's own programs open: those of the
  // SDK's TCP transport, and those of the relays of the round's store. Each
  // round has its own key, Place::channel_key.
  kWorkers,
};

// The process that coordinates the job if the node of the coordinator is lost
// (--takeover).
enum class Takeover {
  // Another node takes over once a majority of the newest world's nodes have
  // connected to it. Fewer nodes suffice if the nodes that have not connected
  // (at most max_nodes minus the connected nodes) are too few to begin a world
  // (OthersAreTooFew).
  kAuto,
  // Another node takes over once a majority of the newest world's nodes have
  // connected to it.
  kMajority,
  // No other node takes over: the nodes wait until the coordinator returns.
  kNever,
};

// When the nodes are checked by pairs (--network-check).
enum class NetworkCheckTime {
  kNever,
  kStart,  // The nodes are checked before the first round.
  // The nodes are checked by pairs before the first round, and before each
  // round that follows a suspicion: a node was lost, the communication between
  // workers failed, a rank was persistently slow, or the NVIDIA driver reported
  // an error of a GPU.
  kSuspicion,
};

// maximum size of JobSpec::command
inline constexpr size_t kMaxCommandBytes = 1024;

// Upper bound of JobSpec::max_nodes, far above the size of any real cluster. It
// limits the memory that an untrusted peer can make a coordinator allocate.
inline constexpr int kMaxNodes = 100'000;

// The settings of a job. The first node that joins determines them; the
// settings of other nodes must agree with them (see Disagreement).
struct JobSpec {
  // A round needs at least `min_nodes` and takes at most `max_nodes`.
  int min_nodes = 1;
  int max_nodes = 1;

  // Maximum number of worker failures that the whole job may survive by a
  // restart. Changes of membership are not counted.
  int max_restarts = 0;

  // Time limit of each gathering phase, from its start until a world forms.
  Duration join_timeout = std::chrono::seconds(600);

  // Time limit of any gathering phase but the first, counted while fewer than
  // `min_nodes` nodes (healthy or not) are present. Choose a short limit if no
  // program restarts lost agents, because lost nodes then never return.
  Duration rejoin_timeout = std::chrono::seconds(600);

  // How long the first gathering phase waits for more nodes once `min_nodes`
  // are ready (the last call). Later gathering phases have no last call.
  Duration last_call = std::chrono::seconds(30);

  // How long the job waits for a replacement of a lost node if the other nodes
  // suffice for a world.
  Duration wait_for_replacement = Duration::zero();

  // Time from the first signal to SIGKILL whenever workers are stopped.
  Duration shutdown_timeout = std::chrono::seconds(30);

  // Longest interval between an agent's reports. An agent that is silent for
  // `keep_alive_misses` such intervals counts as lost. This time is the lease.
  Duration keep_alive_interval = std::chrono::seconds(2);
  int keep_alive_misses = 5;

  // How long an agent whose stream broke may take to reconnect. Much shorter
  // than the lease: the stream of a killed agent breaks at once, so the loss of
  // its node is noticed without waiting for the lease.
  Duration reconnect_grace = std::chrono::milliseconds(500);

  ScaleUp scale_up = ScaleUp::kRestart;
  // Minimum time that a round runs before it may be ended in order to give a
  // spare a place.
  Duration scale_up_cool_down = std::chrono::seconds(10);

  StoreHost store_host = StoreHost::kAgent;

  Encryption encryption = Encryption::kNone;

  // Which process coordinates the job if the coordinator's node is lost. Has no
  // effect in a job of fewer than 3 nodes, or if the coordinator is a daemon
  // (rendezvousd).
  Takeover takeover = Takeover::kAuto;

  // Whether a node with a persistently slow rank leaves the job once a spare
  // can take its place.
  bool evict_stragglers = false;

  // When the nodes are checked by pairs. Nodes that the check finds bad get no
  // place in a round while at least min_nodes other nodes can get one.
  NetworkCheckTime network_check = NetworkCheckTime::kNever;

  // How long workers may run after a preemption notice; after that they are
  // stopped within `shutdown_timeout`.
  Duration preempt_grace = std::chrono::seconds(120);

  // The command of a node's workers: their number, the interpreter, the program
  // and its arguments. Used to compare the commands of the nodes. Since
  // arguments may contain secrets, the command is shown to a node only if the
  // node is refused because of a different command. Empty: the agent is too old
  // to send it.
  std::string command;
  // Whether the nodes' commands may differ (--rdzv-conf=mixed_nodes=1).
  bool mixed_nodes = false;

  Duration lease() const { return keep_alive_interval * keep_alive_misses; }

  // Returns how long a node obeys an order to begin a round, counted from the
  // report that the order answers. The result is at most a lease: a coordinator
  // that hears nothing from the node for a lease may begin another world
  // without the node.
  Duration order_life() const {
    return std::min(lease(), std::max<Duration>(2 * keep_alive_interval,
                                                std::chrono::seconds(3)));
  }

  // Whether a restarted agent may vote for a coordinator. The agent no longer
  // knows for which coordinator it voted before the restart. Its vote is safe
  // if min_nodes is more than half of max_nodes: two rounds can then never run
  // at once.
  bool RestartedAgentsElect() const {
    return takeover == Takeover::kAuto && 2 * min_nodes > max_nodes;
  }

  // Checks the settings. InvalidArgument: one line that names a field and its
  // bounds.
  absl::Status Validate() const;

  bool operator==(const JobSpec&) const = default;
};

// The reason why a node may not join the job.
struct Objection {
  // why the node may not join: a sentence for the node's operator
  std::string told;
  // The reason why the node may not join, in a sentence for logs. Contains no
  // command lines.
  std::string noted;
  // Whether the node belongs to another job, that is, has connected to the
  // wrong coordinator.
  bool another_job = false;
};

// Compares the settings that determine the world, the restart budget and the
// program. Returns an objection for the first field in which `asked`
// contradicts `job`; nullopt if they agree. Time-outs may differ: those of the
// first node apply to all nodes.
std::optional<Objection> Disagreement(const JobSpec& job, const JobSpec& asked);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
