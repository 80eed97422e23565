#include "agent/lifecycle/hang_watch.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace muster::agent {
namespace {

// Updates `said`, the worker's merged reports, with the fields that are set in
// `message`; leaves the other fields unchanged.
void Remember(const ProgressMessage& message, ProgressMessage& said) {
  if (message.step) said.step = message.step;
  if (message.loss) said.loss = message.loss;
  if (message.tokens_per_s) said.tokens_per_s = message.tokens_per_s;
  if (message.status) said.status = message.status;
  if (message.watchdog) said.watchdog = message.watchdog;
  if (message.own) said.own = message.own;
  if (message.blocked) said.blocked = message.blocked;
  if (message.data) said.data = message.data;
  if (message.links) said.links = message.links;
  if (message.sent) said.sent = message.sent;
}

}  // namespace

void HangWatch::Begin(int workers) {
  workers_.assign(static_cast<size_t>(workers), Worker());
}

void HangWatch::RecordProgress(Instant now, int local_rank,
                               const ProgressMessage& message) {
  MUSTER_CHECK(local_rank >= 0 &&
               static_cast<size_t>(local_rank) < workers_.size())
      << "local rank " << local_rank << " of " << workers_.size();
  Worker& worker = workers_[local_rank];
  Remember(message, worker.said);
  if (!message.alive) return;
  if (worker.heard.has_value()) {
    ++worker.pauses;
    worker.longest_pause = std::max(worker.longest_pause, now - *worker.heard);
  }
  worker.heard = now;
}

void HangWatch::End(int local_rank) {
  if (static_cast<size_t>(local_rank) < workers_.size()) {
    workers_[local_rank].watched = false;
  }
}

void HangWatch::SuspendedFor(Duration lost) {
  for (Worker& worker : workers_) {
    if (worker.heard.has_value()) *worker.heard += lost;
  }
}

std::optional<Duration> HangWatch::DeadlineOf(const Worker& worker) const {
  if (policy_.detection == HangDetection::kOff) return std::nullopt;
  if (worker.said.watchdog.has_value()) {
    if (*worker.said.watchdog == Duration::zero()) return std::nullopt;
    return worker.said.watchdog;
  }
  if (policy_.detection == HangDetection::kGiven) return policy_.timeout;
  if (worker.pauses < kLeastPauses) return std::nullopt;
  const Duration longest = worker.longest_pause;
  const Duration ample = longest + std::min(9 * longest, kMaxBeyondLongest);
  return std::max(kLeastLearned, ample);
}

std::optional<Instant> HangWatch::DueOf(const Worker& worker) const {
  if (!worker.watched || !worker.heard.has_value()) return std::nullopt;
  const std::optional<Duration> deadline = DeadlineOf(worker);
  if (!deadline.has_value()) return std::nullopt;
  return *worker.heard + *deadline;
}

std::optional<HangWatch::Silence> HangWatch::SilenceOf(int local_rank) const {
  const Worker& worker = workers_[local_rank];
  if (!DueOf(worker).has_value()) return std::nullopt;
  return Silence{.local_rank = local_rank,
                 .since = *worker.heard,
                 .deadline = *DeadlineOf(worker),
                 .step = worker.said.step};
}

std::vector<HangWatch::Silence> HangWatch::Silent() const {
  std::vector<Silence> silent;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const std::optional<Silence> one = SilenceOf(static_cast<int>(i));
    if (one.has_value()) silent.push_back(*one);
  }
  return silent;
}

std::optional<HangWatch::Silence> HangWatch::Overdue(Instant now) const {
  std::optional<Silence> first;
  for (const Silence& silence : Silent()) {
    if (now < silence.since + silence.deadline) continue;
    if (first.has_value() && first->since <= silence.since) continue;
    first = silence;
  }
  return first;
}

std::optional<Instant> HangWatch::NextDeadline() const {
  std::optional<Instant> next;
  for (const Worker& worker : workers_) {
    const std::optional<Instant> due = DueOf(worker);
    if (due.has_value() && (!next.has_value() || *due < *next)) next = due;
  }
  return next;
}

std::vector<rendezvous::WorkerProgress> HangWatch::Progress(Instant now) const {
  std::vector<rendezvous::WorkerProgress> progress;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const Worker& worker = workers_[i];
    if (!worker.heard.has_value()) continue;
    progress.push_back(
        {.local_rank = static_cast<int>(i),
         .step = worker.said.step,
         .loss = worker.said.loss,
         .tokens_per_s = worker.said.tokens_per_s,
         .status = worker.said.status.value_or(""),
         .silent_for = now - *worker.heard,
         .deadline = worker.watched
                         ? DeadlineOf(worker).value_or(Duration::zero())
                         : Duration::zero()});
  }
  return progress;
}

std::vector<rendezvous::RankTimes> HangWatch::Times() const {
  std::vector<rendezvous::RankTimes> times;
  for (size_t i = 0; i < workers_.size(); ++i) {
    const ProgressMessage& said = workers_[i].said;
    if (!said.own || !said.blocked) continue;
    times.push_back(
        {.local_rank = static_cast<int>(i),
         .own = *said.own,
         .blocked = *said.blocked,
         .data = said.data.value_or(Duration::zero()),
         .links = said.links.value_or(std::vector<rendezvous::LinkTime>()),
         .sent = said.sent.value_or(0)});
  }
  return times;
}

namespace {

// The maximum length in bytes of a folder's name in the message about a hung
// worker; a longer name is omitted.
constexpr size_t kMaxFolderBytes = 160;

// How strongly the state of a worker's process suggests that this worker causes
// the hang, from 3 (most) to 0 (not at all).
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
