// Rounds that end here before they have begun, the records of ends, and what
// workers leave behind.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::On(const RoundRefused& event) {
  pending_ = 0;
  rendezvous::Failure failure;
  failure.kind = rendezvous::FailureKind::kStartFailed;
  failure.exit_code = 1;
  failure.message = event.why;
  failures_.push_back(std::move(failure));
  ReleaseWaiters(event.why);
  Settle();
}

void Lifecycle::NoteEnd(rendezvous::Failure failure) {
  failure.traceback.clear();
  failure.stderr_tail.clear();
  failure.stack.clear();
  ends_.push_back(std::move(failure));
}

// torchrun would leave these processes running, so that a person may miss what
// they were to do.
void Lifecycle::TellLeftBehind(const std::vector<LeftBehind>& processes) {
  std::map<int, std::vector<std::string>> names;  // by rank
  for (const LeftBehind& process : processes) {
    names[process.rank].push_back(process.name);
  }
  for (const auto& [rank, left] : names) {
    step_.losses.push_back(absl::StrCat(
        left.size(), left.size() == 1 ? " process" : " processes", " that ",
        rank < 0 ? "the workers" : absl::StrCat("rank ", rank), " left behind ",
        left.size() == 1 ? "was" : "were",
        " stopped: ", absl::StrJoin(left, ", ")));
  }
}

}  // namespace muster::agent
