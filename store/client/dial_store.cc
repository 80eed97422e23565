#include "store/client/dial_store.h"

#include <algorithm>
#include <chrono>
#include <random>
#include <thread>

#include "absl/strings/str_format.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"

namespace muster::store {
namespace {

// Time limit of one attempt: short enough that a lost packet does not use up
// the whole deadline, long enough for a store to which ten thousand clients
// connect at once.
constexpr Duration kAttempt = std::chrono::seconds(20);
constexpr Duration kFirstPause = std::chrono::milliseconds(20);
constexpr Duration kLongestPause = std::chrono::seconds(1);
constexpr int kRefusals = 5;

// Returns half to all of `pause`, so that the ranks of a world do not retry in
// step.
Duration Jittered(Duration pause) {
  static thread_local std::minstd_rand generator(std::random_device{}());
  return pause / 2 + (pause / 2) * (generator() % 1024) / 1024;
}

}  // namespace

absl::StatusOr<StoreChannel> DialStore(const std::string& host, int port,
                                       Instant deadline) {
  const Instant started = MonotonicNow();
  Duration pause = kFirstPause;
  int refusals = 0;
  while (true) {
    absl::StatusOr<StoreChannel> opened = StoreChannel::Open(
        host, port, std::min(deadline, MonotonicNow() + kAttempt));
    if (opened.ok()) return opened;
    refusals = absl::IsFailedPrecondition(opened.status()) ? refusals + 1 : 0;
    if (refusals == kRefusals) return opened;

    const Instant now = MonotonicNow();
    if (now >= deadline) {
      return absl::DeadlineExceededError(
          absl::StrFormat("no store at %s after %.1f s; the last attempt: %s",
                          HostPort(host, port), ToSeconds(now - started),
                          std::string(opened.status().message())));
    }
    std::this_thread::sleep_for(std::min(Jittered(pause), deadline - now));
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace muster::store
