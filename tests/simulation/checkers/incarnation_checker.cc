#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class IncarnationChecker : public Checker {
 public:
  explicit IncarnationChecker(const Plan& plan)
      : Checker(plan, "incarnation never back") {}

  void OnCoordinatorStarted(uint64_t) override { lives_.clear(); }
  void OnCoordinatorContinued() override { lives_ = recorded_; }
  void OnStep(const CoordinatorStepped& step) override {
    Follow(step);
    if (step.is_recorded) recorded_ = lives_;
  }

 private:
  void Follow(const CoordinatorStepped& step) {
    for (const rendezvous::NodeStatus& node : step.status.nodes) {
      std::vector<uint64_t>& lives = lives_[node.node.node_id];
      const uint64_t incarnation = node.node.incarnation;
      if (!lives.empty() && lives.back() == incarnation) continue;
      if (std::find(lives.begin(), lives.end(), incarnation) != lives.end()) {
        Fail(absl::StrCat(node.node.node_id, " is again of incarnation ",
                          incarnation, " after ", lives.back()));
      }
      lives.push_back(incarnation);
    }
  }

  // Key: a node's id; value: all incarnations of the node, in the order in
  // which the coordinator listed them.
  std::map<std::string, std::vector<uint64_t>> lives_;
  // Key: a node's id; value: those incarnations of the node that the journal
  // contains. A spare that joins is not written to the journal.
  std::map<std::string, std::vector<uint64_t>> recorded_;
};

}  // namespace

std::unique_ptr<Checker> NewIncarnationChecker(const Plan& plan) {
  return std::make_unique<IncarnationChecker>(plan);
}

}  // namespace muster::simulation
