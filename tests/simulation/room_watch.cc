#include "tests/simulation/room_watch.h"

#include <algorithm>

namespace muster::simulation {

void RoomWatch::OnCoordinatorStarted(uint64_t) {
  members_.clear();
  succeeded_.clear();
}

void RoomWatch::OnReport(AgentName from, rendezvous::StreamId,
                         const rendezvous::Report& report) {
  if (report.phase == rendezvous::NodePhase::kSucceeded &&
      members_.contains({from.incarnation, report.round})) {
    succeeded_.insert(report.round);
  }
}

void RoomWatch::OnStep(const CoordinatorStepped& step) {
  for (const Sent& sent : step.sent) {
    if (sent.directive.kind != rendezvous::DirectiveKind::kRun) continue;
    members_.insert({sent.to.incarnation, sent.directive.place.round});
  }
}

bool RoomWatch::MustLetIn(const rendezvous::JobStatus& status) const {
  const auto here = std::count_if(status.nodes.begin(), status.nodes.end(),
                                  [](const rendezvous::NodeStatus& node) {
                                    return node.group_rank.has_value();
                                  });
  return here < status.spec.max_nodes &&
         status.spec.scale_up == rendezvous::ScaleUp::kRestart &&
         !succeeded_.contains(status.round);
}

}  // namespace muster::simulation
