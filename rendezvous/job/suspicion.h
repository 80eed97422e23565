#ifndef MUSTER_RENDEZVOUS_JOB_SUSPICION_H_
#define MUSTER_RENDEZVOUS_JOB_SUSPICION_H_

#include <optional>

#include "rendezvous/job/directives.h"
#include "rendezvous/job/job_state.h"
#include "rendezvous/job/membership.h"
#include "rendezvous/protocol/job_status.h"
#include "rendezvous/protocol/report.h"

namespace muster::rendezvous {

// What makes the nodes of a job suspicious: slow ranks, faults that their
// agents report, and the judgement of their machines. Pure. A persistently slow
// rank, except one that waits for its data, and an error of a GPU make a check
// by pairs due before the next round (PairChecks::Suspect).

// Call it in each step of the job. If a comparison is due
// (StragglerWatch::IsDue), compares the times of the running round's ranks, and
// notes in `outbox` which ranks have become slow and which have recovered. O(n
// log n) if a comparison is due, else O(1).
void WatchStragglers(JobState& state, Outbox& outbox);
// A persistently slow rank whose node must leave, because a spare can take its
// place (JobSpec::evict_stragglers); nullopt: none.
std::optional<SlowRank> StragglerToEvict(const JobState& state);
// Copies the judgement of the node's machine (for example, quarantined) from
// JobState::hosts to the node.
void JudgeMachine(JobState& state, Outbox& outbox, Node& node);
// Adds the new faults in the node's report to the faults of its machine.
void TakeFaults(JobState& state, Outbox& outbox, Node& node,
                const Report& report);

}  // namespace muster::rendezvous

#endif  // MUSTER_RENDEZVOUS_JOB_SUSPICION_H_
