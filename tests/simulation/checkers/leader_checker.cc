#include <set>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class LeaderChecker : public Checker {
 public:
  explicit LeaderChecker(const Plan& plan) : Checker(plan, "one leader") {}

  void OnLeader(uint64_t epoch) override {
    if (epoch <= newest_) {
      Fail(absl::StrCat("the leader with epoch ", epoch, " follows epoch ",
                        newest_));
    }
    newest_ = epoch;
    leaders_.insert(epoch);
  }
  void OnMayOrder(uint64_t epoch) override {
    if (epoch >= newest_) return;
    Fail(absl::StrCat("the coordinator with epoch ", epoch,
                      " gives orders after epoch ", newest_, " has begun"));
  }
  void OnDirective(AgentName agent,
                   const rendezvous::Directive& directive) override {
    if (leaders_.contains(directive.epoch)) return;
    Fail(absl::StrCat("n", agent.slot, " gets a directive of epoch ",
                      directive.epoch, ", which no leader has"));
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind == "adopt") {
        Fail("the job continues without its record: " + decision.reason);
      }
    }
  }

 private:
  uint64_t newest_ = 0;
  std::set<uint64_t> leaders_;
};

}  // namespace

std::unique_ptr<Checker> NewLeaderChecker(const Plan& plan) {
  return std::make_unique<LeaderChecker>(plan);
}

}  // namespace muster::simulation
