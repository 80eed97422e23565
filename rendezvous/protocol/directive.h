#ifndef MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster {

enum class DirectiveKind {
  kWait,      // Run nothing; `reason` says what is waited for.
  kRun,       // Run the workers of `place`.
  kStop,      // Have no worker of `stop.round` or before.
  kFinished,  // The job is over: stop what runs, show `verdict`, exit.
  kReleased,  // This node alone is done (drained, left): stop, exit with 0.
  kRefused,   // This node has no part in the job: stop, exit with 1.
};

// One node's part of a round's world.
struct Place {
  int round = 0;
  int group_rank = 0;
  int group_world_size = 1;
  int first_rank = 0;  // the global rank of this node's local rank 0
  int world_size = 1;
  int role_first_rank = 0;
  int role_world_size = 1;
  int restart_count = 0;  // failures so far; membership changes do not count
  std::string master_address;
  int master_port = 0;
  // The world's NCCL id, from the node of group rank 0; empty: none.
  std::string nccl_id;
};

// Whether the workers that are to stop can still wait for one another.
enum class StopCause {
  kBroken,  // Somebody failed or is lost: who waits for a peer waits in vain.
  kAsked,   // All are there (a drain, somebody is let in), and may agree on a
            // last checkpoint within the grace.
  kCancelled,  // As kAsked, and the job ends: somebody wants it to.
};

struct StopOrder {
  int round = 0;
  int signal = 15;                    // the first signal
  Duration grace = Duration::zero();  // until SIGKILL
  StopCause cause = StopCause::kBroken;
};

// What a node should be. As a report, it holds the whole truth.
struct Directive {
  int protocol_version = kProtocolVersion;
  // Which life of the coordinator speaks. Revisions of one epoch count up; an
  // agent drops what is older than what it has.
  uint64_t epoch = 0;
  uint64_t revision = 0;
  DirectiveKind kind = DirectiveKind::kWait;
  std::string reason;
  Place place;      // kRun
  StopOrder stop;   // kStop, kFinished, kReleased, kRefused
  Verdict verdict;  // kFinished
  // kRun: signals that every worker of the job shall get, the last few.
  std::vector<SignalNotice> signals;
  // kRun, kStop: the job is being preempted, and begins no further round.
  std::optional<PreemptionNotice> preemption;
  // kRefused: this coordinator, or the job that it has, is not this node's. The
  // right one may come to the same endpoint later.
  bool another_job = false;
  // kFinished: of all nodes this one acts for the job, such as to put it back
  // into its cluster's queue.
  bool acts_for_job = false;
  // kWait, kRun, kStop: where the nodes' outputs flow together, this one says
  // what the directive says. It concerns this node alone; or the job, and this
  // is the one that speaks for it.
  bool said_here = false;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
