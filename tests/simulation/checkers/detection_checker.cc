#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

// Time within which every other coordinator of the job announces itself.
constexpr Duration kAnnounced = std::chrono::seconds(3);

// Checks that lost nodes are removed in time. If other nodes can take over, a
// coordinator of a running round may wait for the announcement of another one.
// An agent counts as silent since
// its last new report: one with a higher sequence number than all earlier ones.
// A repeated or late report does not prove that the agent is alive.
class DetectionChecker : public Checker {
 public:
  explicit DetectionChecker(const Plan& plan)
      : Checker(plan, "detection bound") {}

  void OnCoordinatorStarted(uint64_t) override { lives_.clear(); }
  // After a restart of the coordinator, each node gets a whole lease to report
  // to it.
  void OnCoordinatorContinued() override {
    for (auto& [incarnation, life] : lives_) {
      life.heard = now();
      life.broken.reset();
    }
  }
  // A coordinator that continues after a suspension has not read the reports
  // that arrived meanwhile. So each node gets a whole lease again.
  void OnCoordinatorResumed() override { OnCoordinatorContinued(); }
  void OnReport(AgentName from, rendezvous::StreamId stream,
                const rendezvous::Report& report) override {
    Life& life = lives_[from.incarnation];
    if (report.sequence <= life.sequence) return;
    life.sequence = report.sequence;
    life.heard = now();
    life.stream = stream;
    life.broken.reset();
  }
  void OnStreamClosed(AgentName of, rendezvous::StreamId stream) override {
    Life& life = lives_[of.incarnation];
    if (life.stream == stream) life.broken = now();
  }
  void OnStep(const CoordinatorStepped& step) override {
    const rendezvous::JobPhase phase = step.status.phase;
    if (phase == rendezvous::JobPhase::kFinished) return;
    const bool may_wait =
        plan().takeover && (phase == rendezvous::JobPhase::kRunning ||
                            step.status.phase_age == Duration::zero());
    const Duration grace =
        may_wait ? std::max<Duration>(kAnnounced, plan().spec.order_life())
                 : plan().spec.reconnect_grace;
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      const auto found = lives_.find(node.node.incarnation);
      if (found == lives_.end()) {
        Fail(absl::StrCat(node.node.node_id, " has never reported"));
        return;
      }
      const Life& life = found->second;
      if (now() >= life.heard + plan().Longest(plan().spec.lease())) {
        Fail(absl::StrCat(node.node.node_id, " is still counted after ",
                          ToSeconds(now() - life.heard), " s of silence"));
      }
      if (life.broken.has_value() &&
          now() >= *life.broken + plan().Longest(grace)) {
        Fail(absl::StrCat(node.node.node_id, " is still counted ",
                          ToSeconds(now() - *life.broken),
                          " s after its stream broke"));
      }
    }
  }

 private:
  struct Life {
    uint64_t sequence = 0;
    Instant heard;
    rendezvous::StreamId stream = 0;
    std::optional<Instant> broken;
  };
  std::map<uint64_t, Life> lives_;  // state of each agent, by incarnation
};

}  // namespace

std::unique_ptr<Checker> NewDetectionChecker(const Plan& plan) {
  return std::make_unique<DetectionChecker>(plan);
}

}  // namespace muster::simulation
