#include "rendezvous/protocol/time_ledger.h"

#include <algorithm>
#include <numeric>

namespace muster::rendezvous {
namespace {

JobTime::Sum SumOf(const std::array<JobTime::Sum, kLossCauses>& by_cause) {
  JobTime::Sum all;
  for (const JobTime::Sum& sum : by_cause) {
    all.incidents += sum.incidents;
    all.pause_s += sum.pause_s;
  }
  return all;
}

}  // namespace

std::string_view NameOf(Activity activity) {
  switch (activity) {
    case Activity::kWaiting:
      return "waiting";
    case Activity::kIdle:
      return "idle";
    case Activity::kStarting:
      return "starting";
    case Activity::kInitialising:
      return "initialising";
    case Activity::kRunning:
      return "running";
    case Activity::kProductive:
      return "productive";
    case Activity::kCheckpointing:
      return "checkpointing";
    case Activity::kStalled:
      return "stalled";
    case Activity::kRecomputing:
      return "recomputing";
    case Activity::kStopping:
      return "stopping";
    case Activity::kRecovering:
      return "recovering";
  }
  return "";
}

std::string_view NameOf(LossCause cause) {
  switch (cause) {
    case LossCause::kWorker:
      return "worker";
    case LossCause::kHang:
      return "hang";
    case LossCause::kNode:
      return "node";
    case LossCause::kChange:
      return "change";
    case LossCause::kUnknown:
      return "unknown";
  }
  return "";
}

Duration& TimeLedger::operator[](Activity activity) {
  return spent[static_cast<size_t>(activity)];
}

Duration TimeLedger::operator[](Activity activity) const {
  return spent[static_cast<size_t>(activity)];
}

Duration TimeLedger::total() const {
  return std::accumulate(spent.begin(), spent.end(), Duration::zero());
}

double Incident::pause_s() const { return nodes <= 0 ? 0 : lost_s / nodes; }

double JobTime::total_s() const {
  return std::accumulate(spent_s.begin(), spent_s.end(), 0.0);
}

double JobTime::productive_s() const {
  return spent_s[static_cast<size_t>(Activity::kProductive)] +
         spent_s[static_cast<size_t>(Activity::kRunning)];
}

double JobTime::ratio() const {
  const double all = total_s();
  return all > 0 ? productive_s() / all : 0;
}

JobTime::Sum JobTime::losses() const { return SumOf(by_cause); }

JobTime::Sum JobTime::HostLosses::total() const { return SumOf(by_cause); }

JobTime::Sum JobTime::other_hosts() const {
  Sum rest = losses();
  for (const HostLosses& host : by_host) {
    const Sum sum = host.total();
    rest.incidents -= sum.incidents;
    rest.pause_s -= sum.pause_s;
  }
  // Without incidents, the difference of the pauses is a rounding error.
  if (rest.incidents <= 0) return {};
  rest.pause_s = std::max(rest.pause_s, 0.0);
  return rest;
}

}  // namespace muster::rendezvous
