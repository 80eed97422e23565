#ifndef MUSTER_RENDEZVOUS_JOB_JOB_H_
#define MUSTER_RENDEZVOUS_JOB_JOB_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "rendezvous/job/job_step.h"
#include "rendezvous/job/node.h"
#include "rendezvous/protocol/job_spec.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/time.h"

namespace muster {

// Membership and rounds of one job, as a pure state machine: gather, run,
// stop, gather again, finish. See docs/ARCHITECTURE.md for its table.
//
// Not thread-safe; performs nothing. The driver calls Step with everything
// that happens, does what the step says, and calls Step with TimePassed when
// NextDeadline has come. A step costs O(log n) of the nodes, save those that
// form or break a world, which cost O(n log n).
class Job {
 public:
  // `spec` must be valid. `epoch` names this life of the coordinator.
  Job(std::string run_id, uint64_t epoch, JobSpec spec, Instant now);

  // `now` must not run backwards.
  JobStep Step(Instant now, const JobEvent& event);

  // When Step must be called with TimePassed at the latest, if nothing else
  // happens. Nothing: never.
  std::optional<Instant> NextDeadline() const;

  // O(n). Nodes: members by group rank, then the others by id.
  JobStatus Status(Instant now) const;

  const std::string& run_id() const { return run_id_; }
  JobPhase phase() const { return phase_; }
  bool finished() const { return phase_ == JobPhase::kFinished; }
