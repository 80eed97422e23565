#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "tests/simulation/checkers/checkers.h"

namespace muster::simulation {
namespace {

class WorldChecker : public Checker {
 public:
  explicit WorldChecker(const Plan& plan) : Checker(plan, "legal world") {}

  void OnStep(const CoordinatorStepped& step) override {
    bool assigned = false;
    for (const rendezvous::Decision& decision : step.decisions) {
      assigned = assigned || decision.kind == "assign";
    }
    if (!assigned) return;
    // The step that forms a world sends every member its place. So the
    // directives of this step describe the whole world.
    std::map<int, const Sent*> by_rank;
    for (const Sent& sent : step.sent) {
      if (sent.directive.kind != rendezvous::DirectiveKind::kRun ||
          sent.directive.place.round != step.status.round) {
        continue;
      }
      const int rank = sent.directive.place.group_rank;
      if (by_rank.contains(rank) && by_rank[rank]->to.slot != sent.to.slot) {
        Fail(absl::StrCat("two nodes of group rank ", rank));
      }
      by_rank[rank] = &sent;
    }
    Check(by_rank, step.status.round);
  }

 private:
  void Check(const std::map<int, const Sent*>& by_rank, int round) {
    const int size = static_cast<int>(by_rank.size());
    if (size < plan().spec.min_nodes || size > plan().spec.max_nodes) {
      Fail(absl::StrCat("a world of ", size, " nodes"));
    }
    int expected = 0;
    for (const auto& [rank, sent] : by_rank) {
      const rendezvous::Place& place = sent->directive.place;
      const rendezvous::Place& first = by_rank.begin()->second->directive.place;
      if (rank != expected || place.round != round ||
          place.group_world_size != size ||
          place.first_rank != expected * plan().workers ||
          place.world_size != size * plan().workers) {
        Fail(absl::StrCat("the place of n", sent->to.slot,
                          " does not fit its world"));
      }
      if (place.master_address != first.master_address ||
          place.master_port != first.master_port) {
        Fail("two masters");
      }
      CheckStoreClient(first.store_clients, sent->to.slot);
      if (rank != 0 && !place.store_clients.empty()) {
        Fail(absl::StrCat("n", sent->to.slot,
                          " is told the store's clients, and serves no store"));
      }
      if (place.nccl_id != first.nccl_id) Fail("two NCCL ids in one world");
      if (place.run_tag.empty() || place.run_tag != first.run_tag) {
        Fail("the nodes of a world have no tag of the run, or two");
      }
      ++expected;
    }
    if (size == 0) return;
    const Sent& zero = *by_rank.begin()->second;
    if (zero.directive.place.master_address !=
            absl::StrCat("10.0.0.", zero.to.slot + 1) ||
        zero.directive.place.master_port != 20000 + zero.to.slot) {
      Fail("the master is not the node of group rank 0");
    }
    const std::string& id = zero.directive.place.nccl_id;
    if (id.empty()) return;
    if (!absl::StartsWith(id, absl::StrCat("n", zero.to.slot, " "))) {
      Fail("the NCCL id is not of the node of group rank 0");
    }
    if (!used_.emplace(id, round).second) {
      Fail(absl::StrCat("NCCL id '", id, "' of round ", used_[id],
                        " was used again in round ", round));
    }
  }

  // Checks that `clients` includes both addresses of the node in `slot`.
  // `clients`: the addresses from which the round's store accepts connections.
  void CheckStoreClient(const std::vector<std::string>& clients, int slot) {
    for (const char* network : {"10.0.0.", "10.1.0."}) {
      const std::string address = absl::StrCat(network, slot + 1);
      if (std::find(clients.begin(), clients.end(), address) == clients.end()) {
        Fail(absl::StrCat("the store does not serve ", address, " of n", slot));
      }
    }
  }

  std::map<std::string, int> used_;  // round that used an NCCL id, by this id
};

}  // namespace

std::unique_ptr<Checker> NewWorldChecker(const Plan& plan) {
  return std::make_unique<WorldChecker>(plan);
}

}  // namespace muster::simulation
