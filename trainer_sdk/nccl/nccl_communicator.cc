#include "trainer_sdk/nccl/nccl_communicator.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"

namespace muster {
namespace {

// The waits between polls. The first 200 waits only yield the processor,
// because a launch usually takes microseconds. A first connection or a late
// peer takes longer, so each later wait is twice as long as the previous one,
// up to one millisecond.
class PollPace {
 public:
  void Wait() {
    if (spins_ < kSpins) {
      ++spins_;
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongest);
  }

 private:
  static constexpr int kSpins = 200;
  static constexpr std::chrono::microseconds kLongest{1000};
  int spins_ = 0;
  std::chrono::microseconds pause_{10};
};

}  // namespace

absl::Status NcclCommunicator::status() const {
  std::lock_guard<std::mutex> lock(status_mutex_);
  return status_;
}

bool NcclCommunicator::Break(const absl::Status& cause) {
  std::lock_guard<std::mutex> lock(status_mutex_);
  if (!status_.ok()) return false;
  status_ = cause;
  return true;
}

void NcclCommunicator::Explain(const absl::Status& cause) {
  std::lock_guard<std::mutex> lock(status_mutex_);
  status_ = cause;
}

// Breaks the communicator because the NCCL call described by `what` returned
// the error `result`. Returns the cause for which the communicator is broken:
// this error, or an earlier one.
absl::Status NcclCommunicator::Failed(nccl::NcclResult result,
                                      const std::string& what) {
  const std::string words =
      absl::StrCat(what, ": NCCL says: ", nccl_->Explain(result, comm_));
  Break(result == nccl::kNcclInvalidArgument ||
                result == nccl::kNcclInvalidUsage
            ? absl::FailedPreconditionError(words)
            : absl::UnavailableError(words));
  return status();
}

absl::Status NcclCommunicator::AwaitReady(const std::string& what,
                                          Instant deadline,
                                          const NcclCommunicator* parent) {
  PollPace pace;
  while (true) {
    if (parent != nullptr) {
      if (absl::Status broken = parent->status(); !broken.ok()) Break(broken);
    }
    if (absl::Status broken = status(); !broken.ok()) return broken;
    {
      std::lock_guard<std::mutex> lock(call_mutex_);
      if (comm_ == nullptr) return status();
      nccl::NcclResult state = nccl::kNcclSuccess;
      const nccl::NcclResult asked = nccl_->CommGetAsyncError(comm_, &state);
      if (asked != nccl::kNcclSuccess) return Failed(asked, what);
      if (state != nccl::kNcclInProgress && state != nccl::kNcclSuccess) {
        return Failed(state, what);
      }
      if (state == nccl::kNcclSuccess) return absl::OkStatus();
    }
    if (MonotonicNow() >= deadline) {
      Break(absl::DeadlineExceededError(
          absl::StrCat(what, ": not all ranks have come to it in time")));
      return status();
    }
    pace.Wait();
  }
}

absl::Status NcclCommunicator::Join(const nccl::NcclUniqueId& id, int rank,
                                    int size, const std::string& what,
                                    Instant deadline) {
  {
    std::lock_guard<std::mutex> lock(call_mutex_);
    nccl::NcclConfig config;
    const nccl::NcclResult result =
        nccl_->CommInitRankConfig(&comm_, size, id, rank, &config);
    if (result != nccl::kNcclSuccess && result != nccl::kNcclInProgress) {
      return Failed(result, what);
    }
  }
  return AwaitReady(what, deadline);
}

absl::Status NcclCommunicator::Split(int color, int key,
                                     NcclCommunicator* child,
                                     const std::string& what,
                                     Instant deadline) {
  nccl::NcclConfig config;
  // NCCL may write the new communicator to `made` from a thread of its own,
  // until the parent is ready or aborted. So this function must not return
  // earlier.
  nccl::NcclComm made = nullptr;
  absl::Status split = Do(
      [&](nccl::NcclComm comm) {
        return nccl_->CommSplit(comm, color, key, &made, &config);
      },
      what, deadline);
  if (!split.ok()) Abort();
  {
    std::lock_guard<std::mutex> lock(child->call_mutex_);
    child->comm_ = made;
  }
  if (split.ok() && color != nccl::kNcclSplitNoColor) {
    split = child->AwaitReady(what, deadline, this);
  }
  if (!split.ok()) child->Break(split);
  return split;
}

absl::Status NcclCommunicator::Do(
    const std::function<nccl::NcclResult(nccl::NcclComm)>& call,
    const std::string& what, Instant deadline) {
  if (absl::Status broken = status(); !broken.ok()) return broken;
  {
    std::lock_guard<std::mutex> lock(call_mutex_);
    if (comm_ == nullptr) return status();
    const nccl::NcclResult result = call(comm_);
    if (result == nccl::kNcclSuccess) return absl::OkStatus();
    if (result != nccl::kNcclInProgress) return Failed(result, what);
  }
  return AwaitReady(what, deadline);
}

absl::Status NcclCommunicator::AsyncError() {
  std::lock_guard<std::mutex> lock(call_mutex_);
  if (comm_ == nullptr) return status();
  nccl::NcclResult state = nccl::kNcclSuccess;
  const nccl::NcclResult asked = nccl_->CommGetAsyncError(comm_, &state);
  if (asked != nccl::kNcclSuccess) state = asked;
  if (state == nccl::kNcclSuccess || state == nccl::kNcclInProgress) {
    return absl::OkStatus();
  }
  return absl::UnavailableError(nccl_->Explain(state, comm_));
}

void NcclCommunicator::Close(Instant deadline) {
  const absl::Status finalized =
      Do(nccl_->CommFinalize, "the end of a group", deadline);
  if (!finalized.ok()) {
    Abort();
    return;
  }
  Break(absl::AbortedError("the group has been closed"));
  std::lock_guard<std::mutex> lock(call_mutex_);
  if (comm_ != nullptr) nccl_->CommDestroy(comm_);
  comm_ = nullptr;
}

void NcclCommunicator::Abort() {
  Break(absl::AbortedError("the group has been aborted"));
  std::lock_guard<std::mutex> lock(call_mutex_);
  if (comm_ != nullptr) nccl_->CommAbort(comm_);
  comm_ = nullptr;
}

}  // namespace muster
