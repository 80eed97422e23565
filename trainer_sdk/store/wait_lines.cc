#include "trainer_sdk/store/wait_lines.h"

#include <chrono>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "store/wire/request.h"

namespace muster {
namespace {

// The longest time for the store to confirm that it cancelled a wait.
constexpr Duration kCancelGrace = std::chrono::seconds(1);

// Cancels a wait that has not been answered. DeadlineExceeded without a
// message: it is cancelled. DeadlineExceeded with a message: unknown; the
// connection is dropped, because a slow store is not a lost one. OK: the answer
// was already in flight.
absl::Status Cancel(std::optional<StoreChannel>& line) {
  const Instant deadline = MonotonicNow() + kCancelGrace;
  std::string request;
  AppendRequest({.command = StoreCommand::kCancelWait}, &request);
  absl::Status sent = line->Send(request, deadline);
  bool answered = false;
  while (sent.ok()) {
    // The replies to WAIT and CANCEL_WAIT are one byte each.
    absl::StatusOr<StoreReply> reply =
        line->Receive(StoreCommand::kCancelWait, 0, deadline);
    if (!reply.ok()) {
      sent = reply.status();
    } else if (reply->number == kStoreWaitCanceled) {
      return answered ? absl::OkStatus() : absl::DeadlineExceededError("");
    } else if (reply->number == kStoreStopWaiting && !answered) {
      answered = true;
    } else {
      sent = absl::UnavailableError(
          absl::StrCat("the store answered ", reply->number, " to a cancel"));
    }
  }
  // A late reply would be taken for that of the next wait.
  if (absl::IsDeadlineExceeded(sent)) line.reset();
  return sent;
}

absl::Status WaitOn(std::optional<StoreChannel>& line,
                    const std::string& request, Instant deadline) {
  absl::Status sent = line->Send(request, deadline);
  // A part of the request may have been sent, which cannot be undone.
  if (absl::IsDeadlineExceeded(sent)) {
    return absl::UnavailableError(std::string(sent.message()));
  }
  if (!sent.ok()) return sent;
  absl::StatusOr<StoreReply> reply =
      line->Receive(StoreCommand::kWait, 0, deadline);
  if (absl::IsDeadlineExceeded(reply.status())) return Cancel(line);
  if (reply.ok() && reply->number != kStoreStopWaiting) {
    return absl::UnavailableError(
        absl::StrCat("the store answered ", reply->number, " to a wait"));
  }
  return reply.status();
}

}  // namespace

absl::StatusOr<std::optional<StoreChannel>> WaitLines::Take(Instant patience) {
  std::unique_lock<std::mutex> lock(mutex_);
  if (!given_back_.wait_until(lock, ToSteady(patience),
                              [this] { return taken_ < most_; })) {
    return absl::ResourceExhaustedError(
        absl::StrCat("all ", most_, " connections for waiting are in use"));
  }
  ++taken_;
  std::optional<StoreChannel> line;
  if (!free_.empty()) {
    line = std::move(free_.back());
    free_.pop_back();
  }
  return line;
}

void WaitLines::GiveBack(std::optional<StoreChannel> line) {
  std::lock_guard<std::mutex> lock(mutex_);
  --taken_;
  if (line) free_.push_back(*std::move(line));
  given_back_.notify_one();
}

absl::Status WaitLines::Wait(const std::string& request, Instant deadline,
                             Instant patience) {
  absl::StatusOr<std::optional<StoreChannel>> taken = Take(patience);
  if (!taken.ok()) return taken.status();
  std::optional<StoreChannel> line = *std::move(taken);
  if (!line) {
    // One attempt: the store existed, so if it is unreachable now, the round is
    // over.
    absl::StatusOr<StoreChannel> opened =
        StoreChannel::Open(host_, port_, deadline);
    if (!opened.ok()) {
      GiveBack(std::nullopt);
      std::this_thread::sleep_until(ToSteady(patience));
      return absl::ResourceExhaustedError(
          "no further connection: " + std::string(opened.status().message()));
    }
    line = *std::move(opened);
  }
  absl::Status waited = WaitOn(line, request, deadline);
  // A connection with any other error cannot be reused.
  if (!waited.ok() && !absl::IsDeadlineExceeded(waited)) line.reset();
  GiveBack(std::move(line));
  return waited;
}

}  // namespace muster
