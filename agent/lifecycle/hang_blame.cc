#include "agent/lifecycle/hang_blame.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace muster::agent {
namespace {

// Longest folder name that a one-line message includes.
constexpr size_t kMaxFolderBytes = 160;

// The strength of this state as evidence that the worker causes the hang; 0:
// none.
int Weight(WorkerState state) {
  switch (state) {
    case WorkerState::kStopped:
      return 3;
    case WorkerState::kUninterruptible:
      return 2;
    case WorkerState::kEnded:
      return 1;
    case WorkerState::kOther:
      return 0;
  }
  return 0;
}

const char* Words(WorkerState state) {
  switch (state) {
    case WorkerState::kStopped:
      return "; it is stopped by a signal, such as SIGSTOP";
    case WorkerState::kUninterruptible:
      return "; it is in an uninterruptible wait: a disk, or a driver";
    case WorkerState::kEnded:
      return "; its first thread has ended";
    case WorkerState::kOther:
      return "";
  }
  return "";
}

std::string Doubt(const std::vector<Instant>& together,
                  const std::string& records) {
  if (together.size() < 2) return "";
  using std::chrono::milliseconds;
  const auto [first, last] =
      std::minmax_element(together.begin(), together.end());
  const bool named = !records.empty() && records.size() <= kMaxFolderBytes;
  return absl::StrCat(
      "; ", together.size(), " ranks of this node fell silent within ",
      std::chrono::ceil<milliseconds>(*last - *first).count(),
      " ms of each other, and the first need not be the cause: ",
      named ? absl::StrCat("`launch inspect ", records, "`")
            : "with --log-dir, `launch inspect`",
      " shows who waited for whom");
}

}  // namespace

HangBlame BlameHang(Instant now, const HangWatch::Silence& overdue,
                    const std::vector<SilentWorker>& silent,
                    const std::string& records) {
  const Duration window = overdue.deadline / kTogetherDivisor;
  HangBlame blame{.silence = overdue};
  int most = 0;
  std::vector<Instant> together;
  for (const SilentWorker& worker : silent) {
    const HangWatch::Silence& silence = worker.silence;
    const bool same = silence.local_rank == overdue.local_rank;
    const bool near = silence.since >= overdue.since - window &&
                      silence.since <= overdue.since + window;
    if (near) together.push_back(silence.since);
    const bool may_be_blamed =
        same || worker.state == WorkerState::kStopped ||
        (near && silence.since + silence.deadline <= now + window);
    const int weight = may_be_blamed ? Weight(worker.state) : 0;
    if (weight == 0 || weight < most) continue;
    if (weight == most && silence.since >= blame.silence.since) continue;
    most = weight;
    blame.silence = silence;
    blame.state = worker.state;
  }
  blame.remark = most > 0 ? Words(blame.state) : Doubt(together, records);
  return blame;
}

}  // namespace muster::agent
