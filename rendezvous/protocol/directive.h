#ifndef MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

enum class DirectiveKind {
  kWait,      // Run no workers; `reason` says what the node waits for.
  kRun,       // Run the workers of `place`.
  kStop,      // Stop all workers of round `stop.round` and earlier.
  kFinished,  // The job is over: stop what runs, show `verdict`, exit.
  kReleased,  // Only this node is done (drained, left): stop, exit with 0.
  kRefused,   // This node is not part of the job: stop, exit with 1.
};

// Limit of the number of Place::store_clients.
inline constexpr int kMaxStoreClients = 65536;

// The place of one node in a round's world.
struct Place {
  int round = 0;
  int group_rank = 0;
  int group_world_size = 1;
  int first_rank = 0;  // the global rank of this node's local rank 0
  int world_size = 1;
  int role_first_rank = 0;
  int role_world_size = 1;
  int restart_count = 0;  // failures so far, without membership changes
  std::string master_address;
  int master_port = 0;
  // The world's NCCL id, offered by the node of group rank 0; empty: none.
  std::string nccl_id;
  // Tells this run of the job from others of its run id; the same on all nodes
  // and in every round. Names the run's log folder. Empty: an older coordinator
  // has none.
  std::string run_tag;
  // group_rank 0 only: the addresses of the round's nodes, at least one for
  // each node. The round's store serves no other hosts. Each is an IP address
  // or the host name of --local-addr. Empty: the coordinator is an older one.
  std::vector<std::string> store_clients;
  // Encryption::kWorkers: the round's secret key, kChannelKeyBytes random
  // bytes, the same on all nodes. Else, and from an older coordinator, empty.
  // Must not stand in a text, a status or an environment.
  std::string channel_key;
};

// Whether the workers that are to stop can still communicate with one another.
enum class StopCause {
  kBroken,  // A worker failed or a node is lost: waiting for a peer is in vain.
  // All workers are alive (a drain, a scale-up), and may agree on a last
  // checkpoint within the grace.
  kAsked,
  kCancelled,  // As kAsked, and the job ends: it was cancelled.
};

struct StopOrder {
  int round = 0;
  int signal = 15;  // the first signal sent to each worker, such as SIGTERM
  Duration grace = Duration::zero();  // time from `signal` to SIGKILL
  StopCause cause = StopCause::kBroken;
};

// The desired state of one node. Like a report, a directive is complete: it
// replaces all earlier ones.
struct Directive {
  int protocol_version = kProtocolVersion;
  // Identifies the run of the coordinator. Revisions increase within an epoch;
  // an agent drops a directive that is older than its newest one.
  uint64_t epoch = 0;
  uint64_t revision = 0;
  DirectiveKind kind = DirectiveKind::kWait;
  std::string reason;
  Place place;      // used if `kind` is kRun
  StopOrder stop;   // used for kStop, kFinished, kReleased, kRefused
  Verdict verdict;  // used if `kind` is kFinished
  // kRun: the last few signals that every worker of the job shall receive.
  std::vector<SignalNotice> signals;
  // kRun, kStop: set if the job is being preempted and begins no further round.
  std::optional<PreemptionNotice> preemption;
  // kRefused: this coordinator, or its job, is not the one of this node. The
  // right one may listen at the same endpoint later.
  bool another_job = false;
  // kFinished: whether this node, as the only one, acts for the job, for
  // instance by requeueing it.
  bool acts_for_job = false;
  // kWait, kRun, kStop: whether this node prints the directive, where the
  // nodes' outputs share a console. True if the directive concerns this node
  // alone, or if this node speaks for the job.
  bool prints_for_job = false;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
