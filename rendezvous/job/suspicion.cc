#include "rendezvous/job/suspicion.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "rendezvous/job/job_check.h"
#include "rendezvous/protocol/node_fault.h"
#include "rendezvous/stragglers/straggler_watch.h"

namespace muster::rendezvous {
namespace {

// Minimum gain that StragglerText mentions. The gain is the fraction by which a
// step would be shorter without the slow ranks.
constexpr double kLeastGain = 0.01;

// Returns the slow rank with its place, such as "rank 3 (host, local rank 1,
// GPU 0)". Leaves out an unknown GPU.
std::string PlacedName(const SlowRank& slow) {
  return absl::StrCat("rank ", slow.rank, " (", slow.host, ", local rank ",
                      slow.local_rank, slow.gpu.empty() ? "" : ", GPU ",
                      slow.gpu, ")");
}

// Texts for the event log. StragglerText: a rank has become persistently slow.
// RecoveryText: a rank is as quick as the others again. `gain`: the fraction by
// which a step would become shorter without the slow ranks
// (JobStatus::slow_ranks_gain).
std::string StragglerText(const SlowRank& slow, double gain) {
  if (slow.phase == SlowPhase::kNetwork) {
    std::string text = absl::StrFormat(
        "%s has a slow network: it limits the transfers from and to the node "
        "%.1f times as long as those between other nodes",
        PlacedName(slow), slow.ratio);
    if (slow.max_gain >= kLeastGain) {
      absl::StrAppendFormat(&text,
                            "; with a network as quick as the others a step "
                            "would be up to %.0f %% shorter",
                            100 * *slow.max_gain);
    }
    return text;
  }
  const std::string work = slow.phase == SlowPhase::kData
                               ? "waits for its data: its own time is "
                               : "is slow: its own work takes ";
  std::string text = absl::StrFormat("%s %s%.2f times the median of the ranks",
                                     PlacedName(slow), work, slow.ratio);
  if (gain >= kLeastGain) {
    absl::StrAppendFormat(
        &text, "; without slow ranks a step would be %.0f %% shorter",
        100 * gain);
  }
  return text;
}

std::string RecoveryText(const SlowRank& slow) {
  return absl::StrCat(
      slow.phase == SlowPhase::kNetwork ? "the network of " : "",
      PlacedName(slow), " is as quick as the others again");
}

}  // namespace

void WatchStragglers(JobState& state, Outbox& outbox) {
  StragglerWatch& watch = state.stragglers;
  if (state.phase != JobPhase::kRunning || state.world.unknown > 0 ||
      !watch.IsDue(state.now)) {
    return;
  }
  if (watch.round() != state.round) {
    watch.Begin(state.round, state.world.world_size);
  }
  std::vector<StragglerWatch::Sample> samples;
  for (size_t i = 0; i < state.world.members.size(); ++i) {
    const World::Member& member = state.world.members[i];
    const Node* const node = state.nodes.Find(member.node_id);
    if (node == nullptr || node->round != state.round) continue;
    for (const RankTimes& times : node->times) {
      const int rank = member.first_rank + times.local_rank;
      if (rank >= state.world.world_size) continue;
      samples.push_back(
          {.rank = rank, .node = static_cast<int>(i), .times = times});
    }
  }
  for (const auto& change : watch.Evaluate(state.now, samples)) {
    const SlowRank slow = Located(state, change.rank);
    outbox.Note("straggler", slow.node_id,
                change.recovered ? RecoveryText(slow)
                                 : StragglerText(slow, watch.gain()));
    if (change.recovered) continue;
    // The check by pairs measures processors, GPUs and connections, but not
    // where the input data come from.
    if (slow.phase != SlowPhase::kData) Suspect(state);
    const Node* const node = state.nodes.Find(slow.node_id);
    if (node == nullptr) continue;
    outbox.Count({.host = {slow.host, node->peer},
                  .kind = FaultKind::kStraggler,
                  .run_id = state.run_id,
                  .rank = slow.rank,
                  .text = absl::StrCat("rank ", slow.rank, " was slow")});
  }
}

std::optional<SlowRank> StragglerToEvict(const JobState& state) {
  // Remove no node for a slow rank if some workers have finished, because the
  // round ends soon. Also remove none if the job is preempted, because no
  // further round follows.
  if (!state.spec.evict_stragglers || state.phase != JobPhase::kRunning ||
      state.stragglers.round() != state.round || GoodSpares(state) == 0 ||
      state.world.succeeded > 0 || state.preemption.has_value()) {
    return std::nullopt;
  }
  for (const SlowRank& rank : state.stragglers.slow()) {
    if (!rank.is_persistent) continue;
    const SlowRank slow = Located(state, rank);
    if (state.nodes.Find(slow.node_id) != nullptr) return slow;
  }
  return std::nullopt;
}

void JudgeMachine(JobState& state, Outbox& outbox, Node& node) {
  const HostJudgement judgement =
      JudgementFor(state, {node.identity.host, node.peer});
  if (judgement == node.judgement) return;
  const HostState before = node.judgement.state;
  state.nodes.Update(node, [&](Node& n) { n.judgement = judgement; });
  if (judgement.state == before) return;
  outbox.Reword();
  const std::string& host = node.identity.host;
  const std::string text = JudgementText(judgement);
  switch (judgement.state) {
    case HostState::kQuarantined:
      outbox.Note("quarantine", node.identity.node_id,
                  absl::StrCat(host, " is quarantined: ", text));
      return;
    case HostState::kBanned:
      outbox.Note("ban", node.identity.node_id,
                  absl::StrCat(host, " is banned: ", text));
      return;
    case HostState::kSuspected:
      outbox.Note("suspect", node.identity.node_id,
                  absl::StrCat(host,
                               before == HostState::kQuarantined
                                   ? " is out of quarantine, but suspected: "
                                   : " is suspected: ",
                               text));
      return;
    case HostState::kHealthy:
    case HostState::kFreed:
      outbox.Note("free", node.identity.node_id,
                  absl::StrCat(host, " is trusted again"));
      return;
  }
}

void TakeFaults(JobState& state, Outbox& outbox, Node& node,
                const Report& report) {
  for (const NodeFault& fault : report.faults) {
    if (fault.ordinal <= node.newest_fault) continue;
    node.newest_fault = fault.ordinal;
    // Accept only the faults that an agent finds on its own machine.
    if (fault.kind != FaultKind::kCheck && fault.kind != FaultKind::kXid) {
      continue;
    }
    // Only a GPU error that the NVIDIA driver has reported (Xid) needs a note
    // and a check by pairs. After a failed health check, the decision
    // "unhealthy" shows the fault, and the node gets no place.
    if (fault.kind == FaultKind::kXid) {
      Suspect(state);
      outbox.Note("fault", node.identity.node_id,
                  absl::StrCat(node.identity.host, ": ", fault.text));
    }
    outbox.Count({.host = {node.identity.host, node.peer},
                  .kind = fault.kind,
                  .run_id = state.run_id,
                  .text = fault.text,
                  .incarnation = node.identity.incarnation,
                  .ordinal = fault.ordinal});
  }
}

}  // namespace muster::rendezvous
