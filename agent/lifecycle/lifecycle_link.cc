// The part of Lifecycle that handles the connection to the coordinator:
// established, lost, or made to the coordinator of another job.

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/lifecycle/lifecycle.h"

namespace muster::agent {
namespace {

// The least time for which a node stays connected to a standby before it tries
// the next standby; a random time below kStandbySpread is added. The time is
// limited, because the other nodes may be unable to reach this standby. It is
// not shorter, because nodes notice the loss of their coordinator at different
// times. Meanwhile, standbys that reach each other send their nodes to one
// standby (Standby::Meet).
constexpr Duration kStandbyTime = std::chrono::seconds(5);
constexpr Duration kStandbySpread = std::chrono::seconds(5);
// The least time for which a node stays connected to a standby that has asked
// for the node's promise (to obey no coordinator with a lower epoch); replaces
// kStandbyTime. Such a standby may soon have the promises of a majority, and
// then becomes the coordinator.
constexpr Duration kPromiseTime = std::chrono::seconds(10);
// The pauses before the next attempt to connect. kMovePause: after the
// coordinator has moved. kWrongCoordinatorPause: after the coordinator of
// another job has answered.
constexpr Duration kMovePause = std::chrono::milliseconds(100);
constexpr Duration kWrongCoordinatorPause = std::chrono::seconds(1);

// The time after the start for which a node tries the first endpoint alone. A
// coordinator that starts a moment later than this node is then found there,
// without a wait at a standby.
constexpr Duration kFirstEndpointTime = std::chrono::seconds(2);

}  // namespace

void Lifecycle::On(const LinkUp& event) {
  connected_ = true;
  changed_ = true;
  addresses_ = event.addresses;
  connected_to_ = event.coordinator;
  standby_until_.reset();
  if (config_.node.address.empty()) config_.node.address = event.own_address;
}

void Lifecycle::On(const LinkDown& event) {
  link_error_ = std::string(event.why.message());
  if (absl::IsUnauthenticated(event.why) && MayMeetAnotherJob()) {
    // A coordinator has rejected this node's token. It may be the coordinator
    // of another job, which has another token. So the node tries again.
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
        "lost the coordinator at ", Coordinator(), " (", link_error_, "); ",
        HasWorkers() ? "the workers run on; " : "", "trying again for ",
        ToSeconds(config_.policy.coordinator_timeout), " s"));
  }
  connected_ = false;
  standby_until_.reset();
  if (!unanswered_since_.has_value()) unanswered_since_ = now_;
  if (!ever_answered_ && now_ >= *unanswered_since_ + kFirstEndpointTime) {
    SetStandbys({});
  }
}

void Lifecycle::SetStandbys(std::vector<std::string> standbys) {
  for (const std::string& endpoint : config_.other_endpoints) {
    if (std::find(standbys.begin(), standbys.end(), endpoint) ==
        standbys.end()) {
      standbys.push_back(endpoint);
    }
  }
  if (standbys == standbys_) return;
  standbys_ = std::move(standbys);
  step_.standbys = standbys_;
}

bool Lifecycle::ComesFromAnother(const rendezvous::Directive& directive) {
  switch (directive.kind) {
    case rendezvous::DirectiveKind::kMoved:
      GoTo(directive.standbys.front(), kMovePause);
      return true;
    case rendezvous::DirectiveKind::kStandBy:
      StandBy(directive);
      return true;
    case rendezvous::DirectiveKind::kRefused:
      // A refusal is handled like other directives (break) if this job's
      // coordinator sent it, or if no standby is known. Otherwise another job's
      // coordinator may listen at the port of a former standby, so this node
      // tries the next known endpoint.
      if (!directive.another_job || standbys_.empty()) break;
      GoTo("", kMovePause);
      return true;
    default:
      break;
  }
  // Obey (return false) a refusal, which has the epoch 0, and any directive
  // whose epoch is at least the epoch that this node has promised to follow.
  // Ignore all other directives (return true), and connect to another endpoint.
  if (directive.epoch == 0 || directive.epoch >= promised_epoch_) return false;
  GoTo("", kMovePause);
  return true;
}

const std::string& Lifecycle::Coordinator() const {
  return coordinator_.empty() ? config_.endpoint : coordinator_;
}

void Lifecycle::StandBy(const rendezvous::Directive& directive) {
  const bool is_new = directive.epoch > promised_epoch_;
  if (is_new) {
    promised_epoch_ = directive.epoch;
    changed_ = true;
  }
  standby_reason_ = directive.reason;
  if (!is_new && standby_until_.has_value()) return;
  // Nodes that have lost their coordinator move from standby to standby. The
  // time that a node stays at a standby is pseudo-random: it differs between
  // nodes and between attempts, so that sooner or later a majority meets at one
  // standby.
  const uint64_t draw = (config_.node.incarnation ^ standbys_tried_) *
                            uint64_t{0x9e3779b97f4a7c15} >>
                        32;
  const Duration spread(static_cast<int64_t>(
      draw % static_cast<uint64_t>(kStandbySpread.count())));
  standby_until_ =
      now_ + spread + (directive.epoch > 0 ? kPromiseTime : kStandbyTime);
}

void Lifecycle::LeaveStandby() {
  if (!standby_until_.has_value() || now_ < *standby_until_) return;
  ++standbys_tried_;
  GoTo("", Duration::zero());
}

void Lifecycle::GoTo(std::string endpoint, Duration pause) {
  step_.reconnect = Reconnect{.pause = pause, .endpoint = std::move(endpoint)};
  connected_ = false;
  standby_until_.reset();
  if (!unanswered_since_.has_value()) unanswered_since_ = now_;
}

bool Lifecycle::IsFresh(const rendezvous::Directive& order) const {
  return order.answered_report == 0 ||
         std::any_of(sent_.begin(), sent_.end(), [&](const SentReport& sent) {
           return sent.sequence == order.answered_report &&
                  now_ <= sent.at + config_.spec.order_life();
         });
}

void Lifecycle::AskAgain() {
  directive_.reset();
  changed_ = true;
}

void Lifecycle::FollowCoordinator(const rendezvous::Directive& directive) {
  standby_until_.reset();
  standby_reason_.clear();
  if (directive.epoch > promised_epoch_) {
    promised_epoch_ = directive.epoch;
    // An elected coordinator gives this node a place only after a report of
    // this node has confirmed the coordinator's epoch. So send the report at
    // once. A coordinator that was not elected (electorate.epoch is 0) does not
    // wait for the report.
    const bool is_awaited = directive.electorate.epoch != 0;
    changed_ = changed_ || is_awaited;
  }
  if (directive.epoch == 0) return;
  if (directive.job_age > Duration::zero()) {
    // Keeps the earliest start time of the job that any directive has given. A
    // directive may be delayed, and a new coordinator may not know when the job
    // began.
    const Instant began = now_ - directive.job_age;
    job_began_ = std::min(job_began_.value_or(began), began);
  }
  if (directive.electorate.epoch != 0) {
    electorate_ = directive.electorate;
    host_rank_ = directive.host_rank;
    SetStandbys(directive.standbys);
  }
  const std::string before = std::exchange(coordinator_, connected_to_);
  if (!unanswered_since_.has_value() || !ever_answered_) return;
  if (before != coordinator_) {
    Notice(absl::StrCat("the job is coordinated at ", coordinator_, " now"));
  } else {
    Notice(absl::StrCat("the coordinator at ", Coordinator(), " is back"));
  }
}

// Whether the coordinator's endpoint may lead to the coordinator of another
// job. A terminating pod keeps its name until it has ended, so a cluster's name
// service may still resolve the endpoint to the coordinator of the previous
// job.
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
  GoTo("", kWrongCoordinatorPause);
  Notice(absl::StrCat("the coordinator at ", config_.endpoint,
                      " is not this job's (", why, "); asking again for ",
                      ToSeconds(timeout), " s"));
}

}  // namespace muster::agent
