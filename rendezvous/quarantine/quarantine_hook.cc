#include "rendezvous/quarantine/quarantine_hook.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <unistd.h>

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/blocked_signals.h"
#include "base/monotonic_clock.h"
#include "base/subprocess.h"

namespace muster::rendezvous {

QuarantineHook::QuarantineHook(Options options)
    : options_(std::move(options)), cancel_(eventfd(0, EFD_CLOEXEC)) {
  const BlockedSignals blocked;
  thread_ = std::thread([this] { Work(); });
}

QuarantineHook::~QuarantineHook() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
    waiting_.clear();
  }
  changed_.notify_all();
  eventfd_write(cancel_.get(), 1);
  thread_.join();
}

void QuarantineHook::Run(const HostKey& key, const HostJudgement& judgement,
                         const std::string& run_id) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (waiting_.size() < kMaxWaiting) {
      waiting_.push_back(
          {.host = key.host,
           .environment = {
               absl::StrCat("MUSTER_NODE=", key.host),
               absl::StrCat("MUSTER_ADDRESS=", key.ip),
               absl::StrCat("MUSTER_REASON=", judgement.reason),
               absl::StrFormat("MUSTER_SCORE=%.1f", judgement.score),
               absl::StrCat("MUSTER_RUN_ID=", run_id),
           }});
      changed_.notify_all();
      return;
    }
  }
  options_.say(
      absl::StrCat("--on-quarantine: too many commands wait; none is "
                   "run for ",
                   key.host));
}

void QuarantineHook::Finish(Duration timeout) {
  const Instant deadline = MonotonicNow() + timeout;
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait_until(lock, ToSteady(deadline),
                      [this] { return waiting_.empty() && !runs_; });
}

void QuarantineHook::Work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    if (ends_) return;
    const Call call = std::move(waiting_.front());
    waiting_.pop_front();
    runs_ = true;
    lock.unlock();
    Perform(call);
    lock.lock();
    runs_ = false;
    changed_.notify_all();
  }
}

void QuarantineHook::Perform(const Call& call) {
  SubprocessPlan plan;
  plan.argv = {"/bin/sh", "-c", options_.command};
  plan.environment = EnvironmentWith(call.environment);
  // Redirect the command's stdout to stderr: this process's stdout may be the
  // output of a job.
  plan.descriptors = {SubprocessPlan::kNull, STDERR_FILENO, STDERR_FILENO};
  plan.group = SubprocessPlan::Group::kOwnGroup;
  plan.death_signal = SIGKILL;
  sigemptyset(&plan.blocked_signals);
  const absl::StatusOr<pid_t> pid = StartSubprocess(plan);
  const auto say = [&](const std::string& what) {
    options_.say(absl::StrCat("--on-quarantine for ", call.host, ": ", what));
  };
  if (!pid.ok()) {
    say(std::string(pid.status().message()));
    return;
  }
  const bool has_ended =
      AwaitSubprocess(*pid, MonotonicNow() + options_.timeout, cancel_.get());
  kill(-*pid, SIGKILL);
  const std::optional<int> status = ReapSubprocess(*pid);
  if (!has_ended) {
    say(absl::StrCat("killed, because it did not end within ",
                     ToSeconds(options_.timeout),
                     " s or this process is ending"));
  } else if (status.has_value() && *status != 0) {
    say(absl::StrCat("exit code ", ExitCodeOf(*status)));
  }
}

}  // namespace muster::rendezvous
