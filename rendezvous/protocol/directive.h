#ifndef MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

enum class DirectiveKind {
  kWait,  // Run no workers; `reason` says what the node waits for.
  // Keep the workers as they are: a new coordinator collects the reports of
  // the nodes before it decides.
  kHold,
  // As kHold; from a coordinator that stands by. It takes over once a majority
  // has come to it and has promised `epoch`. Until then this directive replaces
  // no other one. Epoch 0: no majority has come yet.
  kStandBy,
  // Another process coordinates the job: connect to the first of `standbys`.
  // Replaces no other directive.
  kMoved,
  kRun,       // Run the workers of `place`.
  kStop,      // Stop all workers of round `stop.round` and earlier.
  kFinished,  // The job is over: stop what runs, show `verdict`, exit.
  kReleased,  // Only this node is done (drained, left): stop, exit with 0.
  kRefused,   // This node is not part of the job: stop, exit with 1.
};

// kWait: what the node waits for.
enum class WaitsFor {
  kNodes,  // the next round
  kPlace,  // a place in the round that runs without it, as a spare
};

struct StopOrder {
  int round = 0;
  int signal = 15;  // the first signal sent to each worker, such as SIGTERM
  Duration grace = Duration::zero();  // time from `signal` to SIGKILL
  StopCause cause = StopCause::kBroken;
  // The job's exit code, if the job ends with this round; nullopt: a further
  // round follows.
  std::optional<int> exit_code;
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
  WaitsFor waits_for = WaitsFor::kNodes;  // used if `kind` is kWait
  Place place;                            // used if `kind` is kRun
  StopOrder stop;   // used for kStop, kFinished, kReleased, kRefused
  Verdict verdict;  // used if `kind` is kFinished
  // kRun: the last few signals that every worker of the job shall receive.
  std::vector<SignalNotice> signals;
  // kRun, kStop: set if the job is being preempted and begins no further round.
  std::optional<PreemptionNotice> preemption;
  // The part of the job's restart budget that is used; nullopt: this
  // coordinator is new and does not know it yet.
  std::optional<int> restarts_used;
  // The newest electorate. Its epoch is that of the directive or, if nobody
  // takes over from this coordinator or it does not know yet, 0: then this
  // field and the next two replace no earlier ones.
  Electorate electorate;
  // Where the job's coordinator is looked for, in this order, once this one is
  // lost: HOST:PORT of each standby.
  std::vector<std::string> standbys;
  // The group rank, in the newest world, of the node whose process hosts this
  // coordinator; -1: none.
  int host_rank = -1;
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
