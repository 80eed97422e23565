#ifndef MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "rendezvous/protocol/directive.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/report.h"

namespace muster {

// A connection of an agent, numbered by the driver; never used twice.
using StreamId = uint64_t;

// What can happen to a job.
struct ReportArrived {
  StreamId stream = 0;
  Report report;
};
struct StreamClosed {
  StreamId stream = 0;
};
struct CancelAsked {
  std::string reason;  // who asked, for the verdict
};
// Takes one node out of the job for good (by node id or by host name).
struct DrainAsked {
  std::string node;
};
struct TimePassed {};

using JobEvent = std::variant<ReportArrived, StreamClosed, CancelAsked,
                              DrainAsked, TimePassed>;

// What the driver shall do, in this order.
struct Delivery {
  StreamId stream = 0;
  Directive directive;
};
struct JobStep {
  std::vector<Delivery> deliveries;
  std::vector<Decision> decisions;
  // Empty unless an asked-for change (cancel, drain) was not possible: why.
  std::string refusal;
};

}  // namespace muster

#endif  // MUSTER_RENDEZVOUS_JOB_JOB_STEP_H_
