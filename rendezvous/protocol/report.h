#ifndef MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/failure.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// Increased when the meaning of the messages changes in a way that an older
// peer would misread. Peers with unequal versions refuse each other.
inline constexpr int kProtocolVersion = 3;

// Limit of run ids, node ids, host names, addresses and roles.
inline constexpr size_t kMaxNameBytes = 256;
// Limits of NodeIdentity::slots and the number of NodeIdentity::topology.
inline constexpr int kMaxSlots = 16384;
inline constexpr int kMaxTopologyKeys = 16;

// Limits of the number of Report::addresses and the length of each: an IPv6
// address with a zone.
inline constexpr int kMaxNodeAddresses = 16;
inline constexpr size_t kMaxAddressBytes = 64;

// Limit of NodeIdentity::binding.
inline constexpr size_t kMaxBindingBytes = 200;

// Limit of Report::place_key.
inline constexpr size_t kMaxPlaceKeyBytes = 64;

// The agent that holds a node's place.
struct NodeIdentity {
  // Name of the place. Stable over restarts of the agent if something outside
  // names the node (--node-rank, a pod's index, --node-id); else unique to the
  // agent.
  std::string node_id;
  // A random number for each start of an agent, to tell restarts apart.
  uint64_t incarnation = 0;
  std::string host;  // host name; for people and for the order of nodes
  // The address that peers connect to: an IP address, or --local-addr.
  std::string address;
  int64_t pid = 0;
  int slots = 1;                 // number of workers on this node
  std::optional<int> node_rank;  // value of --node-rank: honoured or refused
  std::optional<int> index;      // index from Slurm or Kubernetes: a preference
  // Switches from the outermost to the innermost; nodes with equal keys get
  // adjacent ranks.
  std::vector<std::string> topology;
  std::string role = "default";
  std::string binding;  // CPUs of the workers, for people; empty: not bound
};

enum class NodePhase {
  kIdle,       // No worker and no descendant of one is left.
  kRunning,    // Workers of `round` have been started.
  kStopping,   // Workers of `round` are being stopped.
  kSucceeded,  // Every worker of `round` exited with 0; no descendant is left.
};

// Whether processes of a round may be left on a node in this phase.
inline bool HasProcesses(NodePhase phase) {
  return phase == NodePhase::kRunning || phase == NodePhase::kStopping;
}

// A signal that this node caught (--signals-to-forward), such as SIGUSR1. Every
// worker of the job shall receive it; it does not end the job.
struct SignalNotice {
  // from 1, increasing with each signal that the node catches
  uint64_t ordinal = 0;
  int signal = 0;
};

// A request to end the whole job: Ctrl-C or SIGTERM at a node.
struct CancelWish {
  int signal = 15;
  bool at_once = false;  // set by the second Ctrl-C: no grace
};

// Notice that the cluster takes the job's nodes away (--signals-to-preempt):
// the workers write a last checkpoint, and the job ends. Every agent that knows
// the notice reports it, so that it survives reconnects and new coordinators.
struct PreemptionNotice {
  int signal = 0;    // the signal that announced the preemption
  std::string host;  // the host that received `signal`
  // Time that workers may still run, when this message was made.
  Duration left = Duration::zero();
};

// The result of a node's checks (--health-command, --health-checks).
enum class Health {
  kHealthy,  // The checks passed, or there are none.
  // The checks since the last round or the start have not ended yet.
  kUnchecked,
  kUnhealthy,  // The checks failed; they are repeated.
};

// An order of the coordinator that ended a round.
struct RoundEnd {
  StopCause cause = StopCause::kBroken;
  std::optional<int> exit_code;  // StopOrder::exit_code
  std::string reason;            // Directive::reason
};

// The state of a node. Each report is complete, so that a lost, repeated or
// late one needs no special case.
struct Report {
  int protocol_version = kProtocolVersion;
  std::string run_id;
  NodeIdentity node;
  // Increases within an incarnation; the receiver drops a report that is not
  // newer than its last one.
  uint64_t sequence = 0;
  // The newest directive that this node has seen. If it is older than the last
  // one sent, the coordinator sends that again.
  uint64_t seen_epoch = 0;
  uint64_t seen_revision = 0;
  // The highest epoch that this node has been told. It obeys no coordinator
  // with a lower one. 0: none.
  uint64_t promised_epoch = 0;
  // Where this node's process can coordinate the job, HOST:PORT; empty: it
  // cannot.
  std::string standby_endpoint;
  // The newest Directive::electorate and, from the same directive, host_rank.
  Electorate electorate;
  int host_rank = -1;
  JobSpec spec;
  NodePhase phase = NodePhase::kIdle;
  // The last round that this node started, 0 before the first.
  int round = 0;
  // The node's place in `round`, as the coordinator gave it, without the NCCL
  // id, the store's clients and the key: a coordinator that has no record of
  // the job adopts the round from these. nullopt: before the first round.
  std::optional<Place> place;
  // How the coordinator ended `round`; nullopt: this node was not told so.
  std::optional<RoundEnd> round_end;
  // Ordinal of the newest of Directive::signals that the workers of `round`
  // got.
  uint64_t forwarded_signal = 0;
  // Directive::restarts_used of the newest directive that has it.
  int restarts_used = 0;
  // Failures of `round`, in the order seen on this node.
  std::vector<Failure> failures;
  // How the process ended that hosted the root of `round`'s NCCL id on this
  // node: one line, cut to kMaxLineBytes; empty: it has not ended.
  std::string nccl_root_lost;
  // A port on this node, held free for the next round in case this node becomes
  // the master. 0: none.
  int offered_master_port = 0;
  // IP addresses of this node's interfaces, from which its workers may connect
  // to the round's store. The coordinator adds the address that it sees.
  std::vector<std::string> addresses;
  // An NCCL id whose root runs on this node, for the next round in case this
  // node becomes the master, in hexadecimal digits. Usable for one world;
  // empty: none.
  std::string offered_nccl_id;
  // A secret of this agent, drawn at its start and shown to the coordinator
  // only. An agent whose stream broke proves by it that it is the one that held
  // the node's place; its node id and incarnation are known to every operator.
  // Empty: sent by an older agent that has none.
  std::string place_key;
  // Set once this node wants to leave while the job continues; the reason.
  std::optional<std::string> leave;
  std::optional<CancelWish> cancel;
  std::vector<SignalNotice> signals;  // newest signals that this node caught
  std::optional<PreemptionNotice> preemption;
  // Whether this agent waits, instead of being refused, if another live
  // incarnation holds its node's place.
  bool waits_for_place = false;
  Health health = Health::kHealthy;
  // If `health` is kUnhealthy, the reason: one line, cut to kMaxLineBytes.
  std::string unhealthy;
  // Progress of the workers of `round` that have reported any. A change of
  // progress alone causes no report.
  std::vector<WorkerProgress> progress;
  NodeTime time;
};

inline constexpr int kMaxSignalNotices = 8;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_
