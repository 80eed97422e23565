// Leases: the silence after which a node counts as lost.

#include <algorithm>
#include <chrono>
#include <optional>

#include "absl/strings/str_cat.h"
#include "rendezvous/job/job.h"

namespace muster::rendezvous {
namespace {

// The longest delay of a step after its deadline. If a step is later, the
// coordinator itself stood still: it was stopped, swapped out, or had no CPU
// time.
constexpr Duration kMaxLate = std::chrono::milliseconds(100);

}  // namespace

// After a standstill of the coordinator, messages of the nodes may still be
// unread, or the nodes stood still as well. So every lease begins anew, and the
// phase's limit is put off by a lease. This happens only once for each silence
// and each phase: on a machine so busy that every step is late, a node that is
// gone is still lost.
void Job::ForgiveSilence(std::optional<Instant> due) {
  if (!due.has_value() || now_ <= *due + kMaxLate) return;
  for (auto& [id, node] : nodes_.nodes()) {
    if (node.forgiven) continue;
    node.forgiven = true;
    const bool broken = node.stream == 0;
    nodes_.SetDeadline(
        node, now_ + (broken ? std::min(spec_.reconnect_grace, spec_.lease())
                             : spec_.lease()));
  }
  PutOffOutliving(*due);
  const std::optional<Instant> limit = PhaseLimit();
  if (put_off_.has_value() || !limit.has_value()) return;
  // A limit that is farther away is put off by a later step, if at all.
  if (*limit < now_ + spec_.lease()) put_off_ = now_ + spec_.lease();
}

// The standstill may also have delayed reading that the agent's stream ended.
void Job::PutOffOutliving(Instant due) {
  if (phase_ != JobPhase::kStopping || break_.killed_on.empty() ||
      break_.outlived < due || break_.outlived_put_off) {
    return;
  }
  break_.outlived_put_off = true;
  break_.outlived = now_ + kKillSpread;
}

void Job::ExpireLeases() {
  if (finished()) return;
  for (Node* node = nodes_.FirstToExpire();
       node != nullptr && node->deadline <= now_;
       node = nodes_.FirstToExpire()) {
    const double silent = ToSeconds(now_ - node->heard);
    const std::string why =
        node->stream == 0
            ? absl::StrCat(
                  "its connection broke and it did not come back "
                  "within ",
                  ToSeconds(spec_.reconnect_grace), " s")
            : absl::StrCat("its agent has been silent for ", silent,
                           " s (lease ", ToSeconds(spec_.lease()), " s)");
    Lose(*node, why, Membership::Memory::kMayReturn);
  }
}

}  // namespace muster::rendezvous
