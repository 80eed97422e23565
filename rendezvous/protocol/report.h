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
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/pair_check.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/progress.h"
#include "rendezvous/protocol/time_ledger.h"

namespace muster::rendezvous {

// Version of the messages. Peers with different versions refuse each other.
// Must be raised with each change of the messages that makes an older peer
// misinterpret them.
inline constexpr int kProtocolVersion = 3;

// Maximum length in bytes of each run id, node id, host name, address and role.
inline constexpr size_t kMaxNameBytes = 256;
// kMaxSlots: maximum number of workers of a node (NodeIdentity::slots).
// kMaxTopologyKeys: maximum number of network switches that a node names
// (NodeIdentity::topology).
inline constexpr int kMaxSlots = 16384;
inline constexpr int kMaxTopologyKeys = 16;

// kMaxNodeAddresses: maximum number of Report::addresses. kMaxAddressBytes:
// maximum length in bytes of each address, enough for an IPv6 address with a
// zone.
inline constexpr int kMaxNodeAddresses = 16;
inline constexpr size_t kMaxAddressBytes = 64;

// Maximum length in bytes of NodeIdentity::binding, a text about CPUs.
inline constexpr size_t kMaxBindingBytes = 200;

// Limits of NodeIdentity::gpus: the number of entries, and the length in bytes
// of each. The longest usual entry is the id of a MIG instance, 40 bytes.
inline constexpr int kMaxGpuNames = 256;
inline constexpr size_t kMaxGpuNameBytes = 64;

// Maximum length in bytes of Report::place_key, an agent's secret.
inline constexpr size_t kMaxPlaceKeyBytes = 64;

// Identity and properties of a node and of the agent that holds its place.
struct NodeIdentity {
  // Name of the node's place in the job. If the user or the cluster names the
  // node (--node-rank, a pod's index, --node-id), the name survives restarts of
  // the agent. Otherwise the name is unique to the agent.
  std::string node_id;
  // A random number that an agent creates at each start. It distinguishes
  // restarts of one node.
  uint64_t incarnation = 0;
  std::string host;  // host name; for people and for the order of nodes
  // The address to which peers connect: an IP address, or --local-addr.
  std::string address;
  int64_t pid = 0;
  int slots = 1;  // number of workers on this node
  // --node-rank; the node is refused if it cannot get this rank
  std::optional<int> node_rank;
  // The node's index in Slurm or Kubernetes. The index influences the order of
  // the nodes but, unlike `node_rank`, does not demand a certain rank.
  std::optional<int> index;
  // Keys of the network switches through which the node is connected, from the
  // outermost to the innermost. Nodes with equal keys get adjacent ranks.
  std::vector<std::string> topology;
  std::string role = "default";
  std::string binding;  // CPUs of the workers, as text; empty: unbound
  // The GPU of each worker, indexed by its local rank, in the notation of
  // CUDA_VISIBLE_DEVICES. Contains only the first kMaxGpuNames workers. Empty:
  // unknown.
  std::vector<std::string> gpus;
};

enum class NodePhase {
  kIdle,       // No worker and no descendant of a worker is left.
  kRunning,    // Workers of Report::round have been started.
  kStopping,   // Workers of Report::round are being stopped.
  kSucceeded,  // All workers of Report::round exited with 0; none is left.
};

// Whether a node in this phase may have processes of a round.
inline bool HasProcesses(NodePhase phase) {
  return phase == NodePhase::kRunning || phase == NodePhase::kStopping;
}

// A signal that this node's agent caught (--signals-to-forward), such as
// SIGUSR1. Every worker of the job must receive it; the signal does not end the
// job.
struct SignalNotice {
  // number of the signal in the order of arrival at the node, from 1
  uint64_t ordinal = 0;
  int signal = 0;
};

// A request to end the whole job because of Ctrl-C or SIGTERM at a node.
struct CancelWish {
  int signal = 15;
  bool at_once = false;  // set by a second Ctrl-C: SIGKILL at once
};

// Notice that the cluster's scheduler will take the job's nodes away
// (--signals-to-preempt): the workers write a last checkpoint, and the job
// ends. Every agent that knows the notice repeats it in each report, so that a
// new coordinator learns of it, too.
struct PreemptionNotice {
  int signal = 0;    // signal that announced the preemption
  std::string host;  // host that received `signal`
  // How long workers may still run, at the time when this message was made.
  Duration left = Duration::zero();
};

// The result of a node's health checks (--health-command, --health-checks).
enum class Health {
  kHealthy,  // The checks passed, or there are none.
  // The checks that follow a round or the agent's start have not ended yet.
  kUnchecked,
  kUnhealthy,  // A health check failed. The agent repeats the checks.
};

// The stop order by which a coordinator ended a round, as a node reports it.
struct RoundEnd {
  // The round that was ended (StopOrder::round). It is higher than
  // Report::round if this node has not begun that round.
  int round = 0;
  StopCause cause = StopCause::kBroken;
  // The job's exit code if the job ended with this round; nullopt: another
  // round followed (StopOrder::exit_code).
  std::optional<int> exit_code;
  std::string reason;  // Why the round ended: the text of Directive::reason.
  bool cancelled = false;  // value of StopOrder::cancelled
  // Directive::epoch and Directive::revision of the stop order. A coordinator
  // may send another stop order for the same round: of two orders with the same
  // epoch, the one with the higher revision is newer.
  uint64_t epoch = 0;
  uint64_t revision = 0;
};

// The state of a node, as its agent sends it to the coordinator. Each report is
// complete, so that a lost, repeated or late report needs no special treatment.
struct Report {
  int protocol_version = kProtocolVersion;
  std::string run_id;
  NodeIdentity node;
  // Number of the report; increases while the incarnation is the same. The
  // receiver drops a report whose number is not higher than the last one that
  // it received.
  uint64_t sequence = 0;
  // Epoch and revision of the newest directive that this node has received. If
  // the coordinator has a newer directive for the node, it sends that directive
  // again.
  uint64_t seen_epoch = 0;
  uint64_t seen_revision = 0;
  // The highest epoch that a coordinator or a standby has sent to this node. By
  // sending this value, the node promises to obey no coordinator with a lower
  // epoch. 0: none.
  uint64_t promised_epoch = 0;
  // HOST:PORT at which this node's process could coordinate the job; empty: it
  // cannot.
  std::string standby_endpoint;
  // Directive::electorate (the nodes whose votes count in a takeover) and
  // Directive::host_rank, from the newest directive with an electorate.
  Electorate electorate;
  // The world of the node before that of `place`, and the node's group rank
  // there; -1: there was none.
  WorldId previous_world;
  int previous_rank = -1;
  int host_rank = -1;
  JobSpec spec;
  NodePhase phase = NodePhase::kIdle;
  // The last round that this node started; 0: none yet.
  int round = 0;
  // The node's place in `round`, as the coordinator sent it, but without the
  // NCCL id, the store's clients and the channel key. nullopt: no round yet. A
  // coordinator without a record of the job needs the places to continue the
  // round.
  std::optional<Place> place;
  // The order with which the coordinator ended `round` or a later round;
  // nullopt: the node has received no such order.
  std::optional<RoundEnd> round_end;
  // Ordinal of the newest signal in Directive::signals that was sent to the
  // workers of `round`.
  uint64_t forwarded_signal = 0;
  // Number of restarts used, from the newest directive that contains it
  // (Directive::restarts_used).
  int restarts_used = 0;
  // How long ago the job began, as far as coordinators have told this node;
  // zero: unknown. Relative, because the clocks of machines differ.
  Duration job_age = Duration::zero();
  // Failures in `round`, in the order in which this node saw them.
  std::vector<Failure> failures;
  // How the process that served `round`'s NCCL id (the root, on this node)
  // ended: one line, cut to kMaxLineBytes. Empty: it has not ended.
  std::string nccl_root_lost;
  // A port on this node that is kept free for the next round's store, in case
  // this node becomes the master, which serves the store (group rank 0). 0:
  // none.
  int offered_master_port = 0;
  // IP addresses of this node's interfaces, from which its workers may connect
  // to the round's store. The coordinator adds the address from which this node
  // has connected.
  std::vector<std::string> addresses;
  // An NCCL id in hexadecimal digits for the next round, used if this node
  // becomes the master (group rank 0). Its root, the process that serves the
  // id, runs on this node. Valid for one world; empty: none.
  std::string offered_nccl_id;
  // A random secret that this agent creates at its start and sends only to the
  // coordinator. With the secret, an agent whose stream broke proves that it
  // held the node's place. Node id and incarnation prove nothing, because any
  // operator can see them. Empty: the agent is too old to have a key.
  std::string place_key;
  // The reason why this node wants to leave while the job continues; nullopt:
  // it does not.
  std::optional<std::string> leave;
  std::optional<CancelWish> cancel;
  // the newest signals that this node caught
  std::vector<SignalNotice> signals;
  std::optional<PreemptionNotice> preemption;
  // Whether this agent waits if another live agent holds this node's place.
  // Otherwise the coordinator refuses this agent.
  bool waits_for_place = false;
  Health health = Health::kHealthy;
  // The reason if `health` is kUnhealthy: one line, cut to kMaxLineBytes.
  std::string unhealthy;
  // The newest faults of this node that its agent has seen, oldest first.
  std::vector<NodeFault> faults;
  // The port that this node keeps free to measure connections with other nodes
  // (PairCheck). 0: the node takes part in no measurement.
  int check_port = 0;
  // The maximum number of this node's GPUs that take part in a measurement with
  // another node (PairCheck). 0: the node has no GPU.
  int check_gpus = 0;
  // The result of this node's newest measurement with another node (PairCheck);
  // nullopt: there was none, or it is in progress.
  std::optional<PairMeasurement> measurement;
  // Why the check by pairs (--network-check) found this node bad, from the
  // newest directive with the result (Directive::check_fault). Repeated in each
  // report, so that a new coordinator learns it.
  std::string check_fault;
  // Progress of those workers of `round` that have reported any. A change of
  // progress alone does not cause a report.
  std::vector<WorkerProgress> progress;
  // The times inside and outside of collectives, for those workers of `round`
  // that measure them.
  std::vector<RankTimes> times;
  NodeTime time;

  // Whether the node knows a round that a coordinator has begun.
  bool knows_round() const { return place.has_value() || electorate.nodes > 0; }
};

inline constexpr int kMaxSignalNotices = 8;

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_REPORT_H_
