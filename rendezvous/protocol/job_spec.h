#ifndef MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "base/time.h"

namespace muster {

// What happens when a node waits and the world has room for it.
enum class ScaleUp {
  kNever,    // It stays a spare until the round breaks for another cause.
  kRestart,  // The round is broken for it, once the cool-down has passed.
};

// Who serves the key-value store that a round's workers meet at.
enum class StoreHost {
  kAgent,   // The agent of group rank 0.
  kWorker,  // Rank 0's worker, as under plain env:// (--worker-store).
};

inline constexpr size_t kMaxCommandBytes = 1024;  // of JobSpec::command

// What every node of a job says of the job. The first node to join settles it;
// the others must agree (see Disagreement).
struct JobSpec {
  // A round needs at least `min_nodes` and takes at most `max_nodes`.
  int min_nodes = 1;
  int max_nodes = 1;

  // Worker failures that the whole job may survive. Membership changes are not
  // counted.
  int max_restarts = 0;

  // How long a gathering may take, from its start until a world is formed.
  Duration join_timeout = std::chrono::seconds(600);

  // How long a later gathering may go on while there are fewer nodes than
  // `min_nodes`, fit or not, before nobody is expected to come any more. Short
  // where nothing starts a lost agent again.
  Duration rejoin_timeout = std::chrono::seconds(600);

  // How long the first gathering goes on after `min_nodes` have come, for
  // more. Later gatherings do not hold a last call.
  Duration last_call = std::chrono::seconds(30);

  // After a loss, how long survivors that are enough wait for a replacement.
  Duration wait_for_replacement = Duration::zero();

  // From the first signal to SIGKILL, on every path that stops workers.
  Duration shutdown_timeout = std::chrono::seconds(30);

  // An agent reports at least this often; after `keep_alive_misses` intervals
  // of silence it is taken for lost. Their product is the lease.
  Duration keep_alive_interval = std::chrono::seconds(2);
  int keep_alive_misses = 5;

  // How long an agent whose stream broke may take to come back. Much shorter
  // than the lease: a killed process breaks its stream at once.
  Duration reconnect_grace = std::chrono::milliseconds(500);

  ScaleUp scale_up = ScaleUp::kRestart;
  // A round runs at least this long before it is broken to let somebody in.
  Duration scale_up_cool_down = std::chrono::seconds(10);

  StoreHost store_host = StoreHost::kAgent;

  // How long workers may run after the notice of a preemption; then they are
  // stopped, within the shutdown time-out.
  Duration preempt_grace = std::chrono::seconds(120);

  // The command of a node's workers: how many were asked for, the interpreter,
  // the program and its arguments. Compared, and shown to nobody but a node
  // that is refused for it, since arguments may hold secrets. Empty: an agent
  // of an older version, which does not tell it.
  std::string command;
  // The nodes' commands may differ (--rdzv-conf=mixed_nodes=1).
  bool mixed_nodes = false;

  Duration lease() const { return keep_alive_interval * keep_alive_misses; }

  // InvalidArgument with one line that names the field and its bounds.
  absl::Status Validate() const;
};

// Why a node may not join a job.
struct Objection {
  std::string told;   // a sentence for the person who started the node
  std::string noted;  // the same for logs and status: without command lines
  // The node is one of another job, so that the coordinator is the wrong one.
  bool another_job = false;
};

// The first field in which `asked` contradicts the job in a way that would
// change its world, its budget or its program; nothing if they agree. The
// time-outs of the first node hold for all, without complaint.
std::optional<Objection> Disagreement(const JobSpec& job, const JobSpec& asked);

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_JOB_SPEC_H_
