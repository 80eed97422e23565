#ifndef MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// The number that the driver gives to an agent's connection; never reused.
using StreamId = uint64_t;

// The events of a job.
struct ReportArrived {
  StreamId stream = 0;
  Report report;
  // The IP address that the stream comes from; empty: the coordinator's own
  // process.
  std::string peer;
};
struct StreamClosed {
  StreamId stream = 0;
};
// The agent of a node has died, and so have its workers, because it was in the
// process of an earlier coordinator.
struct AgentDied {
  std::string node_id;
};
struct CancelAsked {
  std::string reason;  // who asks for the cancel, and why; part of the verdict
};
// Removes one node, named by node id or host name, from the job for good.
struct DrainAsked {
  std::string node;
  std::string principal;  // who asks for it; empty: unknown
};
// Another coordinator says that it coordinates the job, with this epoch.
struct CoordinatorTold {
  uint64_t epoch = 0;
  Backing backing = Backing::kMajority;
};
struct TimePassed {};

using JobEvent =
    std::variant<ReportArrived, StreamClosed, AgentDied, CancelAsked,
                 DrainAsked, CoordinatorTold, TimePassed>;

// The actions that the driver carries out, in this order.
struct Delivery {
  StreamId stream = 0;
  Directive directive;
};
struct JobStep {
  // Whether the job's record has changed (Job::Record): if a journal is kept,
  // the new record must be durable before `deliveries` leave.
  bool record_changed = false;
  std::vector<Delivery> deliveries;
  std::vector<Decision> decisions;
  // Another coordinator has a higher epoch: this one gives no orders any more,
  // and the driver puts a Standby in its place.
  bool deposed = false;
  // The reason why a requested change (cancel, drain) was not possible; else
  // empty.
  std::string refusal;
};

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
