// Rounds that cannot begin, the records of workers' ends, and leftover
// processes.

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

void Lifecycle::RecordFailure(rendezvous::Failure failure) {
  failure.traceback.clear();
  failure.stderr_tail.clear();
  failure.stack.clear();
  ends_.push_back(std::move(failure));
}

// Names the leftover processes that were stopped. torchrun leaves them running,
// so that a user may expect their work to go on.
void Lifecycle::NoticeLeftBehind(const std::vector<LeftBehind>& processes) {
  std::map<int, std::vector<std::string>> names;  // names by rank
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
