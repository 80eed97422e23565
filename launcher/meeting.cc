#include "launcher/meeting.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "launcher/coordinator_choice.h"
#include "rendezvous/endpoint/resolve.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr Duration kFirstPause = std::chrono::milliseconds(100);
constexpr Duration kLongestPause = std::chrono::seconds(2);

void Pause(Duration duration) {
  timespec left = {duration.count() / 1'000'000'000,
                   duration.count() % 1'000'000'000};
  nanosleep(&left, nullptr);
}

}  // namespace

absl::StatusOr<LaunchPlan> PlanMeeting(const RunOptions& options,
                                       const MachineFacts& facts,
                                       const Voice& voice) {
  if (IsAlone(options)) return PlanLaunch(options, facts, {});
  const Clock::time_point deadline = Clock::now() + options.connect_timeout;
  Duration pause = kFirstPause;
  for (bool is_first = true;; is_first = false) {
    const Duration left =
        std::max(Duration::zero(), Duration(deadline - Clock::now()));
    const absl::StatusOr<std::vector<SocketAddress>> addresses =
        Resolve(MeetingPoint(options), left);
    ResolvedHost resolved;
    if (addresses.ok()) {
      for (const SocketAddress& address : *addresses) {
        resolved.addresses.push_back(address.Ip());
      }
    }
    absl::StatusOr<LaunchPlan> plan = PlanLaunch(options, facts, resolved);
    if (!absl::IsUnavailable(plan.status())) return plan;
    if (Clock::now() + pause >= deadline) return plan.status();
    if (is_first) {
      voice.Notice(absl::StrCat(plan.status().message(), "; trying again for ",
                                ToSeconds(options.connect_timeout), " s"));
    }
    Pause(pause);
    pause = std::min(2 * pause, kLongestPause);
  }
}

}  // namespace muster
