#include "tests/simulation/stage.h"

namespace muster::simulation {

void Stage::Tell(Checker& checker, const std::function<void(Checker&)>& tell) {
  checker.SetNow(queue.now());
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

bool Stage::IsOver() const {
  return verdict.has_value() &&
         (ended_epoch == newest_epoch ||
          verdict->outcome != rendezvous::Outcome::kTimedOut);
}

}  // namespace muster::simulation
