#include "tests/simulation/room_watch.h"

#include <algorithm>

namespace muster::simulation {

void RoomWatch::OnCoordinatorStarted(uint64_t) {
  members_.clear();
  succeeded_.clear();
}

void RoomWatch::OnReport(AgentName from, StreamId, const Report& report) {
  if (report.phase == NodePhase::kSucceeded &&
      members_.contains({from.incarnation, report.round})) {
    succeeded_.insert(report.round);
  }
}

void RoomWatch::OnStep(const CoordinatorStepped& step) {
  for (const Sent& sent : step.sent) {
    if (sent.directive.kind != DirectiveKind::kRun) continue;
    members_.insert({sent.to.incarnation, sent.directive.place.round});
  }
}

bool RoomWatch::MustLetIn(const JobStatus& status) const {
  const auto here = std::count_if(
      status.nodes.begin(), status.nodes.end(),
      [](const NodeStatus& node) { return node.group_rank.has_value(); });
  return here < status.spec.max_nodes &&
         status.spec.scale_up == ScaleUp::kRestart &&
         !succeeded_.contains(status.round);
}

}  // namespace muster::simulation
