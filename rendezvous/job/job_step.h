#ifndef MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// Number that the coordinator assigns to an agent's connection; never reused.
using StreamId = uint64_t;

// An event: a report has arrived on a stream. All events of a job are the
// alternatives of JobEvent.
struct ReportArrived {
  StreamId stream = 0;
  Report report;
  // The IP address from which the stream comes; empty: from the coordinator's
  // own process.
  std::string peer;
};
struct StreamClosed {
  StreamId stream = 0;
};
// An event: a node's agent and workers have died. The agent ran in the process
// of an earlier coordinator, which has ended.
struct AgentDied {
  std::string node_id;
};
struct CancelAsked {
  // the caller and the reason of the cancel; part of the verdict
  std::string reason;
};
// An event: an operator asks to remove one node from the job. A restarted agent
// of that node may join again. `node`: a node id or a host name.
struct DrainAsked {
  std::string node;
  std::string principal;  // the operator's name; empty: unknown
};
// An event: a coordinator or a standby in another process has announced its
// epoch, `epoch`.
struct CoordinatorTold {
  uint64_t epoch = 0;
  Backing backing = Backing::kMajority;
};
// An event: the coordinator trusts a machine more or less than before, or has
// recorded the machines' faults that an earlier step returned
// (JobStep::faults).
struct HostsJudged {
  // the machines that are suspected, quarantined or banned; null: none
  std::shared_ptr<const HostView> view;
  // the machines for Handover::machines; null: unchanged
  std::shared_ptr<const std::string> machines;
};
struct TimePassed {};

using JobEvent =
    std::variant<ReportArrived, StreamClosed, AgentDied, CancelAsked,
                 DrainAsked, CoordinatorTold, HostsJudged, TimePassed>;

// An action of a step: the coordinator sends a directive to one agent. The
// actions of a step are carried out in the order of the fields of JobStep.
struct Delivery {
  StreamId stream = 0;
  Directive directive;
};
struct JobStep {
  // Whether the job's record (Job::Record) has changed. If a journal is kept,
  // the new record must be durable before `deliveries` are sent.
  bool record_changed = false;
  std::vector<Delivery> deliveries;
  std::vector<Decision> decisions;
  // Faults that count against machines. The coordinator records them
  // (NodeMemory) and answers at once with the event HostsJudged. Until then, no
  // new world forms.
  std::vector<HostFault> faults;
  // Whether another coordinator has a higher epoch. If so, this coordinator
  // sends no more directives for the job.
  bool deposed = false;
  // The reason why an operator's request (cancel, drain) was refused; empty: no
  // request was refused.
  std::string refusal;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
