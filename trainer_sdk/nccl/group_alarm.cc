#include "trainer_sdk/nccl/group_alarm.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/monotonic_clock.h"
#include "trainer_sdk/store/store_errors.h"

namespace muster {
namespace {

constexpr char kKey[] = "nccl_alarm";
constexpr std::chrono::seconds kLookEvery{1};
constexpr std::chrono::seconds kReadTimeout{5};
constexpr std::chrono::seconds kEndTimeout{2};

// Encodes a cause for the store as "CODE RANK MESSAGE".
std::string Encoded(int rank, const absl::Status& cause) {
  return absl::StrCat(static_cast<int>(cause.code()), " ", rank, " ",
                      cause.message());
}

absl::Status Decoded(const std::string& text) {
  const std::vector<std::string> parts =
      absl::StrSplit(text, absl::MaxSplits(' ', 2));
  int code = 0;
  int rank = 0;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &code) ||
      !absl::SimpleAtoi(parts[1], &rank) || code <= 0 || code > 16) {
    return absl::UnavailableError("a peer gave the group up");
  }
  return absl::Status(
      static_cast<absl::StatusCode>(code),
      absl::StrCat("rank ", rank, " gave the group up: ", parts[2]));
}

}  // namespace

class GroupAlarm::Listener {
 public:
  Listener(GroupPlace place, std::function<void(absl::Status)> on_alarm)
      : place_(std::move(place)), on_alarm_(std::move(on_alarm)) {}

  void Loop();
  void End(Duration timeout);
  void Raise(const absl::Status& cause);
  void SetPolling(Polling polling);

 private:
  // Reads from the store the cause of the group's failure, if a peer has
  // published one; OK if there is none. Unavailable: the store does not answer,
  // so the round is over.
  absl::Status Look() const;

  const GroupPlace place_;
  const std::function<void(absl::Status)> on_alarm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Whether the store is polled for a peer's failure; set by SetPolling. This
  // and all following members are guarded by mutex_.
  Polling polling_ = Polling::kOff;
  std::optional<absl::Status> to_raise_;  // the cause to publish, from Raise
  // Whether later calls of Raise have no effect: set once Raise or on_alarm_
  // has been called.
  bool raised_ = false;
  bool ending_ = false;  // whether GroupAlarm is being destroyed
  // whether the alarm's thread has ended its loop
  bool ended_ = false;
};

GroupAlarm::GroupAlarm(GroupPlace place,
                       std::function<void(absl::Status)> on_alarm)
    : listener_(
          std::make_shared<Listener>(std::move(place), std::move(on_alarm))) {
  try {
    std::thread([listener = listener_] { listener->Loop(); }).detach();
  } catch (const std::system_error& e) {
    status_ = absl::ResourceExhaustedError(
        absl::StrCat("no thread to hear the group's alarm: ", e.what()));
  }
}

GroupAlarm::~GroupAlarm() {
  listener_->End(status_.ok() ? kEndTimeout : Duration::zero());
}

void GroupAlarm::Raise(const absl::Status& cause) { listener_->Raise(cause); }

void GroupAlarm::SetPolling(Polling polling) { listener_->SetPolling(polling); }

void GroupAlarm::Listener::End(Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  ending_ = true;
  changed_.notify_all();
  changed_.wait_until(lock, ToSteady(MonotonicNow() + timeout),
                      [this] { return ended_; });
}

void GroupAlarm::Listener::Raise(const absl::Status& cause) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (raised_) return;
    raised_ = true;
    to_raise_ = cause;
  }
  changed_.notify_all();
}

void GroupAlarm::Listener::SetPolling(Polling polling) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (polling_ == polling) return;
    polling_ = polling;
  }
  changed_.notify_all();
}

absl::Status GroupAlarm::Listener::Look() const {
  const absl::StatusOr<bool> there = place_.store->Check({kKey});
  if (there.ok() && !*there) return absl::OkStatus();
  absl::Status failed = there.status();
  if (there.ok()) {
    const absl::StatusOr<std::string> said =
        place_.store->Get(kKey, MonotonicNow() + kReadTimeout);
    if (said.ok()) return Decoded(*said);
    failed = said.status();
  }
  return RoundOverError(absl::UnavailableError(failed.message()));
}

void GroupAlarm::Listener::Loop() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    if (to_raise_.has_value()) {
      const std::string said = Encoded(place_.rank, *to_raise_);
      to_raise_.reset();
      lock.unlock();
      // CompareSet does not overwrite a cause that another rank published
      // earlier.
      place_.store->CompareSet(kKey, "", said).IgnoreError();
      lock.lock();
      continue;
    }
    if (ending_) {
      ended_ = true;
      changed_.notify_all();
      return;
    }
    if (raised_ || polling_ == Polling::kOff) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const absl::Status alarm = Look();
    lock.lock();
    if (ending_) continue;
    if (!alarm.ok()) {
      on_alarm_(alarm);
      // A peer has published why the group failed, or the round is over. So
      // this rank need not publish a cause of its own: later calls of Raise
      // have no effect.
      raised_ = true;
    } else {
      changed_.wait_until(lock, ToSteady(MonotonicNow() + kLookEvery),
                          [this] { return ending_ || to_raise_.has_value(); });
    }
  }
}

}  // namespace muster
