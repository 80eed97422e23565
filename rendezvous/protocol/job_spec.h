#ifndef MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster::rendezvous {

// The reaction if a node waits and the world has room for it.
enum class ScaleUp {
  kNever,    // The node stays a spare until the round breaks for another cause.
  kRestart,  // The round is broken to let it in, once the cool-down has passed.
};

// The process that serves the key-value store of a round's workers.
enum class StoreHost {
  kAgent,   // The agent of group rank 0.
  kWorker,  // Rank 0's worker, as with plain env:// (--worker-store).
};

// The connections of the job's workers that are encrypted (--encrypt).
enum class Encryption {
  kNone,
  // Those between nodes that Muster's own programs make: the SDK's TCP
  // transport and the relays of the round's store. Each round has a key of its
  // own, Place::channel_key.
  kWorkers,
};

// Who coordinates the job after its coordinator's node is lost (--takeover).
enum class Takeover {
  // Another node, once a majority of the newest world's nodes has come to it;
  // or, if min_nodes are more than half of max_nodes, once min_nodes nodes have
  // come, whichever they are: as many cannot be elsewhere.
  kAuto,
  // Another node, once a majority of the newest world's nodes has come to it.
  kMajority,
  // Nobody: the nodes wait for the coordinator's return.
  kNever,
};

inline constexpr size_t kMaxCommandBytes = 1024;  // limit of JobSpec::command

// Limit of JobSpec::max_nodes: limits the memory that an untrusted peer can
// make a coordinator allocate, and is far above any machine in use.
inline constexpr int kMaxNodes = 100'000;

// The settings of a job. The first node to join determines them; the settings
// of the other nodes must agree (see Disagreement).
struct JobSpec {
  // A round needs at least `min_nodes` and takes at most `max_nodes`.
  int min_nodes = 1;
  int max_nodes = 1;

  // Number of worker failures that the whole job may survive. Membership
  // changes are not counted.
  int max_restarts = 0;

  // Time limit of a gathering, from its start until a world forms.
  Duration join_timeout = std::chrono::seconds(600);

  // Time limit of a later gathering with fewer than `min_nodes` nodes, healthy
  // or not. Short if no program restarts a lost agent.
  Duration rejoin_timeout = std::chrono::seconds(600);

  // Duration of the last call: the wait for more nodes once `min_nodes` are
  // ready in the first gathering. Later gatherings have no last call.
  Duration last_call = std::chrono::seconds(30);

  // Wait for a replacement after a loss, if the survivors are enough for a
  // world.
  Duration wait_for_replacement = Duration::zero();

  // Time from the first signal to SIGKILL, on every path that stops workers.
  Duration shutdown_timeout = std::chrono::seconds(30);

  // Maximum interval of an agent's reports. After `keep_alive_misses` intervals
  // of silence the agent counts as lost; their product is the lease.
  Duration keep_alive_interval = std::chrono::seconds(2);
  int keep_alive_misses = 5;

  // Time that an agent whose stream broke may take to reconnect. Much shorter
  // than the lease, because a killed process breaks its stream at once.
  Duration reconnect_grace = std::chrono::milliseconds(500);

  ScaleUp scale_up = ScaleUp::kRestart;
  // Minimum duration of a round before it is broken to let a node in.
  Duration scale_up_cool_down = std::chrono::seconds(10);

  StoreHost store_host = StoreHost::kAgent;

  Encryption encryption = Encryption::kNone;

  // Without effect on a job of fewer than 3 nodes, and where the coordinator is
  // a program of its own.
  Takeover takeover = Takeover::kAuto;

  // Time that workers may run after the notice of a preemption; then they are
  // stopped within `shutdown_timeout`.
  Duration preempt_grace = std::chrono::seconds(120);

  // The command of a node's workers: their number, the interpreter, the program
  // and its arguments. Compared only, and shown to no one except a node that is
  // refused for it, since arguments may hold secrets. Empty: sent by an older
  // agent that does not support it.
  std::string command;
  // Whether the nodes' commands may differ (--rdzv-conf=mixed_nodes=1).
  bool mixed_nodes = false;

  Duration lease() const { return keep_alive_interval * keep_alive_misses; }

  // Returns InvalidArgument with one line that names the field and its bounds.
  absl::Status Validate() const;

  bool operator==(const JobSpec&) const = default;
};

// The reason why a node may not join a job.
struct Objection {
  std::string told;   // a sentence for the person who started the node
  std::string noted;  // the sentence for logs and status, without command lines
  // Whether the node belongs to another job, so that it has reached the wrong
  // coordinator.
  bool another_job = false;
};

// Returns an objection for the first field in which `asked` contradicts `job`
// so that its world, restart budget or program would change; nullopt if they
// agree. Time-outs may differ: those of the first node hold for all.
std::optional<Objection> Disagreement(const JobSpec& job, const JobSpec& asked);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
