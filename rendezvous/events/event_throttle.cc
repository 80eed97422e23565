#include "rendezvous/events/event_throttle.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"

namespace muster::rendezvous {
namespace {

// Whether a single agent can cause decisions of this kind without affecting a
// round. For some kinds, such as "refuse", the agent need not be in the job.
bool IsOfANode(const std::string& kind) {
  static const auto* const kKinds = new std::set<std::string>{
      "join", "refuse", "leave",   "lost",     "successor",
      "rank", "signal", "healthy", "unhealthy"};
  return kKinds->contains(kind);
}

}  // namespace

bool EventThrottle::Allowance::Take(Instant now, Duration interval) {
  const Instant next = std::max(full_at, now) + interval;
  if (next > now + kBurst * interval) return false;
  full_at = next;
  return true;
}

EventThrottle::Result EventThrottle::Add(Instant now,
                                         const Decision& decision) {
  Result result;
  result.written = IsOfANode(decision.kind) ? nodes_.Take(now, kNodeInterval)
                                            : jobs_.Take(now, kJobInterval);
  if (!result.written) ++omitted_[decision.kind];
  if (!omitted_.empty() && now >= next_summary_) {
    result.omitted = Rest();
    next_summary_ = now + kSummaryInterval;
  }
  return result;
}

std::optional<Decision> EventThrottle::Rest() {
  if (omitted_.empty()) return std::nullopt;
  std::string counts;
  for (const auto& [kind, count] : omitted_) {
    absl::StrAppend(&counts, counts.empty() ? "" : ", ", count, " ", kind);
  }
  omitted_.clear();
  return Decision{
      .kind = "omitted",
      .round = 0,
      .node_id = "",
      .reason = absl::StrCat("more decisions than the event log takes; not "
                             "written: ",
                             counts)};
}

}  // namespace muster::rendezvous
