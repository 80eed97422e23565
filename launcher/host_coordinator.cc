#include "launcher/host_coordinator.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "base/monotonic_clock.h"
#include "base/net/connect.h"
#include "base/owned_fd.h"
#include "base/poll.h"

namespace muster::launcher {
namespace {

constexpr Duration kPortTimeout = std::chrono::seconds(5);
constexpr Duration kLook = std::chrono::seconds(1);
constexpr Duration kPause = std::chrono::milliseconds(100);

bool SomebodyListens(const rendezvous::Endpoint& endpoint) {
  return ConnectTcp(endpoint.host, endpoint.port, MonotonicNow() + kLook).ok();
}

}  // namespace

absl::StatusOr<std::unique_ptr<EmbeddedCoordinator>> HostCoordinator(
    const CoordinatorChoice& choice,
    const EmbeddedCoordinator::Options& hosting, const Voice& voice) {
  if (choice.place == CoordinatorPlace::kElsewhere) return nullptr;
  const Instant deadline = MonotonicNow() + kPortTimeout;
  for (bool is_first = true;; is_first = false) {
    auto here = EmbeddedCoordinator::Start(hosting, voice);
    if (choice.place != CoordinatorPlace::kHereIfFree ||
        !absl::IsAlreadyExists(here.status())) {
      return here;
    }
    if (SomebodyListens(choice.endpoints.front())) return nullptr;
    if (MonotonicNow() >= deadline) return here;
    if (is_first) {
      voice.Notice(absl::StrCat("port ", choice.endpoints.front().port,
                                " is taken, but nobody listens there; trying "
                                "again for ",
                                ToSeconds(kPortTimeout), " s"));
    }
    PauseUntil(MonotonicNow() + kPause);
  }
}

}  // namespace muster::launcher
