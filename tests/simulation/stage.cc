#include "tests/simulation/stage.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::simulation {
namespace {

// Whether a coordinator gives `verdict` only after a majority of the nodes
// knows this verdict.
bool NeedsMajority(const rendezvous::Verdict& verdict) {
  return verdict.outcome == rendezvous::Outcome::kSucceeded ||
         verdict.outcome == rendezvous::Outcome::kFailed;
}

}  // namespace

std::string EndpointOf(int host) {
  return host == kOutside ? "c" : absl::StrCat("c", host);
}

int HostOf(const std::string& endpoint) {
  return endpoint == "c" ? kOutside : std::stoi(endpoint.substr(1));
}

void Stage::Tell(Checker& checker, const std::function<void(Checker&)>& tell) {
  checker.SetNow(told_at.value_or(queue.now()));
  tell(checker);
  if (!checker.breach().empty()) Fail(checker.breach());
}

void Stage::Watch(const std::function<void(Checker&)>& tell) {
  for (const auto& checker : checkers) Tell(*checker, tell);
  for (const auto& [host, own] : coordinator_checkers) {
    for (const auto& checker : own) Tell(*checker, tell);
  }
}

void Stage::WatchCoordinator(int host,
                             const std::function<void(Checker&)>& tell) {
  for (const auto& checker : checkers) Tell(*checker, tell);
  for (const auto& checker : coordinator_checkers.at(host)) {
    Tell(*checker, tell);
  }
}

void Stage::WatchStep(int host, const CoordinatorStepped& step) {
  WatchCoordinator(host, [&](Checker& c) { c.OnStep(step); });
  for (const auto& [other, own] : coordinator_checkers) {
    if (other == host) continue;
    for (const auto& checker : own) {
      Tell(*checker, [&](Checker& c) { c.OnOtherStep(step); });
    }
  }
}

void Stage::NoteVerdict(uint64_t epoch, const rendezvous::Verdict& by) {
  ended_epoch = std::max(ended_epoch, epoch);
  coordinating.erase(epoch);
  if (verdict_is_final) return;
  verdict = by;
  verdict_is_final =
      plan.etcd() || NeedsMajority(by) ||
      (by.outcome != rendezvous::Outcome::kTimedOut && epoch == newest_epoch);
}

void Stage::NoteTakeover() {
  verdict_is_final = verdict.has_value() && NeedsMajority(*verdict);
}

bool Stage::IsOver() const {
  return verdict.has_value() &&
         (verdict_is_final ||
          (ended_epoch == newest_epoch && coordinating.empty()));
}

}  // namespace muster::simulation
