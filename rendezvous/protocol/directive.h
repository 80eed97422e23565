#ifndef MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
#define MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rendezvous/protocol/electorate.h"
#include "rendezvous/protocol/inquiry.h"
#include "rendezvous/protocol/pair_check.h"
#include "rendezvous/protocol/place.h"
#include "rendezvous/protocol/report.h"
#include "rendezvous/protocol/time_ledger.h"
#include "rendezvous/protocol/verdict.h"

namespace muster::rendezvous {

enum class DirectiveKind {
  kWait,  // Run no workers; `reason` tells what the node waits for.
  // Change nothing: workers that run continue, and no workers are started. A
  // new coordinator sends this kind while it collects the nodes' reports.
  kHold,
  // Change nothing, as with kHold. The sender is a standby. It takes over once
  // a majority of the nodes have connected to it and promised to obey no
  // coordinator with an epoch lower than `epoch`. Until then the node keeps the
  // last directive of its coordinator. `epoch` is 0 as long as no majority is
  // connected.
  kStandBy,
  // Another process coordinates the job: connect to the first of `standbys`.
  // The node keeps the last directive of its coordinator.
  kMoved,
  kRun,       // Run the workers as `place` describes.
  kStop,      // Stop all workers of round `stop.round` and earlier.
  kFinished,  // The job is over: stop workers, show `verdict`, exit.
  kReleased,  // This node alone leaves the job: stop, exit with 0.
  kRefused,   // This node is not part of the job: stop, exit with 1.
};

// The condition for which a node with a kWait directive waits.
enum class WaitsFor {
  kNodes,  // the start of the next round, and the nodes that it needs
  kPlace,  // the node is a spare: it waits for a place in the running round
};

struct StopOrder {
  int round = 0;
  int signal = 15;                    // first signal to each worker (SIGTERM)
  Duration grace = Duration::zero();  // time from `signal` to SIGKILL
  StopCause cause = StopCause::kBroken;
  // The job's exit code, if the job ends with this round; nullopt: another
  // round follows.
  std::optional<int> exit_code;
  // Whether the job ends because it was cancelled. The cancel may come while a
  // broken round stops, so `cause` may be kBroken.
  bool cancelled = false;
};

// What the coordinator hands over to the standbys that it names, so that one of
// them knows it after a takeover although no node reports it. Bounded.
struct Handover {
  // Maximum number of `released`, and maximum length of `machines`.
  static constexpr size_t kMaxReleased = 64;
  static constexpr size_t kMaxMachinesBytes = 64 << 10;

  // An agent that was drained or has left the job. It gets no place any more;
  // a restarted agent of the node may join again.
  struct Released {
    std::string node_id;
    uint64_t incarnation = 0;
    bool operator==(const Released&) const = default;
  };
  // The sender's number of changes of the handover. Several directives with one
  // revision may have different handovers, of which the highest number counts.
  uint64_t number = 0;
  std::vector<Released> released;  // newest first
  // The machines with the most faults, and the banned ones
  // (HostWatch::Version::machines), as bytes; empty: none.
  std::string machines;
  // Why the newest rounds ended early: Incident::round, cause, host and why,
  // oldest round first; at most kMaxIncidents. The nodes report what these ends
  // have cost them.
  std::vector<Incident> incidents;
  // Whether the nodes must be checked by pairs before the next round.
  bool check_is_due = false;

  // Adds an incident to `incidents`; forgets the oldest one if there are too
  // many.
  void Count(const Incident& incident) {
    incidents.push_back(incident);
    if (incidents.size() > kMaxIncidents) incidents.erase(incidents.begin());
    ++number;
  }
  // Adds an agent to `released`; forgets the oldest one if there are too many.
  void Release(const Released& agent) {
    std::erase(released, agent);
    released.insert(released.begin(), agent);
    if (released.size() > kMaxReleased) released.pop_back();
    ++number;
  }
  bool operator==(const Handover&) const = default;
};

// The desired state of one node. Like a report, a directive is complete: it
// replaces all earlier ones.
struct Directive {
  int protocol_version = kProtocolVersion;
  // `epoch` identifies the run of the coordinator that sends the directive.
  // `revision` increases from directive to directive within an epoch. If a
  // directive is older than the newest one that an agent has received, the
  // agent drops it.
  uint64_t epoch = 0;
  uint64_t revision = 0;
  DirectiveKind kind = DirectiveKind::kWait;
  std::string reason;
  WaitsFor waits_for = WaitsFor::kNodes;  // for kWait: what the node waits for
  // For kRun: the place of the node in the round.
  Place place;
  // For kRun: the sequence number of the newest report of this node that the
  // coordinator had when it sent this directive; 0: unknown.
  uint64_t answered_report = 0;
  StopOrder stop;   // for kStop, kFinished, kReleased, kRefused: how to stop
  Verdict verdict;  // for kFinished: why the job ended
  // For kRun: the newest signals, which every worker of the job must receive.
  std::vector<SignalNotice> signals;
  // For kRun and kStop: set if the job is being preempted. No further round
  // begins then.
  std::optional<PreemptionNotice> preemption;
  // Number of restarts used so far; nullopt: this coordinator is new and does
  // not know it yet.
  std::optional<int> restarts_used;
  // How long ago the job began; zero: this coordinator is new and does not know
  // it yet.
  Duration job_age = Duration::zero();
  // The newest electorate (the nodes that elect a coordinator).
  // Electorate::epoch is the epoch of this directive. It is 0 if no other node
  // may take over, or if the coordinator does not know the electorate yet. The
  // agent then keeps its earlier values of `electorate`, `standbys` and
  // `host_rank`.
  Electorate electorate;
  // HOST:PORT of the standbys, in order. If the current coordinator is lost,
  // agents look there for the job's coordinator.
  std::vector<std::string> standbys;
  // Set in each directive to the node of one of `standbys`.
  std::optional<Handover> handover;
  // The group rank of the node whose process is this coordinator, in the newest
  // world; -1: this coordinator is not in a node's process.
  int host_rank = -1;
  // For kRefused: whether the node has reached the wrong coordinator. The node
  // may then try again, because the right coordinator may listen on the same
  // endpoint later.
  bool another_job = false;
  // For kFinished: whether this node is the one that acts for the job, for
  // instance by requeueing it.
  bool acts_for_job = false;
  // For kFinished of a job that has succeeded: whether the node had a place in
  // the last round, perhaps before its agent was restarted. Also true if the
  // coordinator knows the job's end only from a record. False: an agent that
  // has run no round reports that its program never ran.
  bool took_part = false;
  // For kWait, kRun and kStop: whether this node prints the directive, if the
  // outputs of the nodes share a console. True if the directive concerns this
  // node alone, or if this node prints for the whole job.
  bool prints_for_job = false;
  // For kWait: the measurement that this node performs with another node;
  // nullopt: none.
  std::optional<PairCheck> pair_check;
  // For kWait and kRun: why the check by pairs (--network-check) found this
  // node bad; empty: it found nothing bad.
  std::string check_fault;
  // The open questions of operators (`launch logs`, `launch stacks`) that this
  // node should answer. These questions are no part of the job's state: the
  // coordinator adds them to each directive that it sends, and a change of them
  // does not change the revision.
  std::vector<Inquiry> inquiries;
};

// Converts an order to stop (kStop) to the value of Report::round_end with
// which the node then reports how its round ended.
inline RoundEnd EndToldBy(const Directive& directive) {
  return {.round = directive.stop.round,
          .cause = directive.stop.cause,
          .exit_code = directive.stop.exit_code,
          .reason = directive.reason,
          .cancelled = directive.stop.cancelled,
          .epoch = directive.epoch,
          .revision = directive.revision};
}

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_PROTOCOL_DIRECTIVE_H_
