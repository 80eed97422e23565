#ifndef MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/progress.h"

namespace muster {

// Raised when the meaning of the messages changes in a way that an older peer
// would misread. Both sides name theirs; unequal ones are refused.
inline constexpr int kProtocolVersion = 2;

// Of NodeIdentity::binding.
inline constexpr size_t kMostBindingBytes = 200;

// Who holds a node's place.
struct NodeIdentity {
  // The place. Stable over restarts of the agent where something outside names
  // the node (--node-rank, a pod's index, --node-id), else unique to the agent.
  std::string node_id;
  // Random, one for each start of an agent: tells its restarts apart.
  uint64_t incarnation = 0;
  std::string host;     // for people and for the natural order
  std::string address;  // what peers dial: an IP address, or --local-addr
  int64_t pid = 0;
  int slots = 1;                 // workers on this node
  std::optional<int> node_rank;  // --node-rank: honoured or refused
  std::optional<int> index;      // Slurm's or Kubernetes' number: a preference
  // From the outermost to the innermost switch; nodes with equal keys are
  // given neighbouring ranks.
  std::vector<std::string> topology;
  std::string role = "default";
  std::string binding;  // its workers' CPUs, for people; empty: not bound
};

enum class NodePhase {
  kIdle,       // No worker and no descendant of one is left.
  kRunning,    // Workers of `round` have been started.
  kStopping,   // Workers of `round` are being stopped.
  kSucceeded,  // Every worker of `round` exited with 0, nothing is left.
};

// A signal that this node caught and that every worker of the job shall get
// (--signals-to-handle) without ending the job: SIGUSR1, SIGUSR2.
struct SignalNotice {
  uint64_t ordinal = 0;  // counts up from 1
  int signal = 0;
};

// A wish to end the whole job: Ctrl-C, SIGTERM at a node.
struct CancelWish {
  int signal = 15;
  bool at_once = false;  // the second Ctrl-C: no grace
};

// A cluster takes the job's nodes away (--signals-to-preempt): the whole job
// writes what it must keep, and ends. Every agent that knows of it reports it,
// so that neither a reconnect nor a new coordinator forgets it.
struct PreemptionNotice {
  int signal = 0;    // that announced it
  std::string host;  // where it came
  // How much longer workers may run, when the message that holds this was made.
  Duration left = Duration::zero();
};

// Whether a node has passed its checks (--health-check, --node-checks).
enum class Fitness {
  kFit,        // It has, or there are none.
  kUnchecked,  // They have not ended yet, since the last round or the start.
  kUnfit,      // It has not; it is looked at again and again.
};

// What a node is: its whole truth in each message, so that a lost, repeated or
// late one needs no special case.
struct Report {
  int protocol_version = kProtocolVersion;
  std::string run_id;
  NodeIdentity node;
  // Counts up within an incarnation; the receiver drops what is older than
  // what it has.
  uint64_t sequence = 0;
  // The newest directive that this node has seen; an older one than was sent
  // makes the coordinator send again.
  uint64_t seen_epoch = 0;
  uint64_t seen_revision = 0;
  JobSpec spec;
  NodePhase phase = NodePhase::kIdle;
  // The last round that this node started, 0 before the first.
  int round = 0;
  std::vector<Failure> failures;  // of `round`, in the order seen here
  // How the process ended that hosted the root of `round`'s NCCL id here; one
  // line, cut to kMostLineBytes; empty: it has not.
  std::string nccl_root_lost;
  // A port free on this node, held for the next round should it become the
  // master. 0: none.
  int offered_master_port = 0;
  // An NCCL id whose root lives on this node, likewise, in hexadecimal digits.
  // Serves one world; empty: none.
  std::string offered_nccl_id;
  // Set once this node wants to go while the job goes on; the reason.
  std::optional<std::string> leave;
  std::optional<CancelWish> cancel;
  std::vector<SignalNotice> signals;  // the last few
  std::optional<PreemptionNotice> preemption;
  // If another incarnation holds this node's place and is alive, this one waits
  // for its end instead of being refused.
  bool waits_for_place = false;
  Fitness fitness = Fitness::kFit;
  std::string unfit;  // kUnfit: why; one line, cut to kMostLineBytes
  // Of the workers of `round` that have said something. It rides along: news of
  // it alone does not make a report.
  std::vector<WorkerProgress> progress;
};

inline constexpr int kMostSignalNotices = 8;

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_
