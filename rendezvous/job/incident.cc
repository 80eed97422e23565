#include "rendezvous/job/incident.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "rendezvous/quarantine/evidence.h"

namespace muster::rendezvous {

Incident IncidentOf(const JobState& state) {
  Incident incident{
      .round = state.round, .cause = LossCause::kChange, .why = state.why};
  if (state.stopping.cause != StopCause::kBroken) return incident;
  incident.cause = LossCause::kNode;
  const std::optional<Failure>& failure = state.blame.failures().cause();
  if (!failure.has_value()) return incident;
  incident.host = failure->host;
  if (failure->kind != FailureKind::kNodeLost) {
    incident.cause = failure->kind == FailureKind::kHung ? LossCause::kHang
                                                         : LossCause::kWorker;
  }
  return incident;
}

std::optional<HostFault> FaultOfCulprit(const JobState& state) {
  const std::optional<Failure>& failure = state.blame.failures().cause();
  if (!failure.has_value() || state.stopping.cause != StopCause::kBroken ||
      state.preemption.has_value() || failure->group_rank < 0 ||
      failure->group_rank >= state.world.size()) {
    return std::nullopt;
  }
  const World::Member& member = state.world.members[failure->group_rank];
  if (member.node_id != failure->node_id) return std::nullopt;
  HostFault fault{.host = {member.host, member.peer}, .run_id = state.run_id};
  if (failure->kind == FailureKind::kNodeLost) {
    // Count no fault if several nodes were lost, because then the network or
    // the cluster is the likely cause. Count none either if the address is
    // empty: the agent ran in the process of an earlier coordinator, which has
    // ended.
    if (state.world.lost != 1 || member.peer.empty()) return std::nullopt;
    fault.kind = FaultKind::kLost;
    fault.text = absl::StrCat("lost: ", failure->message);
  } else {
    const std::optional<Evidence> evidence = EvidenceIn(*failure);
    if (!evidence.has_value()) return std::nullopt;
    fault.rank = failure->rank;
    fault.signature = evidence->signature;
    fault.text =
        evidence->line.empty() || evidence->line == failure->message
            ? absl::StrCat("rank ", failure->rank, ": ", failure->message)
            : absl::StrCat("rank ", failure->rank, ": ", failure->message,
                           ", after \"", evidence->line, "\"");
  }
  return fault;
}

void CountIncident(JobState& state, Outbox& outbox) {
  if (auto fault = FaultOfCulprit(state); fault.has_value()) {
    outbox.Count(*std::move(fault));
  }
  const Incident incident = IncidentOf(state);
  state.ledger.Count(incident.round, incident.cause, incident.host,
                     incident.why);
  state.handover.Count(incident);
}

Duration DelayOfNextRound(JobState& state) {
  const bool failed = state.stopping.consequence.IsFailure();
  state.backoff.RoundEnded(
      failed ? RestartBackoff::End::kFailure : RestartBackoff::End::kOther,
      state.clock.since - state.world.began);
  return failed ? state.backoff.Delay(state.run_tag, state.round)
                : Duration::zero();
}

}  // namespace muster::rendezvous
