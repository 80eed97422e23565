// The link to the coordinator: connected, lost, or connected to the coordinator
// of another job.

#include <string>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {

void Lifecycle::On(const LinkUp& event) {
  connected_ = true;
  changed_ = true;
  addresses_ = event.addresses;
  if (config_.node.address.empty()) config_.node.address = event.own_address;
}

void Lifecycle::On(const LinkDown& event) {
  link_error_ = std::string(event.why.message());
  if (absl::IsUnauthenticated(event.why) && MayMeetAnotherJob()) {
    // Another job's token is not ours.
    Retry(link_error_);
    return;
  }
  const bool final = event.why.code() == absl::StatusCode::kUnauthenticated ||
                     event.why.code() == absl::StatusCode::kPermissionDenied ||
                     event.why.code() == absl::StatusCode::kFailedPrecondition;
  if (final) {
    GiveUp(1, absl::StrCat("the coordinator at ", config_.endpoint,
                           " turned this node away: ", link_error_));
  } else if (connected_ && ever_answered_ && !leave_.has_value()) {
    Notice(absl::StrCat(
        "lost the coordinator at ", config_.endpoint, " (", link_error_, "); ",
        HasWorkers() ? "the workers run on; " : "", "trying again for ",
        ToSeconds(config_.policy.coordinator_timeout), " s"));
  } else if (!ever_answered_) {
    absent_from_start_ = true;
  }
  connected_ = false;
  if (!unanswered_since_.has_value()) unanswered_since_ = now_;
}

// The agent retries because a cluster's name service may still resolve the
// endpoint to the coordinator of the previous job: a terminating pod keeps its
// name until it has ended.
bool Lifecycle::MayMeetAnotherJob() const {
  return config_.policy.retries_wrong_coordinator && !HasWorkers() &&
         !leave_.has_value();
}

bool Lifecycle::RetriesWrongCoordinator(
    const rendezvous::Directive& directive) const {
  return MayMeetAnotherJob() &&
         directive.kind == rendezvous::DirectiveKind::kRefused &&
         directive.another_job;
}

void Lifecycle::Retry(const std::string& why) {
  const Duration timeout = ever_answered_ ? config_.policy.coordinator_timeout
                                          : config_.policy.connect_timeout;
  link_error_ = why;
  connected_ = false;
  if (!unanswered_since_.has_value()) unanswered_since_ = now_;
  step_.reconnect = true;
  Notice(absl::StrCat("the coordinator at ", config_.endpoint,
                      " is not this job's (", why, "); asking again for ",
                      ToSeconds(timeout), " s"));
}

}  // namespace muster::agent
