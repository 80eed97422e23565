#include <cstdio>
#include <map>

#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class AdoptionChecker : public Checker {
 public:
  explicit AdoptionChecker(const Plan& plan) : Checker(plan, "adoption") {}

  void OnCoordinatorStarted(uint64_t) override {
    started_ = now();
    come_.clear();
  }
  void OnReport(AgentName from, rendezvous::StreamId,
                const rendezvous::Report& report) override {
    Come& come = come_[from.incarnation];
    if (report.sequence <= come.sequence) return;
    come = {.sequence = report.sequence};
    if (!report.place.has_value()) return;
    come.round = report.place->round;
    come.world = report.place->group_world_size;
  }
  void OnStep(const CoordinatorStepped& step) override {
    for (const rendezvous::Decision& decision : step.decisions) {
      if (decision.kind != "adopt") continue;
      int round = 0;
      int counted = 0;
      std::sscanf(decision.reason.c_str(), "round %d ", &round);
      if (decision.reason.find(" goes on: ") != std::string::npos) {
        std::sscanf(decision.reason.c_str(), "round %d goes on: %d", &round,
                    &counted);
        Count(round, counted);
        continue;
      }
      // With kAuto nobody else can come if as many agents are here as the job
      // has nodes.
      const bool all_are_here =
          plan().takeover &&
          plan().spec.takeover == rendezvous::Takeover::kAuto &&
          static_cast<int>(come_.size()) >= plan().spec.max_nodes;
      if (now() < started_ + plan().spec.lease() && !all_are_here) {
        Fail(absl::StrCat("round ", round, " is given up too early"));
      }
    }
  }

 private:
  struct Come {
    uint64_t sequence = 0;
    int round = 0;
    int world = 0;
  };

  // Checks that a majority of the round's nodes has reported it.
  void Count(int round, int counted) {
    int here = 0;
    int world = 0;
    for (const auto& [incarnation, come] : come_) {
      if (come.round != round) continue;
      ++here;
      world = come.world;
    }
    if (counted > here || 2 * counted <= world) {
      Fail(absl::StrCat("round ", round, " of ", world, " nodes goes on with ",
                        counted, "; ", here, " have come"));
    }
  }

  Instant started_;
  std::map<uint64_t, Come> come_;  // newest reports, by the agent's incarnation
};

}  // namespace

std::unique_ptr<Checker> NewAdoptionChecker(const Plan& plan) {
  return std::make_unique<AdoptionChecker>(plan);
}

}  // namespace muster::simulation
