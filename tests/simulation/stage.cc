#include "tests/simulation/stage.h"

namespace muster::simulation {

void Stage::Watch(const std::function<void(Checker&)>& tell) {
  for (const std::unique_ptr<Checker>& checker : checkers) {
    checker->SetNow(queue.now());
    tell(*checker);
    if (!checker->breach().empty()) Fail(checker->breach());
  }
}

}  // namespace muster::simulation
